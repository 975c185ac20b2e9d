//! A standby is promoted, and the database's name resolves to it from then on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::PgPool;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::chance::{pause, rounds};
use crate::erp::{Erp, Load, Outcome};
use crate::feed_reader::FeedReader;
use crate::proxy::Proxy;
use crate::scene::{Scene, leases_run_out, stop_database};
use test_support::OwnCluster;

/// How long an instance may write to a primary that the name no longer resolves to.
const MAX_FOLLOWING: Duration = Duration::from_secs(15);
/// How much longer the old primary is observed.
const OBSERVED_AFTERWARDS: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_mins(1);
/// ERPs that offer without keys and never cancel: acknowledged offers may be lost.
const OFFERING: usize = 6;

/// Counts the changes in everything that an instance writes while it serves offers.
const WRITTEN: &str = "SELECT (SELECT count(*) FROM operations) + (SELECT count(*) FROM attempts)
     + (SELECT coalesce(max(last_used_at), 0) FROM rate_counts)";

/// The last statements of all sessions, and whether each waits for a standby: those that find a key with its window, and
/// what decides on a create.
const ASKED: &str = r"SELECT left(query, 12), coalesce(wait_event, '') = 'SyncRep' FROM pg_stat_activity
     WHERE query ~ '^(WITH found AS MATERIALIZED|SELECT t\.n,\s+p\.id AS payer_id)'";

/// So many numbers of a sequence follow one that its log has.
const SEQUENCE_LOGS_AHEAD: usize = 32;

const COUNTED: &str = "SELECT coalesce(sum(counted), 0)::BIGINT FROM rate_counts";

/// An instance that reaches a primary by name.
struct Stage {
    cluster: OwnCluster,
    /// Stands in for the name.
    name: Proxy,
    scene: Scene,
    primary: PgPool,
}

impl Stage {
    async fn set(is_synchronous: bool) -> Self {
        let cluster = OwnCluster::start_with_standby();
        let primary = PgPool::connect(&cluster.url()).await.unwrap();
        if is_synchronous {
            set(&primary, "synchronous_standby_names = '*'").await;
            let state = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
            until(&primary, state, |synchronous| synchronous == 1).await;
        }
        let (url, name) = Proxy::before(&cluster.url()).await;
        let scene = Scene::on(&url).await;
        Self {
            cluster,
            name,
            scene,
            primary,
        }
    }

    /// Promotes the standby and points the name at it.
    async fn promote(&self) -> PgPool {
        let url = self.cluster.standby_url();
        let (_, place) = url.rsplit_once('@').unwrap();
        self.name.lead_to(place.split_once('/').unwrap().0);
        self.cluster.control_standby("promote").await;
        PgPool::connect(&url).await.unwrap()
    }

    /// Waits until the standby has replayed everything that the primary has written so far.
    async fn catch_up(&self) {
        let standby = PgPool::connect(&self.cluster.standby_url()).await.unwrap();
        let position = "SELECT (pg_current_wal_flush_lsn() - '0/0')::BIGINT";
        let written: i64 = sqlx::query_scalar(position)
            .fetch_one(&self.primary)
            .await
            .unwrap();
        let replayed = "SELECT (pg_last_wal_replay_lsn() - '0/0')::BIGINT";
        until(&standby, replayed, |replayed| replayed >= written).await;
    }

    /// Promotes the standby under load, continues the load there, and verifies the result; returns
    /// its figures and the time until every request was answered again.
    async fn promote_under(&self, load: Load) -> String {
        let (scene, promoting) = (&self.scene, Instant::now());
        let promoted = self.promote().await;
        scene.recovery().await;
        let recovery = promoting.elapsed();
        scene.wait_until_ready(true).await;
        scene.wait_for_offers(20).await;
        load.end().await;
        self.acknowledged_ids();
        leases_run_out(&promoted).await;
        let figures = scene.check_consistency().await;
        scene.nothing_lingers(&promoted).await;
        format!("{figures}; back within {recovery:.1?}")
    }

    /// The ids answered with 201; no two offers share one.
    fn acknowledged_ids(&self) -> BTreeSet<i64> {
        let mut ids = BTreeSet::new();
        for entry in self.scene.ledger.entries() {
            if let Outcome::Created { id, .. } = entry.outcome {
                assert!(
                    ids.insert(id),
                    "{id} was given twice, to {}, too",
                    entry.number
                );
            }
        }
        ids
    }
}

#[tokio::test]
async fn a_synchronous_standby_that_is_promoted_under_load_loses_and_doubles_nothing() {
    for _ in 0..rounds(1) {
        let stage = Stage::set(true).await;
        let scene = &stage.scene;
        let reader = FeedReader::begin(scene.erp(0).client());
        let load = scene.begin_load();
        scene.wait_for_offers(30).await;
        stop_database(&stage.cluster, "immediate").await;
        let ended = stage.promote_under(load).await;
        let read = reader.read_what_arrived(scene).await;
        println!("promoted in place of a lost primary: {ended}, {read} read");
    }
}

/// The count of a request may be lost, and so may an id that no operation got: neither waits for the disk or a standby.
#[tokio::test]
async fn gets_and_repeated_creates_wait_for_no_standby() {
    let stage = Stage::set(true).await;
    let erp = stage.scene.erp(0);
    let id = erp.offer().await;
    let invoice = erp.next_number();
    let key = format!("pedido:{invoice}");
    let (body, _) = erp.repeat(&invoice, &key).await;
    let before = number(&stage.primary, COUNTED).await;
    stage.cluster.control_standby("--mode fast stop").await;
    let asking = tokio::spawn(async move {
        let got = erp.client().get(id).await;
        assert_eq!(got.unwrap().id, id);
        for _ in 0..=SEQUENCE_LOGS_AHEAD {
            let repeated = erp.repeat(&invoice, &key).await;
            assert_eq!(repeated, (body.clone(), true));
        }
    });
    let mut asked = BTreeSet::new();
    while !asking.is_finished() {
        let sessions: Vec<(String, bool)> = sqlx::query_as(ASKED)
            .fetch_all(&stage.primary)
            .await
            .unwrap();
        for (statement, is_waiting) in sessions {
            // A wait that is given up after seconds is no error.
            assert!(!is_waiting, "{statement}");
            asked.insert(statement);
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(asked.len(), 2, "{asked:?}");
    asking.await.unwrap();
    assert!(number(&stage.primary, COUNTED).await > before);
}

/// The old primary is not fenced: it accepts writes, and connections to it stay open.
#[tokio::test]
async fn writes_to_the_old_primary_stop_soon_after_its_name_moved() {
    for _ in 0..rounds(1) {
        let stage = Stage::set(false).await;
        let offering = Offering::begin(&stage.scene.erp(0));
        // So many that all pooled connections are open.
        stage.scene.wait_for_offers(150).await;
        stage.catch_up().await;
        let promoted = stage.promote().await;
        let (led, mut last_write) = (Instant::now(), Duration::ZERO);
        let mut before = number(&stage.primary, WRITTEN).await;
        while led.elapsed() < MAX_FOLLOWING + OBSERVED_AFTERWARDS {
            sleep(Duration::from_millis(100)).await;
            let now = number(&stage.primary, WRITTEN).await;
            if now != before {
                (before, last_write) = (now, led.elapsed());
            }
        }
        assert!(last_write < MAX_FOLLOWING, "written after {last_write:.1?}");
        let left_behind = stage.acknowledged_ids();
        stage.scene.wait_for_offers(20).await;
        offering.end().await;
        let ids = stage.acknowledged_ids();
        let since: Vec<i64> = ids.difference(&left_behind).copied().collect();
        assert_eq!(present(&promoted, &since).await, since.len());
        println!("the last write on the old primary came after {last_write:.1?}");
    }
}

#[tokio::test]
async fn a_read_only_primary_is_left_for_the_one_behind_its_name() {
    for _ in 0..rounds(1) {
        let stage = Stage::set(false).await;
        let scene = &stage.scene;
        let load = scene.begin_load();
        scene.wait_for_offers(30).await;
        set(&stage.primary, "default_transaction_read_only = on").await;
        let at_work = "SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle'
             AND backend_type = 'client backend' AND pid <> pg_backend_pid()
             AND xact_start < clock_timestamp() - interval '500 milliseconds'";
        sleep(Duration::from_secs(1)).await;
        until(&stage.primary, at_work, |at_work| at_work == 0).await;
        stage.catch_up().await;
        let ended = stage.promote_under(load).await;
        println!("read-only, then promoted elsewhere: {ended}");
    }
}

#[tokio::test]
async fn an_id_lost_with_the_old_primary_is_not_reused() {
    for _ in 0..rounds(1) {
        let stage = Stage::set(false).await;
        let scene = &stage.scene;
        let offering = Offering::begin(&scene.erp(0));
        scene.wait_for_offers(20).await;
        stage.cluster.control_standby("--mode fast stop").await;
        // More than the 32 numbers for which a sequence logs ahead.
        scene.wait_for_offers(60).await;
        stop_database(&stage.cluster, "immediate").await;
        let acknowledged: Vec<i64> = stage.acknowledged_ids().into_iter().collect();
        stage.cluster.control_standby("start").await;
        let promoting = Instant::now();
        let promoted = stage.promote().await;
        scene.recovery().await;
        let recovery = promoting.elapsed();
        let lost = acknowledged.len() - present(&promoted, &acknowledged).await;
        assert!(lost >= 50, "only {lost} of {} are lost", acknowledged.len());
        scene.wait_for_offers(60).await;
        offering.end().await;
        // No lost id was given to another operation.
        stage.acknowledged_ids();
        scene.first().passes_its_audit().await;
        println!("{lost} acknowledged offers lost, no id given twice; back within {recovery:.1?}");
    }
}

/// Each server has settings of its own.
#[tokio::test]
async fn a_promoted_server_that_may_lose_what_it_confirmed_is_reported_once() {
    const WARNING: &str = "PostgreSQL may lose what it has confirmed";
    let stage = Stage::set(false).await;
    let scene = &stage.scene;
    let instance = scene.first().sandbox();
    scene.erp(0).offer().await;
    assert!(!instance.log().contains(WARNING));
    stage.catch_up().await;
    let standby = PgPool::connect(&stage.cluster.standby_url()).await.unwrap();
    set(&standby, "full_page_writes = off").await;
    stage.promote().await;
    // Connections to the old primary stay open until the new one is noticed.
    let began = Instant::now();
    while !instance.log().contains(WARNING) {
        assert!(began.elapsed() < PATIENCE, "{}", instance.log());
        sleep(Duration::from_millis(50)).await;
    }
    scene.recovery().await;
    let log = instance.log();
    let lines: Vec<_> = log.lines().filter(|line| line.contains(WARNING)).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].contains("full_page_writes = off"), "{}", lines[0]);
}

/// ERPs that offer until they are stopped.
struct Offering {
    is_over: Arc<AtomicBool>,
    erps: JoinSet<()>,
}

impl Offering {
    fn begin(erp: &Erp) -> Self {
        let (is_over, mut erps) = (Arc::<AtomicBool>::default(), JoinSet::new());
        for _ in 0..OFFERING {
            let (erp, is_over) = (erp.clone(), Arc::clone(&is_over));
            erps.spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    erp.offer_once().await;
                    sleep(pause(5, 40)).await;
                }
            });
        }
        Self { is_over, erps }
    }

    async fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.erps.join_all().await;
    }
}

async fn set(sql: &PgPool, setting: &str) {
    let set = format!("ALTER SYSTEM SET {setting}");
    for statement in [set.as_str(), "SELECT pg_reload_conf()"] {
        let statement = sqlx::AssertSqlSafe(statement.to_owned());
        sqlx::query(statement).execute(sql).await.unwrap();
    }
}

async fn number(sql: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(sql).await.unwrap()
}

async fn until(sql: &PgPool, query: &'static str, holds: impl Fn(i64) -> bool) {
    let began = Instant::now();
    while !holds(number(sql, query).await) {
        assert!(began.elapsed() < PATIENCE, "waited in vain for {query}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// How many of these operations exist.
async fn present(sql: &PgPool, ids: &[i64]) -> usize {
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM operations WHERE id = ANY($1)")
        .bind(ids)
        .fetch_one(sql)
        .await
        .unwrap();
    usize::try_from(count).unwrap()
}
