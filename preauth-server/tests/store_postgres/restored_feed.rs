//! Events on request in a database that was restored from a dump, while its transactions reach the numbers that the
//! dump's rows remember; and rows that the server rewrites itself.

use std::process::Command;
use std::sync::Arc;

use preauth_core::value::CompanyId;
use test_support::Database;
use uuid::Uuid;

use crate::store::feed::{everything, number, page, texts};
use crate::store::fixture::Fixture;

/// How far the transactions of the cluster that was dumped are ahead of this one's.
const AHEAD: i64 = 60;

async fn execute(fixture: &Fixture, statements: &[&'static str]) {
    for statement in statements.iter().copied() {
        sqlx::query(statement).execute(&fixture.sql).await.unwrap();
    }
}

/// Makes the rows look as a dump leaves them: written by other transactions than those that they remember, which
/// are some ahead.
async fn restore(fixture: &Fixture) {
    for statement in [
        "UPDATE events SET xid = txid_current() + $1",
        "UPDATE event_batches SET next_xid = txid_current() + $1",
    ] {
        let updated = sqlx::query(statement).bind(AHEAD).execute(&fixture.sql);
        updated.await.unwrap();
    }
}

/// Offers and numbers until this cluster's transactions are past those that `dumped` events remember.
async fn pass(fixture: &Fixture, payer: CompanyId) {
    let last: i64 = sqlx::query_scalar("SELECT max(xid) FROM events")
        .fetch_one(&fixture.sql)
        .await
        .unwrap();
    loop {
        fixture.offer(payer).await;
        number(fixture).await;
        let now: i64 = sqlx::query_scalar("SELECT txid_current()")
            .fetch_one(&fixture.sql)
            .await
            .unwrap();
        if now > last + 2 {
            return;
        }
    }
}

/// Every event of the payer is in its list, and none twice.
async fn assert_each_once(fixture: &Fixture, payer: CompanyId) {
    let counts: (i64, i64, i64) = sqlx::query_as(
        "SELECT count(*), count(DISTINCT event_id),
             (SELECT count(*) FROM events WHERE head_office_id = $1)
         FROM event_feed WHERE head_office_id = $1",
    )
    .bind(*payer.as_uuid())
    .fetch_one(&fixture.sql)
    .await
    .unwrap();
    let (listed, distinct, events) = counts;
    assert_eq!((listed, distinct), (events, events));
}

#[tokio::test]
async fn what_a_dump_brought_is_numbered_once_when_transactions_reach_its_numbers() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    number(&fixture).await;
    fixture.offer(payer).await;
    restore(&fixture).await;
    number(&fixture).await;
    assert_each_once(&fixture, payer).await;
    pass(&fixture, payer).await;
    assert_each_once(&fixture, payer).await;
}

#[tokio::test]
async fn what_a_dump_brought_is_not_taken_for_a_transaction_in_progress() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    number(&fixture).await;
    let more = fixture.database.sql().await;
    let mut late = more.begin().await.unwrap();
    let late_xid: i64 = sqlx::query_scalar("SELECT txid_current()")
        .fetch_one(&mut *late)
        .await
        .unwrap();
    restore(&fixture).await;
    sqlx::query("UPDATE events SET xid = $1")
        .bind(late_xid)
        .execute(&fixture.sql)
        .await
        .unwrap();
    number(&fixture).await;
    sqlx::query(
        "INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor, body)
         SELECT gen_random_uuid(), head_office_id, operation_id, version + 1, type, at, 'COMPANY', 'late'
         FROM events",
    )
    .execute(&mut *late)
    .await
    .unwrap();
    late.commit().await.unwrap();
    fixture.offer(payer).await;
    let all = page(&fixture, &everything(payer)).await;
    assert_eq!(texts(&all)[1..2], ["late"]);
    assert_each_once(&fixture, payer).await;
}

/// More of them than a batch holds, under one number, are between a reader and the events after them.
#[tokio::test]
async fn what_a_dump_brought_delays_nobody() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    let many = "INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor, body)
         SELECT gen_random_uuid(), head_office_id, operation_id, version + n, type, at, 'COMPANY', body
         FROM events, generate_series(1, 2100) AS n";
    execute(&fixture, &[many]).await;
    number(&fixture).await;
    restore(&fixture).await;
    number(&fixture).await;
    pass(&fixture, payer).await;
    // One look passes what the dump brought, the next one takes what is behind it.
    number(&fixture).await;
    assert_each_once(&fixture, payer).await;
}

/// Numbers may be hours behind, and a dump be made before they have caught up.
#[tokio::test]
async fn what_a_dump_brought_is_numbered_however_old_its_last_batch_found_it() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    for n in 1..=3_u64 {
        number(&fixture).await;
        let copied = sqlx::query(
            "INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor, body)
             SELECT $1, head_office_id, operation_id, version + $2, type, at - 3600000 * (6 - $2),
                    'COMPANY', body
             FROM events WHERE version = 1",
        );
        let copied = copied.bind(Uuid::from_u64_pair(0, n));
        let copied = copied.bind(n.cast_signed()).execute(&fixture.sql);
        copied.await.unwrap();
    }
    restore(&fixture).await;
    number(&fixture).await;
    assert_each_once(&fixture, payer).await;
}

/// The server rewrites rows when it freezes or moves them; they remain those of their transactions.
#[tokio::test]
async fn frozen_and_moved_events_are_numbered_once() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    // Another session may still see the time before it.
    let frozen = "SELECT max(e.xid) < min(c.relfrozenxid::TEXT::BIGINT) FROM events e, pg_class c
         WHERE c.oid = 'events'::REGCLASS";
    loop {
        execute(&fixture, &["VACUUM (FREEZE) events"]).await;
        let frozen = sqlx::query_scalar(frozen).fetch_one(&fixture.sql);
        if frozen.await.unwrap() {
            break;
        }
    }
    number(&fixture).await;
    assert_each_once(&fixture, payer).await;
    for statement in ["VACUUM (FULL) events", "CLUSTER events USING events_pkey"] {
        fixture.offer(payer).await;
        execute(&fixture, &[statement]).await;
        number(&fixture).await;
        assert_each_once(&fixture, payer).await;
    }
}

/// With `pg_dump`, of a cluster whose transactions are ahead; the last event had no number yet.
#[tokio::test]
async fn a_real_dump_is_numbered_once() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    for _ in 0..3 {
        fixture.offer(payer).await;
        number(&fixture).await;
    }
    let read = page(&fixture, &everything(payer)).await;
    let unnumbered = fixture.offer(payer).await;
    restore(&fixture).await;

    let target = Arc::new(Database::empty().await);
    let copy = "pg_dump --dbname \"$0\" | psql --no-psqlrc --quiet --single-transaction \
                --set ON_ERROR_STOP=1 --output /dev/null --dbname \"$1\"";
    let copied = Command::new("bash")
        .args(["-euo", "pipefail", "-c", copy])
        .args([fixture.database.url(), target.url()])
        .status();
    assert!(copied.unwrap().success());
    let restored = Fixture::on(&target, 2).await;
    let mut query = everything(payer);
    query.after = Some(read.next);
    let text = format!("pre_authorization.created of {}", unnumbered.id);
    assert_eq!(texts(&page(&restored, &query).await), [text]);
    pass(&restored, payer).await;
    assert_each_once(&restored, payer).await;
}
