//! The database's own clock is wrong for a while: leases end by it.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::value::Timestamp;
use preauth_server::mail::Outcome;
use test_support::SettableClock;

use crate::store::deliveries::{claim_up_to, deliver};
use crate::store::fixture::Fixture;
use crate::store::mails::{claim, lease_by};

const MANY: u32 = 100;
/// Longer than any lease, whatever the right time is.
const YEARS: TimeDelta = TimeDelta::days(3_650);

/// A delivery and a mail that are due, and the clock of their database.
async fn offered() -> (Fixture, SettableClock) {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    let clock = SettableClock::at(&fixture.database.url()).await;
    // Sessions that began before keep the clock that they know.
    (Fixture::on(&fixture.database, 2).await, clock)
}

async fn database_now(fixture: &Fixture) -> Timestamp {
    let moments = fixture.stores.lifecycle.moments().await;
    moments.unwrap().now.unwrap()
}

#[tokio::test]
async fn leases_taken_while_the_databases_clock_was_ahead_are_taken_over_once_it_came_back() {
    let (fixture, clock) = offered().await;
    let before = database_now(&fixture).await;
    clock.set_ahead(YEARS).await;
    let ahead = database_now(&fixture).await.since(before);
    assert!(ahead >= YEARS, "{ahead}");
    let (queue, outbox) = (&*fixture.stores.mails, &fixture.stores.outbox);
    let lost = claim_up_to(&fixture, fixture.now, NonZeroU32::MIN).await;
    assert_eq!(lost.len(), 1);
    let lost_mail = lease_by(queue, &claim(fixture.now)).await.unwrap();

    clock.set_ahead(TimeDelta::zero()).await;
    let house = &fixture.stores.housekeeping;
    assert_eq!(outbox.next_due().await.unwrap(), None);
    assert_eq!(queue.next_due().await.unwrap(), None);
    assert_eq!(house.bring_forward(fixture.now, MANY).await.unwrap(), 2);
    let again = claim_up_to(&fixture, fixture.now, NonZeroU32::MIN).await;
    assert_eq!(again[0].delivery, lost[0].delivery);
    let again = lease_by(queue, &claim(fixture.now)).await.unwrap();
    assert_eq!(again.id, lost_mail.id);
    assert_eq!(house.bring_forward(fixture.now, MANY).await.unwrap(), 0);
}

#[tokio::test]
async fn a_database_whose_clock_fell_behind_sends_nothing_twice() {
    let (fixture, clock) = offered().await;
    let (queue, outbox) = (&*fixture.stores.mails, &fixture.stores.outbox);
    let leased = claim_up_to(&fixture, fixture.now, NonZeroU32::MIN).await;
    let mail = lease_by(queue, &claim(fixture.now)).await.unwrap();
    let now = database_now(&fixture).await.max(fixture.now);

    clock.set_ahead(TimeDelta::minutes(-15)).await;
    let house = &fixture.stores.housekeeping;
    assert_eq!(house.bring_forward(now, MANY).await.unwrap(), 0);
    let again = claim_up_to(&fixture, now, NonZeroU32::MIN).await;
    assert_eq!(again, []);
    assert!(lease_by(queue, &claim(now)).await.is_none());
    assert_eq!(outbox.next_due().await.unwrap(), None);
    // Both attempts end as if nothing had happened.
    deliver(&fixture, &leased[0], now).await;
    let sent = Outcome::Sent { at: now };
    assert!(queue.finish(&mail, &sent).await.unwrap());

    clock.set_ahead(TimeDelta::zero()).await;
    assert_eq!(house.bring_forward(now, MANY).await.unwrap(), 0);
    assert_eq!(queue.next_due().await.unwrap(), None);
}
