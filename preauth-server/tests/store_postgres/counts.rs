//! Totals of lists, stored in rows that cause no lock waits.

use std::sync::Arc;

use preauth_core::port::{Filter, Viewer};
use preauth_core::value::{CompanyId, OperationId};
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};

use crate::store::fixture::{FIRST_PAGE, Fixture};

/// More than the former number of slots for processes.
const WRITERS: i64 = 80;

/// A copy of an operation, under another id.
const COPY: &str =
    "INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version,
         origin, status, amount_cents, withheld_tax_cents, due_date, expires_at, created_at)
     SELECT $2, head_office_id, payer_id, supplier_id, supplier_cnpj, version, origin, status,
         amount_cents, withheld_tax_cents, due_date, expires_at, created_at
     FROM operations WHERE id = $1";

async fn total(fixture: &Fixture, payer: CompanyId) -> u64 {
    let viewer = Viewer::HeadOffice(payer);
    let filter = Filter::default();
    let listed = fixture.stores.queries.list(viewer, &filter, FIRST_PAGE);
    listed.await.unwrap().total
}

/// The number of rows that hold the counts.
async fn rows(fixture: &Fixture) -> i64 {
    let count = "SELECT count(*) FROM operation_counts";
    sqlx::query_scalar(count)
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

async fn begun(fixture: &Fixture, of: OperationId, number: i64) -> PgConnection {
    let mut writer = PgConnection::connect(&fixture.database.url())
        .await
        .unwrap();
    let begin = "BEGIN; SET LOCAL lock_timeout = '2s'";
    writer.execute(begin).await.unwrap();
    let copied = sqlx::query(COPY).bind(of.get()).bind(1_000 + number);
    copied.execute(&mut writer).await.unwrap();
    writer
}

#[tokio::test]
async fn any_number_of_sessions_count_for_one_company_without_waiting_for_each_other() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let first = fixture.offer(payer).await.id;
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        writers.push(begun(&fixture, first, number).await);
    }
    assert_eq!(total(&fixture, payer).await, 1, "nothing is committed");
    for mut writer in writers {
        writer.execute("COMMIT").await.unwrap();
    }
    assert_eq!(total(&fixture, payer).await, 1 + WRITERS.unsigned_abs());
}

#[tokio::test]
async fn summing_up_changes_no_total() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let first = fixture.offer(payer).await.id;
    for number in 0..WRITERS {
        let mut writer = begun(&fixture, first, number).await;
        writer.execute("COMMIT").await.unwrap();
    }
    let before = rows(&fixture).await;
    assert!(before >= WRITERS, "{before} rows");
    let house = &fixture.stores.housekeeping;
    // Two instances, and a small step: no change is lost, and none counts twice.
    while house.sum_up_counts(30).await.unwrap() + house.sum_up_counts(30).await.unwrap() > 0 {
        assert_eq!(total(&fixture, payer).await, 1 + WRITERS.unsigned_abs());
    }
    let after = rows(&fixture).await;
    assert!(after < 64, "{after} rows");
    assert_eq!(total(&fixture, payer).await, 1 + WRITERS.unsigned_abs());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn totals_are_exact_while_they_are_summed_up() {
    let fixture = Arc::new(Fixture::new().await);
    let payer = fixture.payer().await;
    let offers: Vec<_> = (0..100)
        .map(|_| {
            let fixture = Arc::clone(&fixture);
            tokio::spawn(async move {
                fixture.offer(payer).await;
                let house = &fixture.stores.housekeeping;
                house.sum_up_counts(10).await.unwrap();
            })
        })
        .collect();
    for offer in offers {
        offer.await.unwrap();
    }
    assert_eq!(total(&fixture, payer).await, 100);
}

/// Slots repeat after 65,536 changes: then existing rows are incremented, as they were before.
#[tokio::test]
async fn a_count_is_right_when_its_slots_come_round_again() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let first = fixture.offer(payer).await.id;
    for number in 0..3 {
        let again = "SELECT setval('operation_count_slots', 7)";
        fixture.sql.execute(again).await.unwrap();
        let mut writer = begun(&fixture, first, number).await;
        writer.execute("COMMIT").await.unwrap();
    }
    assert_eq!(total(&fixture, payer).await, 4);
}

/// Adds a file to each operation that has none.
const FILES: &str = "INSERT INTO invoice_files (operation_id, name, media_type, size_bytes, sha256)
     SELECT id, 'nota.pdf', 'application/pdf', 1000, decode(repeat('ab', 32), 'hex')
     FROM operations WHERE id NOT IN (SELECT operation_id FROM invoice_files)";

#[tokio::test]
async fn bytes_of_files_are_stored_in_rows_without_lock_waits_and_summed_up() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let first = fixture.offer(payer).await.id;
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let mut writer = begun(&fixture, first, number).await;
        let file = FILES.replace("WHERE", "WHERE id >= 1000 AND");
        writer.execute(sqlx::AssertSqlSafe(file)).await.unwrap();
        writers.push(writer);
    }
    let files = &fixture.stores.files;
    assert_eq!(
        files.named_bytes(payer).await.unwrap(),
        0,
        "nothing is committed"
    );
    for mut writer in writers {
        writer.execute("COMMIT").await.unwrap();
    }
    let all = WRITERS.unsigned_abs() * 1_000;
    assert_eq!(files.named_bytes(payer).await.unwrap(), all);
    let house = &fixture.stores.housekeeping;
    while house.sum_up_counts(30).await.unwrap() > 0 {
        assert_eq!(files.named_bytes(payer).await.unwrap(), all);
    }
    let rows = "SELECT count(*) FROM invoice_file_bytes";
    let rows: i64 = sqlx::query_scalar(rows)
        .fetch_one(&fixture.sql)
        .await
        .unwrap();
    assert!(rows < 64, "{rows} rows");
}

#[tokio::test]
async fn files_from_before_their_bytes_were_counted_are_counted_once() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    for _ in 0..3 {
        fixture.offer(payer).await;
    }
    fixture.sql.execute(FILES).await.unwrap();
    fixture
        .sql
        .execute("DELETE FROM invoice_file_bytes")
        .await
        .unwrap();
    fixture.offer(payer).await;
    // Counted when it was added, besides those that are not counted yet.
    fixture.sql.execute(FILES).await.unwrap();
    let files = &fixture.stores.files;
    assert_eq!(files.named_bytes(payer).await.unwrap(), 1_000);
    let step = include_str!("../../migrations/postgres/0020_invoice_file_bytes_before.sql");
    for _ in 0..2 {
        fixture.sql.execute(step).await.unwrap();
        assert_eq!(files.named_bytes(payer).await.unwrap(), 4_000);
    }
}
