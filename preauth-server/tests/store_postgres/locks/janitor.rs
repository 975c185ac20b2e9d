//! Rows that somebody holds: the janitor's batches skip them and take all others.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_server::access::RateLimit;
use sqlx::AssertSqlSafe;

use crate::records;
use crate::store::deliveries::{claim_up_to, deliver};
use crate::store::fixture::Fixture;

use super::Holder;

const BATCH: u32 = 100;

async fn count(fixture: &Fixture, from: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {from}");
    sqlx::query_scalar(AssertSqlSafe(sql))
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

/// Retention while a row of the first ended delivery is locked.
async fn retention_goes_on_beside(held: &str) {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    for _ in 0..3 {
        fixture.offer(payer).await;
    }
    let three = NonZeroU32::new(3).unwrap();
    let leased = claim_up_to(&fixture, fixture.now, three).await;
    for (seconds, leased) in (0_i64..).zip(&leased) {
        let at = fixture.later(TimeDelta::seconds(seconds));
        deliver(&fixture, leased, at).await;
    }
    let later = fixture.later(TimeDelta::minutes(1));
    let house = &fixture.stores.housekeeping;
    let holder = Holder::of(&fixture, held).await;
    // A batch of one delivery takes the next one that is free.
    assert_eq!(house.forget_ended_deliveries(later, 1).await.unwrap(), 1);
    assert_eq!(
        house.forget_ended_deliveries(later, BATCH).await.unwrap(),
        1
    );
    assert_eq!(count(&fixture, "deliveries").await, 1);
    holder.let_go().await;
    // The first look of an instance is a complete one.
    let instance = Fixture::on(&fixture.database, 2).await;
    let house = &instance.stores.housekeeping;
    assert_eq!(
        house.forget_ended_deliveries(later, BATCH).await.unwrap(),
        1
    );
    assert_eq!(count(&fixture, "attempts").await, 0);
}

#[tokio::test]
async fn a_held_delivery_keeps_no_other_from_being_removed() {
    retention_goes_on_beside("SELECT 1 FROM deliveries ORDER BY ended_at LIMIT 1 FOR UPDATE").await;
}

#[tokio::test]
async fn a_held_attempt_keeps_no_other_delivery_from_being_removed() {
    for lock in ["UPDATE", "KEY SHARE"] {
        let sql = format!("SELECT 1 FROM attempts ORDER BY at LIMIT 1 FOR {lock}");
        retention_goes_on_beside(&sql).await;
    }
}

/// Earlier builds count in `rate_windows`; the trigger copies it.
#[tokio::test]
async fn a_held_window_keeps_no_other_from_being_removed() {
    let fixture = Fixture::new().await;
    let mut keys = Vec::new();
    for _ in 0..2 {
        let (key, hash) = fixture.known_key().await;
        let access = &fixture.stores.access;
        let entered = access.authenticate(&hash, RateLimit::default(), fixture.now);
        entered.await.unwrap().unwrap();
        let revoked = fixture.directory().revoke_api_key(key.id, fixture.now);
        revoked.await.unwrap();
        keys.push(key.id);
    }
    sqlx::query(
        "INSERT INTO rate_windows (api_key_id, started_at, count, last_used_at)
         SELECT id, $1, 1, $1 FROM api_keys",
    )
    .bind(fixture.now.unix_millis())
    .execute(&fixture.sql)
    .await
    .unwrap();
    let sql = format!(
        "SELECT 1 FROM rate_windows WHERE api_key_id = '{}' FOR UPDATE",
        keys[0].as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let later = fixture.later(TimeDelta::days(1));
    let house = &fixture.stores.housekeeping;
    let forget = || house.forget_rate_windows(later, later, BATCH);
    while forget().await.unwrap() > 0 {}
    assert_eq!(count(&fixture, "rate_windows").await, 1);
    holder.let_go().await;
    while forget().await.unwrap() > 0 {}
    assert_eq!(count(&fixture, "rate_windows").await, 0);
    assert_eq!(count(&fixture, "rate_counts").await, 0);
}

#[tokio::test]
async fn a_held_delivery_of_a_resumed_endpoint_is_made_due_once_it_is_free() {
    let fixture = Fixture::new().await;
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let in_a_year = fixture.later(TimeDelta::days(365));
    let at = fixture.later(TimeDelta::minutes(1));
    for company in [payer, other] {
        let endpoint = fixture.add_endpoint(company).await.id;
        records::add_backlog(&fixture.sql, endpoint, 3, in_a_year).await;
        let paused = fixture.directory().set_endpoint_paused(company, true, at);
        paused.await.unwrap();
    }
    let sql = format!(
        "SELECT 1 FROM deliveries WHERE head_office_id = '{}' LIMIT 1 FOR UPDATE",
        payer.as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    for company in [payer, other] {
        let resumed = fixture.directory().set_endpoint_paused(company, false, at);
        resumed.await.unwrap();
    }
    let house = &fixture.stores.housekeeping;
    let settle_all = async || while house.settle_endpoints(BATCH).await.unwrap() > 0 {};
    settle_all().await;
    let due = format!("deliveries WHERE next_attempt_at <= {}", at.unix_millis());
    assert_eq!(count(&fixture, &due).await, 5);
    holder.let_go().await;
    settle_all().await;
    assert_eq!(count(&fixture, &due).await, 6);
    let resumed = "endpoints WHERE resumed_at IS NOT NULL";
    assert_eq!(count(&fixture, resumed).await, 0);
}
