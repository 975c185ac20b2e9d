//! Overdue offers that cannot be recorded, or were: the next ones do not wait behind them.

use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::operation::Operation;
use preauth_core::value::Timestamp;
use sqlx::{Executor, Postgres, Transaction};
use tokio::time::sleep;

use crate::store::fixture::Fixture;

/// Maximum number of expiries that the sweeper records in one step.
const STEP: u32 = 2000;
/// More overdue offers than one step takes.
const MANY: i64 = 2_100;

/// When every offer of the fixture is overdue.
fn then(fixture: &Fixture) -> Timestamp {
    fixture.later(TimeDelta::days(31))
}

/// So many more offers like this one, overdue a second before it.
async fn multiply(fixture: &Fixture, offer: &Operation, count: i64) {
    let done = sqlx::query(
        "INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version,
             origin, status, amount_cents, withheld_tax_cents, due_date, invoice_number, expires_at,
             created_at)
         SELECT nextval('operation_ids'), head_office_id, payer_id, supplier_id, supplier_cnpj,
             version, origin, status, amount_cents, withheld_tax_cents, due_date,
             invoice_number || '-' || n, expires_at - 1000, created_at
         FROM operations, generate_series(1, $2) AS n WHERE id = $1",
    )
    .bind(offer.id.get())
    .bind(count)
    .execute(&fixture.sql)
    .await
    .unwrap();
    assert_eq!(i64::try_from(done.rows_affected()).unwrap(), count);
}

async fn status(fixture: &Fixture, offer: &Operation) -> String {
    sqlx::query_scalar("SELECT status FROM operations WHERE id = $1")
        .bind(offer.id.get())
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

/// More of them than a step takes come first.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_companys_overdue_offers_keep_no_others_from_expiring() {
    let fixture = Fixture::new().await;
    let (held, other) = (fixture.payer().await, fixture.payer().await);
    let first = fixture.offer(held).await;
    multiply(&fixture, &first, MANY).await;
    let waiting = fixture.offer(other).await;
    let mut holder: Transaction<'static, Postgres> = fixture.sql.begin().await.unwrap();
    let locked = sqlx::query("SELECT 1 FROM companies WHERE id = $1 FOR UPDATE")
        .bind(held.as_uuid())
        .execute(&mut *holder)
        .await
        .unwrap();
    assert_eq!(locked.rows_affected(), 1);
    for _ in 0..2 {
        fixture
            .service
            .expire_overdue(then(&fixture), STEP)
            .await
            .unwrap();
    }
    assert_eq!(status(&fixture, &waiting).await, "REPROVED");
    assert_eq!(status(&fixture, &first).await, "IN_PRE_AUTH");
    holder.rollback().await.unwrap();
    // Soon afterwards it is their turn.
    while status(&fixture, &first).await != "REPROVED" {
        fixture
            .service
            .expire_overdue(then(&fixture), STEP)
            .await
            .unwrap();
        sleep(Duration::from_millis(50)).await;
    }
}

/// Looks at the index of overdue offers, and the pages that they went over.
async fn looks(fixture: &Fixture) -> (i64, i64) {
    sqlx::query_as(
        "SELECT i.idx_scan, t.heap_blks_hit + t.heap_blks_read + io.idx_blks_hit + io.idx_blks_read
         FROM pg_stat_user_indexes i
         JOIN pg_statio_user_indexes io USING (indexrelid)
         JOIN pg_statio_user_tables t ON t.relid = i.relid
         WHERE i.indexrelname = 'operations_expiring'",
    )
    .fetch_one(&fixture.sql)
    .await
    .unwrap()
}

/// Behind a snapshot that is held open their rows and entries stay.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn expired_offers_are_not_read_again_while_a_snapshot_is_open() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let first = fixture.offer(payer).await;
    multiply(&fixture, &first, MANY).await;
    let mut snapshot = fixture.sql.begin().await.unwrap();
    snapshot
        .execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        .await
        .unwrap();
    snapshot.execute("SELECT 1 FROM operations").await.unwrap();
    let sweep = || fixture.service.expire_overdue(then(&fixture), STEP);
    while status(&fixture, &first).await != "REPROVED" {
        sweep().await.unwrap();
    }
    // The statistics of a session are counted within a second: first those of the work so far.
    let (mut before, mut after) = ((0, 0), (0, 0));
    for _ in 0..2 {
        before = looks(&fixture).await;
        after = before;
        while after.0 < before.0 + 100 {
            sweep().await.unwrap();
            sleep(Duration::from_millis(20)).await;
            after = looks(&fixture).await;
        }
    }
    let pages = (after.1 - before.1) / (after.0 - before.0);
    // Complete looks are rare, one in two hundred times as long as it takes, and read all of these.
    assert!(pages < MANY / 4, "{pages} pages are read for a look");
    drop(snapshot);
}
