//! An endpoint with a large backlog is removed, and the server is killed while the deliveries are
//! closed.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgPool, SqlitePool};
use test_support::Database;
use tokio::time::{Instant, sleep};

use crate::chance::{pause, rounds};
use crate::crowd::{Crowd, Manner};
use crate::scene::{Scene, leases_run_out};
use crate::suppliers::register;

/// Deliveries queued for the endpoint.
const BACKLOG: i64 = 10_001;
const PATIENCE: Duration = Duration::from_mins(5);

/// Copies of the one test event queued for the supplier, each with its delivery.
const COPIES_ON_POSTGRESQL: [&str; 3] = [
    "CREATE TABLE copies AS
     SELECT gen_random_uuid() AS event, gen_random_uuid() AS delivery, e.id AS original
     FROM events e, generate_series(1, 10000) WHERE e.type = 'webhook.test'",
    "INSERT INTO events (id, head_office_id, type, at, actor, body)
     SELECT c.event, e.head_office_id, e.type, e.at, e.actor,
            replace(e.body, e.id::TEXT, c.event::TEXT)
     FROM copies c JOIN events e ON e.id = c.original",
    "INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
         next_attempt_at, created_at)
     SELECT c.delivery, d.head_office_id, d.endpoint_id, c.event, d.event_type, d.status,
            d.next_attempt_at, d.created_at
     FROM copies c JOIN deliveries d ON d.event_id = c.original",
];
/// The same for SQLite, where ids are bytes in columns and texts in bodies.
const COPIES_ON_SQLITE: [&str; 3] = [
    "CREATE TABLE copies AS
     WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
     SELECT randomblob(16) AS event, randomblob(16) AS delivery, e.id AS original
     FROM events e, n WHERE e.type = 'webhook.test'",
    "INSERT INTO events (id, head_office_id, type, at, actor, body)
     SELECT c.event, e.head_office_id, e.type, e.at, e.actor,
            json_set(e.body, '$.id', lower(
                substr(hex(c.event), 1, 8) || '-' || substr(hex(c.event), 9, 4) || '-' ||
                substr(hex(c.event), 13, 4) || '-' || substr(hex(c.event), 17, 4) || '-' ||
                substr(hex(c.event), 21)))
     FROM copies c JOIN events e ON e.id = c.original",
    "INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
         next_attempt_at, created_at)
     SELECT c.delivery, d.head_office_id, d.endpoint_id, c.event, d.event_type, d.status,
            d.next_attempt_at, d.created_at
     FROM copies c JOIN deliveries d ON d.event_id = c.original",
];

/// The database, accessed without the server.
enum Raw {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Raw {
    async fn execute(&self, sql: &str) {
        let sql = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(pool) => drop(sqlx::query(sql).execute(pool).await.unwrap()),
            Self::Postgres(pool) => drop(sqlx::query(sql).execute(pool).await.unwrap()),
        }
    }

    /// The number of deliveries to the endpoint in this status.
    async fn count(&self, status: &str) -> i64 {
        let sql = AssertSqlSafe(format!(
            "SELECT count(*) FROM deliveries
             WHERE status = '{status}' AND endpoint_id =
                 (SELECT d.endpoint_id FROM deliveries d
                  WHERE d.event_id = (SELECT original FROM copies LIMIT 1))"
        ));
        match self {
            Self::Sqlite(pool) => sqlx::query_scalar(sql).fetch_one(pool).await.unwrap(),
            Self::Postgres(pool) => sqlx::query_scalar(sql).fetch_one(pool).await.unwrap(),
        }
    }

    const fn copies(&self) -> [&'static str; 3] {
        match self {
            Self::Sqlite(_) => COPIES_ON_SQLITE,
            Self::Postgres(_) => COPIES_ON_POSTGRESQL,
        }
    }
}

async fn killed_while_deliveries_end(database: &str, mut scene: Scene, raw: Raw) {
    let crowd = Crowd::of(&[Manner::Answers(204)]).await;
    let supplier = register(&scene, &crowd).await.remove(0);
    supplier.pause().await;
    supplier.is_sent_a_test().await;
    for statement in raw.copies() {
        raw.execute(statement).await;
    }
    assert_eq!(raw.count("PENDING").await, BACKLOG);
    let load = scene.begin_load();
    scene.wait_for_offers(10).await;
    supplier.remove_endpoint().await;
    let removed = Instant::now();
    let kills = rounds(2);
    let mut left = Vec::new();
    for _ in 0..kills {
        sleep(pause(0, 40)).await;
        let home = scene.instances[0].kill();
        left.push(raw.count("PENDING").await);
        scene.instances[0].start_again(home).await;
    }
    assert!(left[0] > 0, "all had ended before the first kill");
    while raw.count("PENDING").await > 0 {
        assert!(removed.elapsed() < PATIENCE, "deliveries still wait");
        sleep(Duration::from_millis(100)).await;
    }
    let settled = removed.elapsed();
    assert_eq!(
        raw.count("FAILED").await,
        BACKLOG,
        "none is lost or delivered"
    );
    assert_eq!(crowd.requests(), 0, "a removed endpoint gets no events");
    scene.recovery().await;
    scene.wait_for_offers(10).await;
    load.end().await;
    raw.execute("DROP TABLE copies").await;
    if let Raw::Postgres(sql) = &raw {
        leases_run_out(sql).await;
    }
    let figures = scene.check_consistency().await;
    println!(
        "{database}: {BACKLOG} deliveries of a removed endpoint, {kills} kills with {left:?} left: \
         all ended after {settled:.1?}; {figures}"
    );
}

#[tokio::test]
async fn a_kill_while_a_removed_endpoints_deliveries_end_loses_none_on_sqlite() {
    let scene = Scene::on_file().await;
    let file = scene.first().data().join("preauth.db");
    let pool = SqlitePool::connect(&format!("sqlite://{}", file.display())).await;
    killed_while_deliveries_end("SQLite", scene, Raw::Sqlite(pool.unwrap())).await;
}

#[tokio::test]
async fn a_kill_while_a_removed_endpoints_deliveries_end_loses_none_on_postgresql() {
    let database = Database::empty().await;
    let scene = Scene::on(&database.url()).await;
    let raw = Raw::Postgres(database.sql().await);
    killed_while_deliveries_end("PostgreSQL", scene, raw).await;
}
