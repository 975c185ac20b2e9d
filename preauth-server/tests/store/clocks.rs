//! A clock that was ahead for a while and came back: what it left is repaired.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::{Attempt, Verdict};
use preauth_core::value::Email;
use preauth_server::invoice_files::ContentHash;
use preauth_server::mail::{LeasedMail, MailClaim, MailQueue, Outcome};

use crate::records;
use crate::store::deliveries::claim_up_to;
use crate::store::fixture::Fixture;
use crate::store::mails::{claim_within, lease_by};

/// More than the longest delay of the schedule, and less.
const IN_A_MONTH: TimeDelta = TimeDelta::days(31);
const TOMORROW: TimeDelta = TimeDelta::hours(26);
const MANY: u32 = 100;
/// Longer than any lease, whatever the database's clock shows.
const A_CENTURY: TimeDelta = TimeDelta::days(36_525);

async fn bring_forward(fixture: &Fixture, limit: u32) -> u64 {
    let house = &fixture.stores.housekeeping;
    house.bring_forward(fixture.now, limit).await.unwrap()
}

#[tokio::test]
async fn deliveries_and_mails_that_were_put_off_for_too_long_are_due_again_in_batches() {
    let fixture = Fixture::new().await;
    let endpoint = fixture.add_endpoint(fixture.payer().await).await;
    records::add_backlog(&fixture.sql, endpoint.id, 3, fixture.later(IN_A_MONTH)).await;
    let payer = fixture.payer().await;
    for _ in 0..3 {
        fixture.offer(payer).await;
    }
    let queue = &*fixture.stores.mails;
    for _ in 0..3 {
        let leased = lease_by(queue, &claim_within(fixture.now, MANY, MANY)).await;
        put_off(&fixture, queue, &leased.unwrap(), IN_A_MONTH).await;
    }
    assert_eq!(
        queue.next_due().await.unwrap(),
        Some(fixture.later(IN_A_MONTH))
    );
    assert_eq!(bring_forward(&fixture, 2).await, 4);
    assert_eq!(bring_forward(&fixture, 2).await, 2);
    assert_eq!(bring_forward(&fixture, 2).await, 0);
    assert_eq!(queue.next_due().await.unwrap(), Some(fixture.now));
    let outbox = &fixture.stores.outbox;
    assert_eq!(outbox.next_due().await.unwrap(), Some(fixture.now));
    for _ in 0..3 {
        let leased = lease_by(queue, &claim_within(fixture.now, MANY, MANY)).await;
        assert_eq!(leased.unwrap().attempts_made, 1);
    }
}

#[tokio::test]
async fn rows_waiting_within_their_schedule_keep_their_due_time() {
    let fixture = Fixture::new().await;
    let endpoint = fixture.add_endpoint(fixture.payer().await).await;
    records::add_backlog(&fixture.sql, endpoint.id, 3, fixture.later(TOMORROW)).await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, MANY, MANY);
    let leased = lease_by(queue, &today).await.unwrap();
    assert_eq!(bring_forward(&fixture, MANY).await, 0);
    assert!(lease_by(queue, &today).await.is_none(), "the lease stands");
    put_off(&fixture, queue, &leased, TOMORROW).await;
    assert_eq!(bring_forward(&fixture, MANY).await, 0);
    assert_eq!(
        queue.next_due().await.unwrap(),
        Some(fixture.later(TOMORROW))
    );
}

#[tokio::test]
async fn the_lease_of_a_mail_that_lasts_longer_than_any_ends_and_is_fenced() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, MANY, MANY);
    let endless = MailClaim {
        lease: A_CENTURY,
        ..today
    };
    let lost = lease_by(queue, &endless).await.unwrap();
    assert!(lease_by(queue, &today).await.is_none());
    assert_eq!(queue.next_due().await.unwrap(), None);
    assert_eq!(bring_forward(&fixture, MANY).await, 1);
    let again = lease_by(queue, &today).await.unwrap();
    assert_eq!((again.id, again.attempts_made), (lost.id, 0));
    let sent = Outcome::Sent { at: fixture.now };
    assert!(!queue.finish(&lost, &sent).await.unwrap());
    assert!(queue.finish(&again, &sent).await.unwrap());
}

#[tokio::test]
async fn the_lease_of_a_mail_stands_if_it_is_too_long_only_by_a_clock_of_the_database_that_is_behind()
 {
    let fixture = Fixture::new().await;
    fixture.offer(fixture.payer().await).await;
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, MANY, MANY);
    let endless = MailClaim {
        lease: A_CENTURY,
        ..today
    };
    let leased = lease_by(queue, &endless).await.unwrap();
    let house = &fixture.stores.housekeeping;
    let ahead = fixture.later(A_CENTURY + A_CENTURY);
    assert_eq!(house.bring_forward(ahead, MANY).await.unwrap(), 0);
    assert!(lease_by(queue, &today).await.is_none());
    let sent = Outcome::Sent { at: fixture.now };
    assert!(queue.finish(&leased, &sent).await.unwrap());
}

#[tokio::test]
async fn a_delivery_attempted_while_the_clock_was_ahead_is_due_soon_after_it_came_back() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    let ahead = fixture.later(IN_A_MONTH);
    let one = NonZeroU32::MIN;
    let leased = claim_up_to(&fixture, ahead, one).await.remove(0);
    let attempt = Attempt {
        at: ahead,
        duration: TimeDelta::zero(),
        http_status: Some(503),
        error: None,
        response_body: Vec::new(),
    };
    let verdict = Verdict::RetryAt {
        at: ahead.saturating_add(TimeDelta::seconds(5)),
        pause_endpoint: false,
    };
    let outbox = &fixture.stores.outbox;
    assert!(outbox.finish(&leased, &attempt, verdict).await.unwrap());
    // Pausing and resuming would not help: it was attempted after the resumption.
    for is_paused in [true, false] {
        let set = fixture.directory();
        set.set_endpoint_paused(payer, is_paused, fixture.now)
            .await
            .unwrap();
    }
    assert_eq!(bring_forward(&fixture, MANY).await, 1);
    assert_eq!(outbox.next_due().await.unwrap(), Some(fixture.now));
}

#[tokio::test]
async fn mails_sent_while_the_clock_was_ahead_count_on_no_day_before() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let offer_to = async |address| {
        let mut offer = fixture.new_offer(payer);
        offer.supplier.email = Email::parse(address).unwrap();
        fixture.make(&offer).await;
    };
    let queue = &*fixture.stores.mails;
    offer_to("ana@example.com").await;
    // One mail to a mailbox and one new mailbox a day; and the offer is still open.
    let ahead = claim_within(fixture.later(TimeDelta::days(20)), 1, 1);
    let first = lease_by(queue, &ahead).await.unwrap();
    assert_eq!(first.new_mailboxes, Some(1));
    let sent = Outcome::Sent { at: ahead.now };
    assert!(queue.finish(&first, &sent).await.unwrap());

    let today = claim_within(fixture.later(TimeDelta::seconds(1)), 1, 1);
    for (address, reached) in [("ana@example.com", None), ("beto@example.com", Some(1))] {
        offer_to(address).await;
        let leased = lease_by(queue, &today).await.unwrap();
        assert_eq!(leased.recipient.as_str(), address);
        assert_eq!(leased.new_mailboxes, reached);
    }
}

#[tokio::test]
async fn a_removal_of_a_file_that_began_while_the_clock_was_ahead_is_taken_over() {
    let fixture = Fixture::new().await;
    let files = &fixture.stores.files;
    let file = ContentHash::from_bytes([7; 32]);
    let hour = TimeDelta::hours(1);
    let announce = async |stale_before, now| {
        let announced = files.announce_file(file, stale_before, now).await;
        announced.unwrap()
    };
    assert!(announce(fixture.now, fixture.now).await);
    let ahead = fixture.later(IN_A_MONTH);
    let claimed = files.claim_unnamed_files(ahead, ahead, ahead, MANY).await;
    assert_eq!(claimed.unwrap(), [file]);
    // The process that had begun it ended, and the clock came back.
    let now = fixture.later(hour + hour);
    let (announced, stale) = (now.saturating_sub(hour), now.saturating_sub(hour));
    assert!(!announce(stale, now).await);
    let again = files.claim_unnamed_files(announced, stale, now, MANY).await;
    assert_eq!(again.unwrap(), [file]);
    files.forget_file(file).await.unwrap();
    assert!(announce(stale, now).await);
}

async fn put_off(fixture: &Fixture, queue: &dyn MailQueue, leased: &LeasedMail, by: TimeDelta) {
    let outcome = Outcome::RetryAt {
        at: fixture.later(by),
        error: "greylisted".to_owned(),
    };
    assert!(queue.finish(leased, &outcome).await.unwrap());
}
