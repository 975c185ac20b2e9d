//! The deliveries of a removed or resumed endpoint are updated in batches.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::{Attempt, AttemptError, Claim, Leased, Verdict};
use preauth_core::value::{CompanyId, Timestamp};
use preauth_server::directory::{DeliveryFilter, DeliveryStatus};

use crate::records;
use crate::store::deliveries::LEASE;
use crate::store::fixture::{FIRST_PAGE, Fixture};

/// More than two batches.
const BACKLOG: i64 = 2_500;
const BATCH: u32 = 1_000;

async fn claim(fixture: &Fixture, now: Timestamp, limit: u32) -> Vec<Leased> {
    let claim = Claim {
        now,
        lease: LEASE,
        limit,
        slow_limit: limit,
        per_endpoint: NonZeroU32::new(limit).unwrap(),
        per_slow_endpoint: NonZeroU32::new(limit).unwrap(),
        answering: Vec::new(),
        per_answering_endpoint: NonZeroU32::new(limit).unwrap(),
    };
    fixture.stores.outbox.claim(&claim).await.unwrap().leased
}

async fn total(fixture: &Fixture, company: CompanyId, status: DeliveryStatus) -> u64 {
    let filter = DeliveryFilter {
        status: Some(status),
        ..DeliveryFilter::default()
    };
    let page = fixture
        .directory()
        .deliveries(Some(company), filter, FIRST_PAGE, fixture.now);
    let page = page.await.unwrap();
    assert!(page.items.iter().all(|it| it.status == status));
    page.total
}

async fn count(fixture: &Fixture, condition: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM deliveries WHERE {condition}");
    sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

async fn settle_all(fixture: &Fixture) -> Vec<u64> {
    let mut batches = Vec::new();
    while let settled @ 1.. = fixture
        .stores
        .housekeeping
        .settle_endpoints(BATCH)
        .await
        .unwrap()
    {
        batches.push(settled);
    }
    batches
}

/// A new process that continues the work of the ended one.
async fn restarted(fixture: &Fixture) -> Fixture {
    fixture.stores.lifecycle.close().await;
    Fixture::on(&fixture.database, 2).await
}

/// A failed attempt, to be retried in a year.
async fn fail(fixture: &Fixture, leased: &Leased, at: Timestamp, pauses: bool) -> bool {
    let attempt = Attempt {
        at,
        duration: TimeDelta::milliseconds(20),
        http_status: None,
        error: Some(AttemptError::TimedOut),
        response_body: Vec::new(),
    };
    let verdict = Verdict::RetryAt {
        at: at.saturating_add(TimeDelta::days(365)),
        pause_endpoint: pauses,
    };
    let finished = fixture.stores.outbox.finish(leased, &attempt, verdict);
    finished.await.unwrap()
}

#[tokio::test]
async fn deliveries_to_a_removed_endpoint_fail_at_once_and_are_updated_in_batches() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let endpoint = fixture.add_endpoint(payer).await.id;
    records::add_backlog(&fixture.sql, endpoint, BACKLOG, fixture.now).await;
    let at = fixture.later(TimeDelta::minutes(1));
    fixture
        .directory()
        .delete_endpoint(payer, at)
        .await
        .unwrap();

    assert_eq!(count(&fixture, "status = 'PENDING'").await, 1_500);
    assert_eq!(total(&fixture, payer, DeliveryStatus::Pending).await, 0);
    assert_eq!(total(&fixture, payer, DeliveryStatus::Paused).await, 0);
    assert_eq!(total(&fixture, payer, DeliveryStatus::Failed).await, 2_500);
    assert!(claim(&fixture, at, 10).await.is_empty());
    assert_eq!(fixture.stores.outbox.next_due().await.unwrap(), None);

    let other = restarted(&fixture).await;
    assert_eq!(settle_all(&other).await, [1_000, 500]);
    let ended = format!("status = 'FAILED' AND ended_at = {}", at.unix_millis());
    assert_eq!(count(&fixture, &ended).await, BACKLOG);
}

#[tokio::test]
async fn a_lease_under_way_when_its_endpoint_is_removed_may_end_and_is_not_repeated() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let endpoint = fixture.add_endpoint(payer).await.id;
    records::add_backlog(&fixture.sql, endpoint, 2, fixture.now).await;
    let leased = claim(&fixture, fixture.now, 2).await;
    // As if the process had been killed right after the removal.
    let sql = format!(
        "UPDATE endpoints SET deleted_at = {}",
        fixture.now.unix_millis()
    );
    sqlx::query(sqlx::AssertSqlSafe(sql))
        .execute(&fixture.sql)
        .await
        .unwrap();
    assert!(fail(&fixture, &leased[0], fixture.now, true).await);
    let much_later = fixture.later(TimeDelta::days(1_000));
    assert!(claim(&fixture, much_later, 10).await.is_empty());
    assert_eq!(settle_all(&fixture).await, [2]);
    assert!(!fail(&fixture, &leased[1], fixture.now, false).await);
    assert_eq!(count(&fixture, "status = 'FAILED'").await, 2);
    let paused: i64 =
        sqlx::query_scalar("SELECT count(*) FROM endpoints WHERE paused_at IS NOT NULL")
            .fetch_one(&fixture.sql)
            .await
            .unwrap();
    assert_eq!(paused, 0, "no mail is staged for a removed endpoint");
}

#[tokio::test]
async fn deliveries_kept_for_a_paused_endpoint_and_no_others_are_made_due_in_batches() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let endpoint = fixture.add_endpoint(payer).await.id;
    let in_a_year = fixture.later(TimeDelta::days(365));
    records::add_backlog(&fixture.sql, endpoint, BACKLOG, in_a_year).await;
    let at = fixture.later(TimeDelta::minutes(1));
    for paused in [true, false] {
        let set = fixture.directory().set_endpoint_paused(payer, paused, at);
        set.await.unwrap();
    }
    let due = format!("next_attempt_at <= {}", at.unix_millis());
    assert_eq!(count(&fixture, &due).await, 1_000);
    let leased = claim(&fixture, at, 1).await.remove(0);
    let after = at.saturating_add(TimeDelta::seconds(1));
    assert!(fail(&fixture, &leased, after, false).await);

    let other = restarted(&fixture).await;
    assert_eq!(settle_all(&other).await, [1_000, 500]);
    assert_eq!(count(&fixture, &due).await, BACKLOG - 1);
    assert_eq!(settle_all(&other).await, [0_u64; 0]);
}
