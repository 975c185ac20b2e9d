//! PostgreSQL stops and starts again, or closes connections.

use std::time::Duration;

use serde_json::json;
use sqlx::PgPool;
use test_support::{Database, OwnCluster};
use tokio::time::sleep;

use crate::chance::{pause, rounds};
use crate::scene::{Scene, leases_run_out, stop_database};

const TERMINATE_ANY: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1";
const TERMINATE_ALL: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()";

#[tokio::test]
async fn a_database_that_stops_at_once_loses_and_doubles_nothing() {
    database_stops("immediate").await;
}

#[tokio::test]
async fn a_database_that_shuts_down_loses_and_doubles_nothing() {
    database_stops("fast").await;
}

async fn database_stops(mode: &str) {
    let cluster = OwnCluster::start();
    let scene = Scene::on(&cluster.url()).await;
    let load = scene.begin_load();
    let stops = rounds(2);
    let mut slowest = Duration::ZERO;
    for _ in 0..stops {
        scene.wait_for_offers(20).await;
        stop_database(&cluster, mode).await;
        scene.wait_until_ready(false).await;
        sleep(pause(0, 1000)).await;
        cluster.control("start").await;
        slowest = slowest.max(scene.recovery().await);
        scene.wait_until_ready(true).await;
    }
    load.end().await;
    let sql = PgPool::connect(&cluster.url()).await.unwrap();
    leases_run_out(&sql).await;
    let figures = scene.check_consistency().await;
    scene.nothing_lingers(&sql).await;
    println!("{stops} times {mode}: {figures}; back within {slowest:.1?}");
}

#[tokio::test]
async fn connections_that_the_database_ends_lose_and_double_nothing() {
    let database = Database::empty().await;
    let scene = Scene::on(&database.url()).await;
    let sql = database.sql().await;
    let load = scene.begin_load();
    let ends = rounds(40);
    for _ in 0..ends {
        sqlx::query(TERMINATE_ANY).execute(&sql).await.unwrap();
        sleep(pause(0, 200)).await;
    }
    sqlx::query(TERMINATE_ALL).execute(&sql).await.unwrap();
    let recovery = scene.recovery().await;
    load.end().await;
    let figures = scene.check_consistency().await;
    scene.nothing_lingers(&sql).await;
    println!("{ends} connections ended, then all: {figures}; back within {recovery:.1?}");
}

/// Closes the connection of every third write to a table, in the middle of the transaction.
const CUT_WRITES: &str = "CREATE SEQUENCE drill_writes;
     CREATE FUNCTION drill_cut() RETURNS TRIGGER LANGUAGE plpgsql AS $$
     BEGIN
         IF nextval('drill_writes') % 3 = 0 THEN
             PERFORM pg_terminate_backend(pg_backend_pid());
         END IF;
         RETURN NEW;
     END $$;
     CREATE TRIGGER drill_cut BEFORE INSERT ON operations
         FOR EACH ROW EXECUTE FUNCTION drill_cut();
     CREATE TRIGGER drill_cut BEFORE INSERT ON attempts
         FOR EACH ROW EXECUTE FUNCTION drill_cut();
     CREATE TRIGGER drill_cut BEFORE INSERT ON companies
         FOR EACH ROW EXECUTE FUNCTION drill_cut()";
/// The next write is cut, the one after it is not.
const CUT_NEXT: &str = "SELECT setval('drill_writes', 2)";

#[tokio::test]
async fn a_write_that_loses_its_connection_is_done_again() {
    let database = Database::empty().await;
    let scene = Scene::on(&database.url()).await;
    let sql = database.sql().await;
    sqlx::raw_sql(CUT_WRITES).execute(&sql).await.unwrap();
    let erp = scene.erp(0);
    for done in 1..=usize::try_from(rounds(10)).unwrap() {
        erp.offer_once().await;
        // One at a time, so that the retry is not cut as well.
        scene.wait_for_arrivals(done).await;
        scene.nothing_lingers(&sql).await;
    }
    sqlx::query(CUT_NEXT).execute(&sql).await.unwrap();
    let company = json!({"cnpj": "45723001000100", "name": "Azul S.A.", "kind": "CONSTRUCTION"});
    let platform = scene.first().sandbox().platform();
    let added = platform.post_json("/api/platform/v1/companies", &company);
    assert_eq!(added.await.status, 201);
    let figures = scene.check_consistency().await;
    assert_eq!(figures.unknown + figures.not_done, 0, "{figures}");
    assert_eq!(figures.duplicates, 0, "every mark was made: {figures}");
    println!("every third write cut: {figures}");
}

#[tokio::test]
async fn a_database_that_takes_no_writes_is_not_ready_and_then_is_again() {
    let database = Database::empty().await;
    let scene = Scene::on(&database.url()).await;
    let sql = database.sql().await;
    scene.recovery().await;
    for (read_only, is_ready) in [("on", false), ("off", true)] {
        let set = format!(
            "ALTER DATABASE {} SET default_transaction_read_only = {read_only}",
            database.name()
        );
        let mut transaction = sql.begin().await.unwrap();
        sqlx::query("SET TRANSACTION READ WRITE")
            .execute(&mut *transaction)
            .await
            .unwrap();
        sqlx::query(sqlx::AssertSqlSafe(set))
            .execute(&mut *transaction)
            .await
            .unwrap();
        transaction.commit().await.unwrap();
        // A session keeps the setting it started with.
        sqlx::query(TERMINATE_ALL).execute(&sql).await.unwrap();
        scene.wait_until_ready(is_ready).await;
        scene.erp(0).offer_once().await;
    }
    let figures = scene.check_consistency().await;
    assert_eq!(figures.acknowledged, 2);
    println!("no writes for a while: {figures}");
}
