//! The history of deliveries, and resending.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::{
    Attempt, AttemptError, Claim, Leased, PageRequest, Trigger, Unavailable, Verdict,
};
use preauth_core::value::{CompanyId, DeliveryId, EventType, Timestamp};
use preauth_server::directory::{
    AttemptRecord, Delivery, DeliveryFilter, DeliveryStatus, DeliveryWait, DirectoryError,
};

use crate::store::fixture::{FIRST_PAGE, Fixture};

const ALL: DeliveryFilter = DeliveryFilter {
    status: None,
    event_type: None,
    operation: None,
    wait: None,
};

/// Longer than any test takes, because leases end by the machine's clock, whatever a test's clock says; and less than the ten
/// minutes from which on the janitor ends a lease that a wrong clock must have left.
pub(crate) const LEASE: TimeDelta = TimeDelta::minutes(5);

pub(crate) async fn claim_one(fixture: &Fixture, now: Timestamp) -> Leased {
    claim_up_to(fixture, now, NonZeroU32::MIN).await.remove(0)
}

/// Leases deliveries, all to one endpoint if they are.
pub(crate) async fn claim_up_to(
    fixture: &Fixture,
    now: Timestamp,
    limit: NonZeroU32,
) -> Vec<Leased> {
    let claim = Claim {
        now,
        lease: LEASE,
        limit: limit.get(),
        slow_limit: limit.get(),
        per_endpoint: limit,
        per_slow_endpoint: limit,
        answering: Vec::new(),
        per_answering_endpoint: limit,
    };
    fixture.stores.outbox.claim(&claim).await.unwrap().leased
}

pub(crate) async fn deliver(fixture: &Fixture, leased: &Leased, at: Timestamp) {
    let finished = try_to_deliver(fixture, leased, at).await;
    assert!(finished.unwrap());
}

/// Records a successful attempt, if its lease is still the newest.
pub(crate) async fn try_to_deliver(
    fixture: &Fixture,
    leased: &Leased,
    at: Timestamp,
) -> Result<bool, Unavailable> {
    let attempt = Attempt {
        at,
        duration: TimeDelta::milliseconds(250),
        http_status: Some(200),
        error: None,
        response_body: b"ok".to_vec(),
    };
    let outbox = &fixture.stores.outbox;
    outbox.finish(leased, &attempt, Verdict::Delivered).await
}

pub(super) async fn fail(fixture: &Fixture, leased: &Leased, verdict: Verdict) {
    let attempt = Attempt {
        at: fixture.now,
        duration: TimeDelta::milliseconds(10_000),
        http_status: None,
        error: Some(AttemptError::TimedOut),
        response_body: Vec::new(),
    };
    let finished = fixture
        .stores
        .outbox
        .finish(leased, &attempt, verdict)
        .await;
    assert!(finished.unwrap());
}

/// A payer with an endpoint and one pending delivery.
async fn one_delivery() -> (Fixture, CompanyId) {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    (fixture, payer)
}

async fn only(fixture: &Fixture, payer: CompanyId) -> Delivery {
    let page = fixture
        .directory()
        .deliveries(Some(payer), ALL, FIRST_PAGE, fixture.now)
        .await;
    let mut page = page.unwrap();
    assert_eq!((page.items.len(), page.total), (1, 1));
    page.items.remove(0)
}

async fn total(fixture: &Fixture, payer: CompanyId, filter: DeliveryFilter) -> u64 {
    let page = fixture
        .directory()
        .deliveries(Some(payer), filter, FIRST_PAGE, fixture.now)
        .await;
    let page = page.unwrap();
    assert_eq!(u64::try_from(page.items.len()).unwrap(), page.total);
    page.total
}

fn with_status(status: DeliveryStatus) -> DeliveryFilter {
    DeliveryFilter {
        status: Some(status),
        ..ALL
    }
}

// Contract: endpoint/history
#[tokio::test]
async fn a_delivery_shows_its_attempts_in_order() {
    let (fixture, payer) = one_delivery().await;
    let retry_at = fixture.later(TimeDelta::seconds(5));
    let retry = Verdict::RetryAt {
        at: retry_at,
        pause_endpoint: false,
    };
    fail(&fixture, &claim_one(&fixture, fixture.now).await, retry).await;
    let pending = only(&fixture, payer).await;
    assert_eq!(pending.status, DeliveryStatus::Pending);
    assert_eq!(pending.next_attempt_at, Some(retry_at));
    deliver(&fixture, &claim_one(&fixture, retry_at).await, retry_at).await;
    let delivered = only(&fixture, payer).await;
    assert_eq!(delivered.status, DeliveryStatus::Delivered);
    assert_eq!(delivered.next_attempt_at, None);
    assert_eq!(delivered.created_at, fixture.now);
    let expected = [
        AttemptRecord {
            number: 1,
            at: fixture.now,
            duration_ms: 10_000,
            http_status: None,
            error: Some("TIMED_OUT".to_owned()),
            response_body: None,
            trigger: "SCHEDULE".to_owned(),
        },
        AttemptRecord {
            number: 2,
            at: retry_at,
            duration_ms: 250,
            http_status: Some(200),
            error: None,
            response_body: Some("ok".to_owned()),
            trigger: "SCHEDULE".to_owned(),
        },
    ];
    assert_eq!(delivered.attempts, expected);
    let by_id = fixture.directory().delivery(delivered.id).await.unwrap();
    assert_eq!(by_id, Some(delivered));
}

#[tokio::test]
async fn a_pending_delivery_of_a_paused_endpoint_shows_as_paused() {
    let (fixture, payer) = one_delivery().await;
    let paused = fixture
        .directory()
        .set_endpoint_paused(payer, true, fixture.now);
    paused.await.unwrap();
    let delivery = only(&fixture, payer).await;
    assert_eq!(delivery.status, DeliveryStatus::Paused);
    assert_eq!(delivery.next_attempt_at, None);
    let paused = with_status(DeliveryStatus::Paused);
    assert_eq!(total(&fixture, payer, paused).await, 1);
    let pending = with_status(DeliveryStatus::Pending);
    assert_eq!(total(&fixture, payer, pending).await, 0);
}

#[tokio::test]
async fn deliveries_are_filtered_and_paged_newest_first() {
    let (mut fixture, payer) = one_delivery().await;
    let stranger = fixture.payer().await;
    for _ in 0..2 {
        fixture.now = fixture.later(TimeDelta::minutes(1));
        fixture.offer(payer).await;
    }
    let of_type = |event_type| DeliveryFilter {
        event_type: Some(event_type),
        ..ALL
    };
    let created = of_type(EventType::PreAuthorizationCreated);
    assert_eq!(total(&fixture, payer, created).await, 3);
    let paid = of_type(EventType::AnticipationPaid);
    assert_eq!(total(&fixture, payer, paid).await, 0);
    assert_eq!(total(&fixture, stranger, ALL).await, 0);
    let page = |page| {
        let request = PageRequest { page, limit: 2 };
        fixture
            .directory()
            .deliveries(Some(payer), ALL, request, fixture.now)
    };
    let (first, second) = (page(1).await.unwrap(), page(2).await.unwrap());
    let times: Vec<_> = first.items.iter().chain(&second.items).collect();
    assert_eq!(times.len(), 3);
    assert!(
        times
            .windows(2)
            .all(|it| it[0].created_at > it[1].created_at)
    );
    assert_eq!((first.total, second.total), (3, 3));
}

#[tokio::test]
async fn a_finished_delivery_is_resent_with_the_whole_schedule() {
    let (fixture, payer) = one_delivery().await;
    let leased = claim_one(&fixture, fixture.now).await;
    let failed = Verdict::Failed {
        pause_endpoint: false,
    };
    fail(&fixture, &leased, failed).await;
    assert_eq!(only(&fixture, payer).await.status, DeliveryStatus::Failed);
    let at = fixture.later(TimeDelta::days(2));
    let resend = fixture.directory().resend(leased.delivery, at);
    resend.await.unwrap();
    let again = claim_one(&fixture, at).await;
    assert_eq!(again.delivery, leased.delivery);
    assert_eq!(
        (again.event, again.body.clone()),
        (leased.event, leased.body)
    );
    assert_eq!((again.attempts_made, again.trigger), (0, Trigger::Resend));
    deliver(&fixture, &again, at).await;
    let delivery = only(&fixture, payer).await;
    let triggers: Vec<_> = delivery
        .attempts
        .iter()
        .map(|it| (it.number, &*it.trigger))
        .collect();
    assert_eq!(triggers, [(1, "SCHEDULE"), (2, "RESEND")]);
    // A delivered one may be resent, too.
    let resend = fixture.directory().resend(leased.delivery, at);
    resend.await.unwrap();
    assert_eq!(only(&fixture, payer).await.status, DeliveryStatus::Pending);
}

#[tokio::test]
async fn a_delivery_that_waits_after_a_failure_is_listed_and_sent_now() {
    let (fixture, payer) = one_delivery().await;
    let directory = fixture.directory();
    let tomorrow = fixture.later(TimeDelta::days(1));
    let waiting = async |wait, now| {
        let filter = DeliveryFilter {
            wait: Some(wait),
            ..ALL
        };
        let found = directory.deliveries(None, filter, FIRST_PAGE, now).await;
        let found = found.unwrap();
        assert_eq!(found.total, u64::try_from(found.items.len()).unwrap());
        let of_payer = found.items.into_iter().filter(|it| it.company == payer);
        of_payer.map(|it| it.id).collect::<Vec<_>>()
    };
    let id = only(&fixture, payer).await.id;
    assert!(
        waiting(DeliveryWait::AfterFailure, fixture.now)
            .await
            .is_empty()
    );
    let overdue = waiting(DeliveryWait::Overdue, fixture.later(TimeDelta::minutes(6)));
    assert_eq!(overdue.await, [id]);
    let leased = claim_one(&fixture, fixture.now).await;
    // While it is attempted it stays as it is.
    directory.hasten(id, fixture.now).await.unwrap();
    let retry = Verdict::RetryAt {
        at: tomorrow,
        pause_endpoint: false,
    };
    fail(&fixture, &leased, retry).await;
    assert_eq!(waiting(DeliveryWait::AfterFailure, fixture.now).await, [id]);
    let stuck = fixture.stores.watch.waiting(fixture.now).await.unwrap();
    assert!(stuck.retried_deliveries >= 1 && stuck.oldest_retried_at.is_some());
    assert_eq!(only(&fixture, payer).await.next_attempt_at, Some(tomorrow));
    directory.hasten(id, fixture.now).await.unwrap();
    let again = claim_one(&fixture, fixture.now).await;
    assert_eq!((again.attempts_made, again.trigger), (0, Trigger::Resend));
    deliver(&fixture, &again, fixture.now).await;
    // Neither a delivered one nor one of a paused endpoint is hastened.
    let delivered = directory.hasten(id, fixture.now).await;
    assert!(matches!(delivered, Err(DirectoryError::Conflict)));
    directory.resend(id, tomorrow).await.unwrap();
    let pause = directory.set_endpoint_paused(payer, true, fixture.now);
    pause.await.unwrap();
    let paused = directory.hasten(id, fixture.now).await;
    assert!(matches!(paused, Err(DirectoryError::Conflict)));
}

#[tokio::test]
async fn the_deliveries_and_mails_of_all_companies_are_listed_by_operation() {
    let fixture = Fixture::new().await;
    let mut offers = Vec::new();
    for _ in 0..2 {
        let payer = fixture.payer().await;
        fixture.add_endpoint(payer).await;
        offers.push((payer, fixture.offer(payer).await.id));
    }
    for (payer, operation) in offers {
        let filter = DeliveryFilter {
            operation: Some(operation),
            ..ALL
        };
        let directory = fixture.directory();
        let found = directory
            .deliveries(None, filter, FIRST_PAGE, fixture.now)
            .await;
        let found = found.unwrap();
        assert_eq!(found.total, 1);
        assert_eq!(found.items[0].company, payer);
        assert_eq!(found.items[0].operation, Some(operation));
    }
}

#[tokio::test]
async fn a_delivery_that_is_pending_or_has_no_endpoint_is_not_sent_again() {
    let (fixture, payer) = one_delivery().await;
    let directory = fixture.directory();
    let delivery = only(&fixture, payer).await.id;
    let pending = directory.resend(delivery, fixture.now).await;
    assert!(matches!(pending, Err(DirectoryError::Conflict)));
    directory.delete_endpoint(payer, fixture.now).await.unwrap();
    assert_eq!(only(&fixture, payer).await.status, DeliveryStatus::Failed);
    let removed = directory.resend(delivery, fixture.now).await;
    assert!(matches!(removed, Err(DirectoryError::Conflict)));
    let unknown = DeliveryId::new(fixture.uuid());
    let missing = directory.resend(unknown, fixture.now).await;
    assert!(matches!(missing, Err(DirectoryError::NotFound)));
    assert_eq!(directory.delivery(unknown).await.unwrap(), None);
}

#[tokio::test]
async fn deliveries_failed_since_a_moment_are_sent_again_in_batches() {
    let (mut fixture, payer) = one_delivery().await;
    let other = fixture.payer().await;
    fixture.add_endpoint(other).await;
    fixture.offer(other).await;
    for _ in 0..3 {
        fixture.offer(payer).await;
    }
    let failed = Verdict::Failed {
        pause_endpoint: false,
    };
    let began = fixture.now;
    for _ in 0..5 {
        fixture.now = fixture.later(TimeDelta::minutes(1));
        let leased = claim_one(&fixture, fixture.now).await;
        fail(&fixture, &leased, failed).await;
    }
    let at = fixture.now;
    let resend = async |company, since, limit| {
        let resent = fixture.directory().resend_failed(company, since, at, limit);
        resent.await.unwrap()
    };
    assert_eq!(
        resend(payer, fixture.later(TimeDelta::seconds(1)), 10).await,
        0
    );
    assert_eq!(resend(payer, began, 3).await, 3);
    assert_eq!(
        total(&fixture, payer, with_status(DeliveryStatus::Failed)).await,
        1
    );
    assert_eq!(resend(payer, began, 3).await, 1);
    assert_eq!(resend(payer, began, 3).await, 0);
    assert_eq!(
        total(&fixture, other, with_status(DeliveryStatus::Failed)).await,
        1
    );
    let again = claim_one(&fixture, at).await;
    assert_eq!((again.attempts_made, again.trigger), (0, Trigger::Resend));
    // Deliveries of a removed endpoint cannot be resent.
    let directory = fixture.directory();
    directory.delete_endpoint(other, at).await.unwrap();
    assert_eq!(resend(other, began, 3).await, 0);
}

#[tokio::test]
async fn a_delivery_made_due_wakes_the_dispatcher() {
    let (fixture, payer) = one_delivery().await;
    let waiting = fixture.stores.lifecycle.deliveries_waiting();
    waiting.notified().await;
    let leased = claim_one(&fixture, fixture.now).await;
    deliver(&fixture, &leased, fixture.now).await;
    let directory = fixture.directory();
    directory
        .resend(leased.delivery, fixture.now)
        .await
        .unwrap();
    waiting.notified().await;
    for paused in [true, false] {
        let set = directory.set_endpoint_paused(payer, paused, fixture.now);
        set.await.unwrap();
    }
    waiting.notified().await;
}

#[tokio::test]
async fn a_strangers_bytes_are_shown_as_text() {
    let (fixture, payer) = one_delivery().await;
    let leased = claim_one(&fixture, fixture.now).await;
    let attempt = Attempt {
        at: fixture.now,
        duration: TimeDelta::milliseconds(-1),
        http_status: Some(500),
        error: Some(AttemptError::Status),
        response_body: vec![b'n', 0xFF, b'o'],
    };
    let failed = Verdict::Failed {
        pause_endpoint: true,
    };
    let finished = fixture
        .stores
        .outbox
        .finish(&leased, &attempt, failed)
        .await;
    assert!(finished.unwrap());
    let shown = only(&fixture, payer).await.attempts.remove(0);
    assert_eq!(shown.response_body.as_deref(), Some("n\u{FFFD}o"));
    assert_eq!(shown.duration_ms, 0);
    let endpoint = fixture.directory().endpoint(payer).await.unwrap();
    assert_eq!(endpoint.unwrap().paused_at, Some(fixture.now));
}
