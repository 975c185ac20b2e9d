//! Opening: it creates nothing, and accepts only a supported schema.

use preauth_core::value::CompanyKind;
use std::sync::Arc;
use std::time::Duration;

use preauth_server::store::{OpenError, SchemaMismatch, Unfit, migrate, open};
use test_support::Database;

use crate::store::fixture::Fixture;

#[tokio::test]
async fn a_database_without_a_schema_is_refused_and_left_as_it_is() {
    let database = Database::empty().await;
    let error = open(&database.url()).await.unwrap_err();
    assert!(
        matches!(error, OpenError::SchemaMismatch { .. }),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(text.contains("preauth-server migrate"), "{text}");
    assert!(text.contains(database.name()), "{text}");
    let tables: i64 =
        sqlx::query_scalar("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
            .fetch_one(&database.sql().await)
            .await
            .unwrap();
    assert_eq!(tables, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_that_migrate_side_by_side_take_turns() {
    let database = Database::empty().await;
    let urls = [database.url(), database.url(), database.url()];
    let started = urls.map(|url| tokio::spawn(async move { migrate(&url).await }));
    for migrated in started {
        migrated.await.unwrap().unwrap();
    }
    let stores = open(&database.url()).await.unwrap();
    stores.lifecycle.check().await.unwrap();
    stores.lifecycle.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_does_not_get_its_locks_is_taken_again_until_it_does() {
    let fixture = Fixture::new().await;
    let undo = "DELETE FROM _sqlx_migrations WHERE version = 6; DROP TABLE schema_compatibility";
    sqlx::raw_sql(undo).execute(&fixture.sql).await.unwrap();
    let mut holder = fixture.sql.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE _sqlx_migrations IN SHARE MODE")
        .execute(&mut *holder)
        .await
        .unwrap();
    let url = fixture.database.url();
    let migrated = tokio::spawn(async move { migrate(&url).await });
    // The first request for the lock waits and is given up; then it is repeated.
    for is_waiting in [true, false, true] {
        while waits_for_a_table(&fixture).await != is_waiting {
            assert!(!migrated.is_finished());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    holder.rollback().await.unwrap();
    migrated.await.unwrap().unwrap();
    fixture.stores.lifecycle.check().await.unwrap();
}

/// Suppliers that offers of an older build registered, and an offer of each.
const REGISTERED_BY_OFFERS: [&str; 5] = [
    // Objects that this step needs, and a later one removes.
    "CREATE FUNCTION record_invitations() RETURNS TRIGGER LANGUAGE plpgsql AS
         $$ BEGIN RETURN NULL; END $$",
    "WITH new AS (SELECT gen_random_uuid() AS id, n FROM generate_series(1, 2500) AS n)
     INSERT INTO companies (id, cnpj, name, kind, head_office_id, contact_name, contact_email,
         created_at)
     SELECT id, lpad(n::TEXT, 14, '0'), 'Fornecedora', 'SUPPLIER', id, 'Ana', 'a@example.com', 0
     FROM new",
    "INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version, origin,
         status, amount_cents, withheld_tax_cents, due_date, invoice_number, expires_at, created_at)
     SELECT nextval('operation_ids'), o.head_office_id, o.payer_id, c.id, c.cnpj, 1, o.origin, o.status,
         o.amount_cents, o.withheld_tax_cents, o.due_date, o.invoice_number, o.expires_at,
         o.created_at
     FROM operations o, companies c WHERE c.contact_name IS NOT NULL",
    "DELETE FROM supplier_invitations",
    "DELETE FROM _sqlx_migrations WHERE version = 15",
];

/// Offers made during the migration wait for an invitation that is being written.
#[tokio::test]
async fn a_step_writes_what_others_may_write_a_little_at_a_time() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    for statement in REGISTERED_BY_OFFERS {
        sqlx::query(statement).execute(&fixture.sql).await.unwrap();
    }
    migrate(&fixture.database.url()).await.unwrap();
    let by_transaction: Vec<i64> =
        sqlx::query_scalar("SELECT count(*) FROM supplier_invitations GROUP BY xmin::TEXT")
            .fetch_all(&fixture.sql)
            .await
            .unwrap();
    assert_eq!(by_transaction.iter().sum::<i64>(), 2_500);
    assert!(
        by_transaction.iter().all(|rows| *rows <= 1_000),
        "{by_transaction:?}"
    );
    fixture.stores.lifecycle.check().await.unwrap();
}

/// Whether a session waits for the lock of a table.
async fn waits_for_a_table(fixture: &Fixture) -> bool {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'relation' AND NOT granted
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))",
    )
    .fetch_one(&fixture.sql)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_newer_schema_that_supports_this_build_is_worked_on() {
    let first = Fixture::new().await;
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'later', TRUE, '', 0)",
    )
    .execute(&first.sql)
    .await
    .unwrap();
    first.stores.lifecycle.check().await.unwrap();
    first.stores.lifecycle.close().await;
    migrate(&first.database.url()).await.unwrap();
    let again = open(&first.database.url()).await.unwrap();
    again.lifecycle.check().await.unwrap();
    again.lifecycle.close().await;
}

#[tokio::test]
async fn a_newer_schema_that_does_not_support_this_build_is_refused() {
    let first = Fixture::new().await;
    sqlx::query("UPDATE schema_compatibility SET oldest_supported = 9999")
        .execute(&first.sql)
        .await
        .unwrap();
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'later', TRUE, '', 0)",
    )
    .execute(&first.sql)
    .await
    .unwrap();
    let newer = first.stores.lifecycle.check().await;
    assert!(
        matches!(newer, Err(Unfit::Schema(SchemaMismatch::Newer))),
        "{newer:?}"
    );
    let url = first.database.url();
    for refused in [open(&url).await.map(drop), migrate(&url).await] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("use a newer version"), "{text}");
    }
}

#[tokio::test]
async fn a_database_that_takes_no_writes_is_not_ready() {
    let fixture = Fixture::new().await;
    fixture.stores.lifecycle.check().await.unwrap();
    let read_only = format!(
        "ALTER DATABASE {} SET default_transaction_read_only = on",
        fixture.database.name()
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(read_only))
        .execute(&fixture.sql)
        .await
        .unwrap();
    let again = open(&fixture.database.url()).await.unwrap();
    let read_only = again.lifecycle.check().await;
    assert!(matches!(read_only, Err(Unfit::ReadOnly)), "{read_only:?}");
}

#[tokio::test]
async fn a_database_that_does_not_exist_is_named() {
    let database = Database::empty().await;
    let url = format!("{}_not", database.url());
    let error = open(&url).await.unwrap_err();
    assert!(matches!(error, OpenError::NoDatabase { .. }), "{error:?}");
    let made_by = format!(
        "`createdb --owner postgres {}_not`, then run this command again",
        database.name()
    );
    assert!(error.to_string().contains(&made_by), "{error}");
}

#[tokio::test]
async fn a_closed_database_answers_no_more() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.stores.lifecycle.close().await;
    fixture.stores.lifecycle.close().await;
    let closed = fixture.stores.lifecycle.check().await;
    assert!(matches!(closed, Err(Unfit::Unreachable(_))), "{closed:?}");
    assert!(fixture.directory().company(payer).await.is_err());
    let late = fixture.company(CompanyKind::Supplier);
    assert!(fixture.directory().add_company(&late, None).await.is_err());
    let again = Fixture::on(&Arc::clone(&fixture.database), 2).await;
    assert!(again.directory().company(payer).await.unwrap().is_some());
}

#[tokio::test]
async fn an_unreadable_value_is_reported_by_table_and_column() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let operation = fixture.offer(payer).await;
    sqlx::query("UPDATE operations SET due_date = '2026-99-99'")
        .execute(&fixture.sql)
        .await
        .unwrap();
    let error = fixture.stores.store.load_operation(operation.id).await;
    let cause = error.unwrap_err().cause.to_string();
    assert!(
        cause.contains("due_date") && cause.contains("operations"),
        "{cause}"
    );
}
