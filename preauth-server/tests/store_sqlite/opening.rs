//! Opening: a lock against a second server, file permissions for the owner only, and a supported
//! schema.

use std::num::NonZeroU32;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Claim;
use preauth_server::access::{KeyHash, RateLimit};
use preauth_server::store::{OpenError, SchemaMismatch, Unfit, migrate, open};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::database::Database;
use crate::store::fixture::Fixture;

#[tokio::test]
async fn a_second_server_on_the_same_file_is_refused() {
    let first = Fixture::new().await;
    let error = open(&first.database.url()).await.unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("preauth.db.lock") && text.contains("stop it"),
        "{text}"
    );
}

#[tokio::test]
async fn a_closed_database_opens_again_with_everything_in_it() {
    let first = Fixture::new().await;
    let payer = first.payer().await;
    let operation = first.offer(payer).await;
    first.stores.lifecycle.close().await;
    let again = Fixture::on(&first.database, 2).await;
    again.stores.lifecycle.check().await.unwrap();
    let loaded = again.stores.store.load_operation(operation.id).await;
    assert_eq!(loaded.unwrap().unwrap().operation, operation);
}

#[tokio::test]
async fn deliveries_leased_by_an_earlier_process_are_due_at_once() {
    let first = Fixture::new().await;
    let payer = first.payer().await;
    first.add_endpoint(payer).await;
    first.offer(payer).await;
    let claim = Claim {
        now: first.now,
        lease: TimeDelta::days(1),
        limit: 1,
        slow_limit: 1,
        per_endpoint: NonZeroU32::MIN,
        per_slow_endpoint: NonZeroU32::MIN,
        answering: Vec::new(),
        per_answering_endpoint: NonZeroU32::MIN,
    };
    let stalled = first.stores.outbox.claim(&claim).await.unwrap().leased;
    assert_eq!(stalled.len(), 1);
    assert!(
        first
            .stores
            .outbox
            .claim(&claim)
            .await
            .unwrap()
            .leased
            .is_empty()
    );
    first.stores.lifecycle.close().await;
    let again = Fixture::on(&first.database, 2).await;
    let taken_over = again.stores.outbox.claim(&claim).await.unwrap().leased;
    assert_eq!(taken_over.len(), 1);
    assert!(taken_over[0].token > stalled[0].token);
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
    let late = fixture.company(preauth_core::value::CompanyKind::Supplier);
    assert!(fixture.directory().add_company(&late, None).await.is_err());
}

#[tokio::test]
async fn new_folders_and_files_are_the_owners_alone() {
    let outer = TempDir::new().unwrap();
    let database = outer.path().join("data/here/preauth.db");
    let stores = open(&format!("sqlite://{}", database.display()))
        .await
        .unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(database.parent().unwrap()), 0o700);
    for name in [
        "preauth.db",
        "preauth.db-wal",
        "preauth.db-shm",
        "preauth.db.lock",
    ] {
        assert_eq!(mode(&database.with_file_name(name)), 0o600, "{name}");
    }
    stores.lifecycle.close().await;
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_as_it_is() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("preauth.db");
    let text = "not a database, but long enough to be taken for one ".repeat(40);
    std::fs::write(&file, &text).unwrap();
    let error = open(&Database::at(folder.path()).url()).await.unwrap_err();
    assert!(matches!(error, OpenError::Database { .. }), "{error:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

#[tokio::test]
async fn a_database_of_another_program_is_left_as_it_is() {
    for migrated_by_sqlx in [false, true] {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("preauth.db");
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true);
        let mut foreign = options.connect().await.unwrap();
        let mut sql = "CREATE TABLE orders (id INTEGER PRIMARY KEY);".to_owned();
        if migrated_by_sqlx {
            sql.push_str(
                "CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT,
                     installed_on TIMESTAMP, success BOOLEAN, checksum BLOB, execution_time BIGINT);
                 INSERT INTO _sqlx_migrations VALUES (20240101000000, 'orders', 0, TRUE, x'00', 0);",
            );
        }
        foreign.execute(AssertSqlSafe(sql)).await.unwrap();
        foreign.close().await.unwrap();
        let before = std::fs::read(&file).unwrap();
        let url = Database::at(folder.path()).url();
        for error in [open(&url).await.map(drop), migrate(&url).await] {
            let error = error.unwrap_err();
            assert!(
                matches!(error, OpenError::SchemaMismatch { .. }),
                "{error:?}"
            );
            let is_named = error.to_string().contains("(orders is one)");
            assert_eq!(is_named, !migrated_by_sqlx, "{error}");
        }
        assert_eq!(std::fs::read(&file).unwrap(), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn a_newer_schema_that_supports_this_build_is_worked_on() {
    let first = Fixture::new().await;
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'later', TRUE, x'00', 0)",
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
         VALUES (9999, 'later', TRUE, x'00', 0)",
    )
    .execute(&first.sql)
    .await
    .unwrap();
    let newer = first.stores.lifecycle.check().await;
    assert!(
        matches!(newer, Err(Unfit::Schema(SchemaMismatch::Newer))),
        "{newer:?}"
    );
    first.stores.lifecycle.close().await;
    let error = open(&first.database.url()).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("use a newer version"), "{text}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("data"), "a file").unwrap();
    let below = format!("sqlite://{}/data/preauth.db", folder.path().display());
    let error = open(&below).await.unwrap_err();
    assert!(matches!(error, OpenError::Folder { .. }), "{error:?}");
    let made_by = format!(
        "`install -d -m 700 -o USER {}/data`",
        folder.path().display()
    );
    assert!(error.to_string().contains(&made_by), "{error}");
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

const LIMIT: RateLimit = RateLimit {
    requests: 3,
    window_seconds: 60,
};

async fn count(fixture: &Fixture, hash: &KeyHash) -> u32 {
    let entered = fixture
        .stores
        .access
        .authenticate(hash, LIMIT, fixture.now)
        .await;
    entered.unwrap().unwrap().window.unwrap().count
}

#[tokio::test]
async fn a_rate_window_goes_on_in_the_next_process() {
    let first = Fixture::new().await;
    let (_, hash) = first.known_key().await;
    assert_eq!(
        (count(&first, &hash).await, count(&first, &hash).await),
        (1, 2)
    );
    first.stores.lifecycle.close().await;
    let again = Fixture::on(&first.database, 2).await;
    assert_eq!(
        (count(&again, &hash).await, count(&again, &hash).await),
        (3, 4)
    );
}

#[tokio::test]
async fn counts_are_saved_without_an_orderly_end() {
    let fixture = Fixture::new().await;
    let (_, hash) = fixture.known_key().await;
    assert_eq!(count(&fixture, &hash).await, 1);
    let sql = fixture.database.sql().await;
    let saved = async || {
        let count = sqlx::query_scalar("SELECT count(*) FROM rate_windows");
        let count: i64 = count.fetch_one(&sql).await.unwrap();
        count
    };
    while saved().await == 0 {
        sleep(Duration::from_millis(50)).await;
    }
}
