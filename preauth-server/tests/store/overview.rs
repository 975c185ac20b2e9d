//! What needs attention over all companies.

use chrono::TimeDelta;
use preauth_core::port::Verdict;
use preauth_core::value::{CompanyId, Timestamp};
use preauth_server::directory::{Attention, KEYS_ENDING_WITHIN, OVERDUE_AFTER};
use preauth_server::mail::Outcome;

use super::deliveries::{claim_one, fail};
use super::mails::{claim_within, lease_by};
use crate::store::fixture::Fixture;

const MILLISECOND: TimeDelta = TimeDelta::milliseconds(1);

async fn attention(fixture: &Fixture, after: TimeDelta) -> Attention {
    let now = fixture.later(after);
    fixture.directory().attention(now).await.unwrap()
}

async fn failing(fixture: &Fixture, now: Timestamp) -> Vec<(CompanyId, Timestamp)> {
    let found = fixture.directory().attention(now).await.unwrap();
    let since = |it: &preauth_server::directory::CompanyAttention| (it.company, it.since);
    found.failing_endpoints.iter().map(since).collect()
}

/// A head office of which a delivery, made now, waits after a failed attempt.
async fn failing_payer(fixture: &Fixture, made_at: Timestamp) -> CompanyId {
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer_at(payer, made_at).await;
    let retry = Verdict::RetryAt {
        at: made_at.saturating_add(TimeDelta::hours(1)),
        pause_endpoint: false,
    };
    fail(fixture, &claim_one(fixture, made_at).await, retry).await;
    payer
}

#[tokio::test]
async fn every_failing_endpoint_is_found_the_longest_first() {
    let fixture = Fixture::new().await;
    assert_eq!(failing(&fixture, fixture.now).await, []);
    let mut expected = Vec::new();
    for seconds in 0..3 {
        let made_at = fixture.later(TimeDelta::seconds(seconds));
        let payer = failing_payer(&fixture, made_at).await;
        expected.push((payer, made_at));
    }
    // Another delivery of an endpoint changes nothing, and neither does one that has not failed.
    let later = fixture.later(TimeDelta::seconds(9));
    fixture.offer_at(expected[0].0, later).await;
    let calm = fixture.payer().await;
    fixture.add_endpoint(calm).await;
    fixture.offer(calm).await;
    let found = fixture.directory().attention(later).await.unwrap();
    assert_eq!(found.retried_deliveries, 3);
    assert_eq!(failing(&fixture, later).await, expected);
}

#[tokio::test]
async fn a_delivery_is_overdue_after_five_minutes_unless_its_endpoint_is_paused() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    let overdue = async |after| attention(&fixture, after).await.overdue_deliveries;
    assert_eq!(overdue(OVERDUE_AFTER).await, 0);
    let late = OVERDUE_AFTER + MILLISECOND;
    assert_eq!(overdue(late).await, 1);
    let pause = |paused| {
        let directory = fixture.directory();
        directory.set_endpoint_paused(payer, paused, fixture.now)
    };
    pause(true).await.unwrap();
    let found = attention(&fixture, late).await;
    assert_eq!(found.overdue_deliveries, 0);
    let [paused] = &found.paused_endpoints[..] else {
        panic!("{found:?}");
    };
    assert_eq!((paused.company, paused.since), (payer, fixture.now));
    pause(false).await.unwrap();
    let found = attention(&fixture, late).await;
    assert_eq!(
        (found.overdue_deliveries, found.paused_endpoints.len()),
        (1, 0)
    );
}

#[tokio::test]
async fn paused_endpoints_are_named_the_longest_first_and_twenty_at_most() {
    let fixture = Fixture::new().await;
    let mut expected = Vec::new();
    for seconds in 0..22 {
        let payer = fixture.payer().await;
        fixture.add_endpoint(payer).await;
        let at = fixture.later(TimeDelta::seconds(seconds));
        let directory = fixture.directory();
        directory
            .set_endpoint_paused(payer, true, at)
            .await
            .unwrap();
        expected.push((payer, at));
    }
    // One that was removed needs no attention.
    let removed = expected.remove(0).0;
    expected.truncate(20);
    let directory = fixture.directory();
    directory
        .delete_endpoint(removed, fixture.now)
        .await
        .unwrap();
    let found = attention(&fixture, TimeDelta::minutes(1)).await;
    let found: Vec<_> = found
        .paused_endpoints
        .iter()
        .map(|it| (it.company, it.since))
        .collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn deliveries_given_up_are_counted_for_a_day() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer(payer).await;
    let failed = async |after| attention(&fixture, after).await.failed_deliveries;
    assert_eq!(failed(TimeDelta::zero()).await, 0);
    let verdict = Verdict::Failed {
        pause_endpoint: false,
    };
    fail(&fixture, &claim_one(&fixture, fixture.now).await, verdict).await;
    assert_eq!(failed(TimeDelta::zero()).await, 1);
    assert_eq!(failed(TimeDelta::days(1)).await, 1);
    assert_eq!(failed(TimeDelta::days(1) + MILLISECOND).await, 0);
    // It waits for nothing any more.
    let found = attention(&fixture, TimeDelta::hours(1)).await;
    assert_eq!((found.retried_deliveries, found.overdue_deliveries), (0, 0));
}

#[tokio::test]
async fn held_mails_are_counted_while_they_wait_and_failed_ones_for_a_day() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, 1, 10_000);
    let counts = async |after| {
        let found = attention(&fixture, after).await;
        (found.held_mails, found.failed_mails)
    };
    assert_eq!(counts(TimeDelta::zero()).await, (0, 0));
    let error = "no such user here".to_owned();
    for outcome in [
        Outcome::Failed {
            at: fixture.now,
            error,
        },
        // The only one of the day.
        Outcome::Sent { at: fixture.now },
    ] {
        fixture.offer(payer).await;
        let leased = lease_by(queue, &today).await.unwrap();
        assert!(queue.finish(&leased, &outcome).await.unwrap());
        assert_eq!(counts(TimeDelta::zero()).await, (0, 1));
    }
    for _ in 0..2 {
        fixture.offer(payer).await;
    }
    assert_eq!(lease_by(queue, &today).await, None);
    assert_eq!(counts(TimeDelta::zero()).await, (2, 1));
    assert_eq!(counts(TimeDelta::days(1)).await, (2, 1));
    assert_eq!(counts(TimeDelta::days(1) + MILLISECOND).await, (2, 0));
    // Tomorrow they go out, in one mail.
    let tomorrow = claim_within(today.share.ends, 1, 10_000);
    let joint = lease_by(queue, &tomorrow).await.unwrap();
    assert_eq!(joint.joined.len(), 1);
    let sent = Outcome::Sent {
        at: today.share.ends,
    };
    assert!(queue.finish(&joint, &sent).await.unwrap());
    let after = today.share.ends.since(fixture.now);
    assert_eq!(counts(after).await.0, 0);
}

#[tokio::test]
async fn keys_that_end_are_named_the_first_to_end_first_and_twenty_at_most() {
    let fixture = Fixture::new().await;
    let company = fixture.payer().await;
    let user = fixture.user(company);
    let directory = fixture.directory();
    directory.add_user(&user, None).await.unwrap();
    let mut expected = Vec::new();
    let add = async |end| {
        let (mut key, hash) = fixture.api_key(company, user.id);
        key.expires_at = end;
        fixture
            .directory()
            .add_api_key(&key, &hash, None)
            .await
            .unwrap();
        key.id
    };
    // Too far away, and over.
    add(fixture.later(KEYS_ENDING_WITHIN + MILLISECOND)).await;
    add(fixture.now).await;
    let revoked = add(fixture.later(MILLISECOND)).await;
    directory
        .revoke_api_key(revoked, fixture.now)
        .await
        .unwrap();
    for days in (10..=30).rev() {
        let end = fixture.later(TimeDelta::days(days));
        expected.push((add(end).await, end));
    }
    expected.reverse();
    expected.truncate(20);
    let found = attention(&fixture, TimeDelta::zero()).await;
    assert!(found.ending_keys.iter().all(|it| it.company == company));
    let found: Vec<_> = found
        .ending_keys
        .iter()
        .map(|it| (it.id, it.expires_at))
        .collect();
    assert_eq!(found, expected);
}
