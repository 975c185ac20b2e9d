//! A person asks for one more delivery.

use preauth_core::memory::DeliveryStatus;
use preauth_core::port::{Outbox, Trigger, Verdict};

use crate::given::{claim, delivery_id, endpoint_id, finish, given, now};

const FAILED: Verdict = Verdict::Failed {
    pause_endpoint: false,
};

#[tokio::test]
async fn a_failed_delivery_is_sent_again_with_its_whole_schedule_before_it() {
    let (store, _) = given().await;
    let leased = claim(&store).await.remove(0);
    assert!(finish(&store, &leased, FAILED).await);
    assert_eq!(store.next_due().await.unwrap(), None);
    assert!(store.resend(delivery_id(), now()));
    let again = claim(&store).await.remove(0);
    assert_eq!((again.attempts_made, again.trigger), (0, Trigger::Resend));
    let retry = Verdict::RetryAt {
        at: now(),
        pause_endpoint: false,
    };
    assert!(finish(&store, &again, retry).await);
    let third = claim(&store).await.remove(0);
    assert_eq!((third.attempts_made, third.trigger), (1, Trigger::Schedule));
    assert!(finish(&store, &third, Verdict::Delivered).await);
    let delivery = store.deliveries(third.event).remove(0);
    assert_eq!(delivery.status, DeliveryStatus::Delivered);
    assert_eq!(delivery.attempts.len(), 3);
}

#[tokio::test]
async fn resending_ends_a_lease_that_is_under_way() {
    let (store, _) = given().await;
    let under_way = claim(&store).await.remove(0);
    assert!(store.resend(delivery_id(), now()));
    assert!(!finish(&store, &under_way, Verdict::Delivered).await);
    assert_eq!(claim(&store).await.len(), 1);
}

#[tokio::test]
async fn nothing_is_sent_again_to_a_deleted_endpoint() {
    let (store, _) = given().await;
    store.delete_endpoint(endpoint_id());
    assert!(!store.resend(delivery_id(), now()));
    assert!(claim(&store).await.is_empty());
}

#[tokio::test]
async fn a_deleted_endpoint_hears_nothing_of_what_was_under_way() {
    let (store, _) = given().await;
    let under_way = claim(&store).await.remove(0);
    store.delete_endpoint(endpoint_id());
    assert!(!finish(&store, &under_way, Verdict::Delivered).await);
    let delivery = store.deliveries(under_way.event).remove(0);
    assert_eq!(delivery.status, DeliveryStatus::Failed);
    assert!(delivery.attempts.is_empty());
}
