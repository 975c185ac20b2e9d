//! While PostgreSQL is down, the probes report it and scrapes continue.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};
use test_support::{Database, cluster};

use super::server::{ask, probe_until, scrape, scrape_until, start_on};

/// Executes statements on the server's databases directly.
async fn admin(statements: &[String]) {
    let mut admin = PgConnection::connect(&format!("{}/postgres", cluster::url()))
        .await
        .unwrap();
    for statement in statements {
        admin
            .execute(AssertSqlSafe(statement.clone()))
            .await
            .unwrap();
    }
    admin.close().await.unwrap();
}

async fn take_away(database: &Database) {
    let name = database.name();
    let refuse = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false");
    let hang_up =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    admin(&[refuse, hang_up]).await;
}

async fn give_back(database: &Database) {
    let name = database.name();
    admin(&[format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")]).await;
}

#[tokio::test]
async fn a_lost_database_is_not_ready_yet_alive_and_scrapes_go_on_without_old_values() {
    let database = Database::empty().await;
    let sandbox = start_on(&database).await;
    assert_eq!(ask(&sandbox, "/readyz").await.text, r#"{"status":"ok"}"#);
    take_away(&database).await;
    let refusal = probe_until(&sandbox, "/readyz", 503).await.json();
    assert_eq!(refusal["status"], "unavailable");
    assert_eq!(refusal["reason"], "the database does not answer");
    let failures = [("loop", "dispatcher")];
    let scraped = scrape_until(&sandbox, |scraped| {
        scraped.value("preauth_loop_failures_total", &failures) >= 1.0
    })
    .await;
    assert_eq!(scraped.find("preauth_database_up", &[]), Some(0.0));
    for absent in [
        "preauth_deliveries_oldest_due_age_seconds",
        "preauth_deliveries_due",
        "preauth_notices_staged",
        "preauth_notices_oldest_due_age_seconds",
    ] {
        assert_eq!(scraped.find(absent, &[]), None, "{absent}");
    }
    // A worker that waits for its database still steps.
    assert_eq!(ask(&sandbox, "/livez").await.status, 200);
    give_back(&database).await;
    probe_until(&sandbox, "/readyz", 200).await;
    let scraped = scrape(&sandbox).await;
    assert_eq!(scraped.find("preauth_database_up", &[]), Some(1.0));
    assert_eq!(scraped.find("preauth_deliveries_due", &[]), Some(0.0));
}

#[tokio::test]
async fn a_schema_too_new_or_too_old_is_not_ready_and_reported() {
    let database = Database::empty().await;
    let sandbox = start_on(&database).await;
    sqlx::raw_sql(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'later', TRUE, '', 0);
         UPDATE schema_compatibility SET oldest_supported = 9999",
    )
    .execute(&database.sql().await)
    .await
    .unwrap();
    let refusal = probe_until(&sandbox, "/readyz", 503).await.json();
    let reason = refusal["reason"].as_str().unwrap();
    assert!(reason.contains("use a newer version"), "{reason}");
    sqlx::query("DELETE FROM _sqlx_migrations WHERE version IN (2, 9999)")
        .execute(&database.sql().await)
        .await
        .unwrap();
    let refusal = probe_until(&sandbox, "/readyz", 503).await.json();
    let reason = refusal["reason"].as_str().unwrap();
    assert!(reason.contains("migrate"), "{reason}");
}
