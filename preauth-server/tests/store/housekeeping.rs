//! The records that the janitor removes, and those that it keeps.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::operation::{Actor, Command, InvoiceFile};
use preauth_core::port::{Claim, Leased, NewReply, ReplyScope, Viewer};
use preauth_core::value::{CompanyKind, Fingerprint, Timestamp};
use preauth_server::access::RateLimit;
use preauth_server::directory::DeliveryFilter;
use preauth_server::invoice_files::ContentHash;

use crate::store::deliveries::{LEASE, deliver};
use crate::store::fixture::{FIRST_PAGE, Fixture};

async fn count(fixture: &Fixture, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql)
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

#[tokio::test]
async fn replies_go_when_they_expired_and_in_batches() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    for _ in 0..5 {
        fixture.offer(payer).await;
    }
    for key in ["platform-0001", "platform-0002"] {
        let reply = NewReply {
            scope: ReplyScope::Platform,
            key: key.parse().unwrap(),
            fingerprint: Fingerprint::from_bytes([7; 32]),
            body: "{}".to_owned(),
            retention: TimeDelta::days(30),
        };
        let company = fixture.company(CompanyKind::Supplier);
        let added = fixture.directory().add_company(&company, Some(&reply));
        added.await.unwrap();
    }
    let housekeeping = &fixture.stores.housekeeping;
    let expiry = fixture.later(TimeDelta::days(30));
    let before = expiry.saturating_sub(TimeDelta::milliseconds(1));
    let forget = |at, limit| housekeeping.forget_expired_replies(at, limit);
    assert_eq!(forget(before, 100).await.unwrap(), 0);
    assert_eq!(forget(expiry, 3).await.unwrap(), 3);
    // The remaining replies of offers, and the first of the platform's.
    assert_eq!(forget(expiry, 3).await.unwrap(), 3);
    assert_eq!(forget(expiry, 3).await.unwrap(), 1);
    assert_eq!(forget(expiry, 3).await.unwrap(), 0);
}

#[tokio::test]
async fn windows_of_dead_keys_go_and_living_keys_keep_their_last_use() {
    let fixture = Fixture::new().await;
    let access = &fixture.stores.access;
    let (living, living_hash) = fixture.known_key().await;
    let (dead, dead_hash) = fixture.known_key().await;
    for hash in [&living_hash, &dead_hash] {
        let entered = access
            .authenticate(hash, RateLimit::default(), fixture.now)
            .await;
        entered.unwrap().unwrap();
    }
    let revoked = fixture.directory().revoke_api_key(dead.id, fixture.now);
    revoked.await.unwrap();
    let later = fixture.later(TimeDelta::days(1));
    let housekeeping = &fixture.stores.housekeeping;
    let forget = |unused_since| housekeeping.forget_rate_windows(later, unused_since, 10);
    assert_eq!(forget(fixture.now).await.unwrap(), 0);
    assert_eq!(forget(later).await.unwrap(), 1);
    let living = fixture.directory().api_key(living.id).await.unwrap();
    assert_eq!(living.unwrap().last_used_at, Some(fixture.now));
}

#[tokio::test]
async fn deliveries_finished_long_ago_are_removed_with_their_attempts() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    for _ in 0..3 {
        fixture.offer(payer).await;
    }
    let claim = Claim {
        now: fixture.now,
        lease: LEASE,
        limit: 2,
        slow_limit: 2,
        per_endpoint: NonZeroU32::new(2).unwrap(),
        per_slow_endpoint: NonZeroU32::new(2).unwrap(),
        answering: Vec::new(),
        per_answering_endpoint: NonZeroU32::new(2).unwrap(),
    };
    let claimed: Vec<Leased> = fixture.stores.outbox.claim(&claim).await.unwrap().leased;
    for leased in &claimed {
        deliver(&fixture, leased, fixture.now).await;
    }
    let housekeeping = &fixture.stores.housekeeping;
    let later = fixture.later(TimeDelta::milliseconds(1));
    let forget = |before, limit| housekeeping.forget_ended_deliveries(before, limit);
    assert_eq!(forget(fixture.now, 10).await.unwrap(), 0);
    assert_eq!(forget(later, 1).await.unwrap(), 1);
    assert_eq!(count(&fixture, "SELECT count(*) FROM attempts").await, 1);
    assert_eq!(forget(later, 10).await.unwrap(), 1);
    assert_eq!(count(&fixture, "SELECT count(*) FROM attempts").await, 0);
    // The pending delivery is kept, and so are the events.
    let left = fixture.directory().deliveries(
        Some(payer),
        DeliveryFilter::default(),
        FIRST_PAGE,
        fixture.now,
    );
    assert_eq!(left.await.unwrap().total, 1);
    assert_eq!(count(&fixture, "SELECT count(*) FROM events").await, 3);
}

/// Removes the files of operations that ended long ago, a few at a time; returns how many, and the number of steps.
async fn walk(fixture: &Fixture, ended_before: Timestamp, limit: u32) -> (u64, usize) {
    let housekeeping = &fixture.stores.housekeeping;
    let (mut removed, mut steps, mut after) = (0, 0, 0);
    loop {
        let step = housekeeping.forget_old_files(fixture.now, ended_before, after, limit);
        let step = step.await.unwrap();
        (removed, steps) = (removed + step.removed, steps + 1);
        match step.next {
            Some(next) => after = next,
            None => return (removed, steps),
        }
    }
}

#[tokio::test]
async fn files_go_some_time_after_their_operation_ended_and_others_stay() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let mut offers = Vec::new();
    for number in 0..5_u8 {
        let mut offer = fixture.new_offer(payer);
        offer.file = Some(InvoiceFile {
            name: "nota.pdf".to_owned(),
            media_type: "application/pdf".to_owned(),
            size: 1_000,
            // The first two have the same content.
            sha256: [number.max(1); 32],
        });
        offers.push(fixture.make(&offer).await.id);
    }
    let cancel = async |at: usize, when| {
        let id = offers[at];
        let done = fixture.service.command(
            Viewer::Platform,
            id,
            &Command::Cancel,
            Actor::Platform,
            when,
        );
        done.await.unwrap();
    };
    let (soon, later) = (
        fixture.later(TimeDelta::hours(1)),
        fixture.later(TimeDelta::days(3)),
    );
    for (offer, when) in [(0, soon), (2, soon), (3, later)] {
        cancel(offer, when).await;
    }
    // The second is open, and the fourth was open at that moment.
    let ended_before = fixture.later(TimeDelta::days(2));
    assert_eq!(
        walk(&fixture, fixture.now, 2).await,
        (0, 1),
        "all are younger"
    );
    assert_eq!(walk(&fixture, ended_before, 2).await, (2, 3));
    assert_eq!(walk(&fixture, ended_before, 2).await, (0, 2));
    let named = async |at: usize| {
        let found = fixture.directory().invoice_file(offers[at]).await;
        found.unwrap().is_some()
    };
    let mut still = Vec::new();
    for at in 0..offers.len() {
        still.push(named(at).await);
    }
    assert_eq!(still, [false, true, false, true, true]);
    let bytes = fixture.stores.files.named_bytes(payer).await.unwrap();
    assert_eq!(bytes, 3_000);
    // The content that an open operation names as well stays.
    let ledger = &fixture.stores.files;
    let at = |days| fixture.later(TimeDelta::days(days));
    ledger.settle_files(at(2), 10).await.unwrap();
    // A day later, so that a backup that runs meanwhile still copies it.
    let claimed = ledger.claim_unnamed_files(at(1), at(1), at(1), 10).await;
    assert_eq!(claimed.unwrap(), []);
    let claimed = ledger.claim_unnamed_files(at(2), at(2), at(2), 10).await;
    assert_eq!(claimed.unwrap(), [ContentHash::from_bytes([2; 32])]);
}
