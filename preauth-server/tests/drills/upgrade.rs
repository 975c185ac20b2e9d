//! An upgrade without downtime: the database is migrated while the previous version works on it,
//! the present one joins, and the previous one leaves.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::PgPool;
use test_support::{Database, OwnCluster, RawCaller};
use tokio::time::Instant;

use crate::chance::{ROUNDS, rounds};
use crate::erp::Ledger;
use crate::instance::{present_build, signal};
use crate::observation::Observation;
use crate::scene::{Scene, WORKERS};

/// Builds the server from before the newest schema step, unless it is already built.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/previous-server");
/// Maximum time without an offer while steps are taken. They hold locks for much shorter; the rest
/// is for a busy machine.
const MAX_GAP: Duration = Duration::from_secs(4);
/// Offers between two steps of the upgrade.
const OFFERS: usize = 40;

async fn previous_build() -> PathBuf {
    let script = tokio::task::spawn_blocking(|| Command::new(SCRIPT).output());
    let output = script.await.unwrap().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{SCRIPT}: {error}");
    String::from_utf8(output.stdout).unwrap().trim().into()
}

#[tokio::test]
async fn an_upgrade_under_load_stops_and_loses_nothing() {
    let previous = previous_build().await;
    for _ in 0..rounds(1) {
        let database = Database::empty().await;
        let sql = database.sql().await;
        let mut scene = Scene::of_build(&previous, &database.url()).await;
        let steps = steps_taken(&sql).await;
        let platform = scene.first().sandbox().platform();
        let readiness = Observation::begin(|is_over| ask(platform, is_over));
        let load = scene.begin_load();
        scene.wait_for_offers(OFFERS).await;
        let ledger = Arc::clone(&scene.ledger);
        let gap = Observation::begin(|is_over| longest_gap(ledger, is_over));
        scene.first().is_migrated().await;
        let new_steps = steps_taken(&sql).await - steps;
        assert!(new_steps > 0, "both builds have the same schema");
        scene.wait_for_offers(OFFERS).await;
        let longest = gap.end().await;
        assert!(longest < MAX_GAP, "no offer was answered for {longest:?}");
        scene.add_instance().await;
        let load_on_both = scene.begin_load();
        scene.wait_for_offers(OFFERS).await;
        let asked = readiness.end().await;
        assert_eq!(scene.ledger.unknown(), 0, "while both builds serve");
        let mut leaving = scene.instances.remove(0);
        leaving.give_way_to(scene.first());
        let (ended, _home) = leaving.stop().await;
        assert!(ended, "it ends with success");
        scene.wait_for_offers(OFFERS).await;
        load.end().await;
        load_on_both.end().await;
        let figures = scene.check_consistency().await;
        scene.nothing_lingers(&sql).await;
        // A request may reach the old server while it closes its listener.
        assert!(figures.unknown <= WORKERS, "{figures}");
        assert_eq!(figures.duplicates, 0, "{figures}");
        println!(
            "upgraded by {new_steps} steps, the version before ready {asked} times of {asked}, \
             at most {longest:.1?} between two offers meanwhile: {figures}"
        );
    }
}

/// The migration that waits for the lock on the table of migrations is the sixth, repeated.
const TAKE_AGAIN: &str =
    "DELETE FROM _sqlx_migrations WHERE version = 6; DROP TABLE schema_compatibility";
const WAITING_FOR_A_TABLE: &str = "SELECT count(*) FROM pg_locks
     WHERE locktype = 'relation' AND NOT granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
const SILENT_IN_TRANSACTION: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND state LIKE 'idle in transaction%'
       AND application_name = 'preauth-server'";

/// Waits until the database counts any of these, or none.
async fn until_there_are(sql: &PgPool, what: &'static str, expected: bool) {
    let began = Instant::now();
    loop {
        let count: i64 = sqlx::query_scalar(what).fetch_one(sql).await.unwrap();
        if (count > 0) == expected {
            return;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{what}: {count}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// It freezes with a step half taken, whose locks it holds.
#[tokio::test]
async fn a_migration_that_freezes_keeps_its_locks_from_others_for_moments() {
    let database = Database::fresh().await;
    let sql = database.sql().await;
    sqlx::raw_sql(TAKE_AGAIN).execute(&sql).await.unwrap();
    let mut holder = sql.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE _sqlx_migrations IN SHARE MODE")
        .execute(&mut *holder)
        .await
        .unwrap();
    let mut migrate = Command::new(present_build());
    migrate.args(["migrate", "--database", &database.url()]);
    let mut process = migrate.env_remove(ROUNDS).spawn().unwrap();
    until_there_are(&sql, WAITING_FOR_A_TABLE, true).await;
    signal(process.id(), "STOP");
    holder.rollback().await.unwrap();
    until_there_are(&sql, SILENT_IN_TRANSACTION, true).await;
    until_there_are(&sql, SILENT_IN_TRANSACTION, false).await;
    signal(process.id(), "CONT");
    let ended = tokio::task::spawn_blocking(move || process.wait());
    assert!(!ended.await.unwrap().unwrap().success(), "it lost its step");
    preauth_server::store::migrate(&database.url())
        .await
        .unwrap();
}

/// Deliveries whose automatic vacuum lasts for more than half an hour.
const VACUUMED_FOR_LONG: &str = "DELETE FROM _sqlx_migrations WHERE version = 24;
     ALTER TABLE deliveries SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0,
         autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1);
     SET session_replication_role = replica;
     INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status, ended_at,
         created_at)
     SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '', 'FAILED', 1, 1
     FROM generate_series(1, 50000);
     UPDATE deliveries SET ended_at = 2";
const VACUUMING: &str =
    "SELECT count(*) FROM pg_stat_progress_vacuum WHERE relid = 'deliveries'::REGCLASS";

/// The newest step needs the lock of a table that is being vacuumed.
#[tokio::test]
async fn a_migration_does_not_wait_for_the_end_of_an_automatic_vacuum() {
    let cluster = OwnCluster::start();
    preauth_server::store::migrate(&cluster.url())
        .await
        .unwrap();
    let sql = PgPool::connect(&cluster.url()).await.unwrap();
    for prepared in [
        "ALTER SYSTEM SET autovacuum_naptime = '1s'",
        "ALTER SYSTEM SET autovacuum = on",
        VACUUMED_FOR_LONG,
        "SELECT pg_reload_conf()",
    ] {
        sqlx::raw_sql(prepared).execute(&sql).await.unwrap();
    }
    until_there_are(&sql, VACUUMING, true).await;
    let url = cluster.url();
    let migrated =
        tokio::time::timeout(Duration::from_mins(2), preauth_server::store::migrate(&url));
    migrated.await.expect("the vacuum is canceled").unwrap();
}

async fn steps_taken(sql: &PgPool) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM _sqlx_migrations");
    count.fetch_one(sql).await.unwrap()
}

/// The longest time between two answered offers.
async fn longest_gap(ledger: Arc<Ledger>, is_over: Arc<AtomicBool>) -> Duration {
    let (mut answered, mut since) = (ledger.acknowledged(), Instant::now());
    let mut longest = Duration::ZERO;
    while !is_over.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(5)).await;
        longest = longest.max(since.elapsed());
        let present = ledger.acknowledged();
        if present > answered {
            (answered, since) = (present, Instant::now());
        }
    }
    longest
}

/// Polls an instance's readiness; returns the number of polls, each of which found it ready.
async fn ask(platform: RawCaller, is_over: Arc<AtomicBool>) -> usize {
    let mut asked = 0;
    while !is_over.load(Ordering::Relaxed) {
        let answer = platform.get("/readyz").await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        asked += 1;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    asked
}
