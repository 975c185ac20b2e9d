//! Rate windows stored in rows that are rewritten a few times only.

use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::value::{ApiKeyId, Timestamp};
use preauth_server::access::{KeyHash, RateLimit};
use sqlx::{Executor, Row};

use crate::store::fixture::Fixture;

const NO_LIMIT: RateLimit = RateLimit {
    requests: 1_000_000,
    window_seconds: 60,
};
/// Consecutive requests, each of which rewrites a row.
const REQUESTS: u32 = 1_000;
/// The root of the index, a leaf, and the versions of the newest row.
const MAX_PAGES: i64 = 8;

/// The statement with which the previous build counts, unchanged.
const COUNT_OF_THE_BUILD_BEFORE: &str =
    "INSERT INTO rate_windows AS w (api_key_id, started_at, count, last_used_at)
     VALUES ($1, $2, $3, $2)
     ON CONFLICT (api_key_id) DO UPDATE
     SET started_at = CASE WHEN abs(excluded.started_at - w.started_at) < $4
                           THEN w.started_at ELSE excluded.started_at END,
         count = CASE WHEN abs(excluded.started_at - w.started_at) < $4
                      THEN least(w.count, $5) + excluded.count ELSE excluded.count END,
         last_used_at = greatest(w.last_used_at, excluded.last_used_at)
     RETURNING count, started_at";

async fn authenticate(fixture: &Fixture, hash: &KeyHash, limit: RateLimit, now: Timestamp) -> u32 {
    let entered = fixture.stores.access.authenticate(hash, limit, now).await;
    entered.unwrap().unwrap().window.unwrap().count
}

/// Counts `requests` concurrent requests as the previous build does.
async fn enter_before(
    fixture: &Fixture,
    key: ApiKeyId,
    limit: RateLimit,
    now: Timestamp,
    requests: i64,
) -> (i64, Timestamp) {
    let row = sqlx::query(COUNT_OF_THE_BUILD_BEFORE)
        .bind(key.as_uuid())
        .bind(now.unix_millis())
        .bind(requests)
        .bind(i64::from(limit.window_seconds) * 1000)
        .bind(i64::from(limit.requests))
        .fetch_one(&fixture.sql)
        .await
        .unwrap();
    let started_at = Timestamp::from_unix_millis(row.get("started_at"));
    (row.get("count"), started_at.unwrap())
}

async fn rows(fixture: &Fixture) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM rate_counts");
    count.fetch_one(&fixture.sql).await.unwrap()
}

/// The plan that reads a key's window, as text, and the pages it reads.
async fn look_up(fixture: &Fixture, key: ApiKeyId) -> (String, i64) {
    let mut session = fixture.sql.acquire().await.unwrap();
    session
        .execute("SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off")
        .await
        .unwrap();
    let lines: Vec<String> = sqlx::query_scalar(
        "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF)
         SELECT w.* FROM unnest(ARRAY[$1]) AS k (id) LEFT JOIN LATERAL (
             SELECT r.generation, r.started_at, r.carried + r.counted, r.writes
             FROM rate_counts r WHERE r.api_key_id = k.id
             ORDER BY r.generation DESC LIMIT 1) AS w ON TRUE",
    )
    .bind(key.as_uuid())
    .fetch_all(&mut *session)
    .await
    .unwrap();
    // The first line is that of the whole plan.
    let buffers = lines.iter().find(|line| line.contains("Buffers: shared"));
    let numbers = buffers.into_iter().flat_map(|line| line.split(' '));
    let pages = numbers.filter_map(|word| word.split_once('=')?.1.parse::<i64>().ok());
    let pages = pages.sum();
    assert!(pages > 0, "{lines:#?}");
    (lines.join("\n"), pages)
}

#[tokio::test]
async fn a_look_up_behind_a_held_snapshot_goes_over_the_newest_row_alone() {
    let fixture = Fixture::new().await;
    let (key, hash) = fixture.known_key().await;
    let mut snapshot = fixture.sql.begin().await.unwrap();
    snapshot
        .execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        .await
        .unwrap();
    snapshot
        .execute("SELECT count(*) FROM rate_counts")
        .await
        .unwrap();
    for expected in 1..=REQUESTS {
        let count = authenticate(&fixture, &hash, NO_LIMIT, fixture.now).await;
        assert_eq!(count, expected);
    }
    let (plan, pages) = look_up(&fixture, key.id).await;
    assert!(
        plan.contains("Index Scan Backward using rate_counts_pkey"),
        "{plan}"
    );
    assert!(pages <= MAX_PAGES, "{pages} pages: {plan}");
    let generations = i64::from(REQUESTS).div_euclid(32) + 1;
    assert_eq!(rows(&fixture).await, generations);
    snapshot.rollback().await.unwrap();
}

/// With any statistics of the table.
#[tokio::test]
async fn a_look_up_has_one_plan_on_an_empty_a_tiny_and_a_large_table() {
    let fixture = Fixture::new().await;
    let (key, _) = fixture.known_key().await;
    for size in [0, 3, 200_000] {
        sqlx::query(
            "INSERT INTO rate_counts (api_key_id, generation, begun_at, started_at, carried,
                 counted, writes, last_used_at)
             SELECT gen_random_uuid(), 0, n, n, 0, 1, 1, n FROM generate_series(1, $1::BIGINT) AS n",
        )
        .bind(size)
        .execute(&fixture.sql)
        .await
        .unwrap();
        fixture.sql.execute("ANALYZE rate_counts").await.unwrap();
        let (plan, pages) = look_up(&fixture, key.id).await;
        assert!(
            plan.contains("Index Scan Backward using rate_counts_pkey"),
            "{size}: {plan}"
        );
        assert!(pages <= MAX_PAGES, "{size}: {pages} pages: {plan}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_window_is_exact_over_instances_while_rows_fill() {
    let first = Arc::new(Fixture::new().await);
    let second = Arc::new(Fixture::on(&first.database, 2).await);
    let (_, hash) = first.known_key().await;
    let limit = RateLimit {
        requests: 500,
        window_seconds: 60,
    };
    let callers: Vec<_> = (0..16)
        .map(|n| {
            let fixture = Arc::clone([&first, &second][n % 2]);
            tokio::spawn(async move {
                let mut granted = 0;
                for _ in 0..50 {
                    let count = authenticate(&fixture, &hash, limit, fixture.now).await;
                    granted += u32::from(count <= limit.requests);
                }
                granted
            })
        })
        .collect();
    let mut granted = 0;
    for caller in callers {
        granted += caller.await.unwrap();
    }
    assert_eq!(granted, 500);
}

#[tokio::test]
async fn the_build_before_counts_in_the_same_window() {
    let fixture = Fixture::new().await;
    let (key, hash) = fixture.known_key().await;
    let limit = RateLimit {
        requests: 120,
        window_seconds: 10,
    };
    let later = |seconds| fixture.later(TimeDelta::seconds(seconds));
    let before =
        |seconds, requests| enter_before(&fixture, key.id, limit, later(seconds), requests);
    let present = |seconds| authenticate(&fixture, &hash, limit, later(seconds));
    // In turns, over rows that fill up; the previous build began the window.
    for turn in 0..30 {
        assert_eq!(before(0, 2).await, (3 * turn + 1 + 1, fixture.now));
        assert_eq!(i64::from(present(1).await), 3 * turn + 3);
    }
    assert_eq!(before(9, 30).await, (120, fixture.now));
    assert_eq!(present(9).await, 121);
    // The present build begins the next window.
    assert_eq!(present(10).await, 1);
    assert_eq!(before(11, 1).await, (2, later(10)));
    assert_eq!(before(19, 1).await, (3, later(10)));
    // And the previous build the one after it.
    assert_eq!(before(20, 1).await, (1, later(20)));
    assert_eq!(present(29).await, 2);
    let shown = fixture.directory().api_key(key.id).await.unwrap().unwrap();
    assert_eq!(shown.last_used_at, Some(later(29)));
}

#[tokio::test]
async fn outdated_counts_go_in_small_steps_and_the_last_use_stays() {
    let fixture = Fixture::new().await;
    let (key, hash) = fixture.known_key().await;
    for _ in 0..REQUESTS {
        authenticate(&fixture, &hash, NO_LIMIT, fixture.now).await;
    }
    let house = &fixture.stores.housekeeping;
    let forget = |minutes| {
        let now = fixture.later(TimeDelta::minutes(minutes));
        house.forget_rate_windows(now, fixture.now, 20)
    };
    assert_eq!(
        forget(10).await.unwrap(),
        0,
        "statements may still read them"
    );
    assert_eq!(forget(11).await.unwrap(), 20);
    assert_eq!(forget(11).await.unwrap(), 11);
    assert_eq!(forget(11).await.unwrap(), 0);
    assert_eq!(rows(&fixture).await, 1);
    let shown = fixture.directory().api_key(key.id).await.unwrap().unwrap();
    assert_eq!(shown.last_used_at, Some(fixture.now));
    assert_eq!(
        authenticate(&fixture, &hash, NO_LIMIT, fixture.now).await,
        REQUESTS + 1
    );
}
