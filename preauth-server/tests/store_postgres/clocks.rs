//! The database's own clock is wrong for a while: leases end by it.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::value::Timestamp;
use test_support::SettableClock;

use crate::store::deliveries::claim_up_to;
use crate::store::fixture::Fixture;
use crate::store::mails::{claim, lease_by};

const MANY: u32 = 100;

async fn database_now(fixture: &Fixture) -> Timestamp {
    let moments = fixture.stores.lifecycle.moments().await;
    moments.unwrap().now.unwrap()
}

#[tokio::test]
async fn leases_taken_while_the_databases_clock_was_ahead_are_taken_over_once_it_came_back() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    let clock = SettableClock::at(&fixture.database.url()).await;
    // Sessions that began before keep the clock that they know.
    let fixture = Fixture::on(&fixture.database, 2).await;
    let before = database_now(&fixture).await;
    clock.set_ahead(TimeDelta::days(31)).await;
    let ahead = database_now(&fixture).await.since(before);
    assert!(ahead >= TimeDelta::days(31), "{ahead}");
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
