//! Thousands of deliveries are due when an instance is killed, or the database stops.

use std::time::Duration;

use sqlx::PgPool;
use test_support::{Database, OwnCluster};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::chance::{pause, rounds};
use crate::crowd::{Crowd, Manner};
use crate::scene::{Scene, eventually, stop_database};
use crate::suppliers::{Supplier, everything_arrived, no_attempts_overlap, register};

const SUPPLIERS: usize = 25;
/// Concurrent deliveries to one endpoint.
const CONCURRENT_DELIVERIES: usize = 8;
/// Maximum lease; another instance takes over no later.
const MAX_LEASE_MS: i64 = 30_000;

/// The deliveries queued for the suppliers, whose endpoints are paused.
struct Backlog {
    scene: Scene,
    crowd: Crowd,
    suppliers: Vec<Supplier>,
    deliveries: usize,
}

impl Backlog {
    async fn of(scene: Scene, deliveries: usize) -> Self {
        let manner = Manner::Thinks(Duration::from_millis(40));
        let crowd = Crowd::of(&[manner; SUPPLIERS]).await;
        let suppliers = register(&scene, &crowd).await;
        let mut ways = JoinSet::new();
        for supplier in &suppliers {
            supplier.pause().await;
            let erp = scene.erp(0).to(&supplier.cnpj);
            ways.spawn(async move {
                for _ in 0..deliveries / SUPPLIERS {
                    erp.offer_once().await;
                }
            });
        }
        while let Some(ended) = ways.join_next().await {
            ended.unwrap();
        }
        assert_eq!(crowd.requests(), 0, "they are paused");
        Self {
            scene,
            crowd,
            suppliers,
            deliveries,
        }
    }

    /// Resumes all endpoints and waits until some deliveries have arrived.
    async fn begin(&self) {
        for supplier in &self.suppliers {
            supplier.resume().await;
        }
        let part = self.deliveries / 5;
        eventually("a part has arrived", || self.crowd.events() >= part).await;
    }

    /// Waits until all deliveries have arrived; returns how many arrived more than once.
    async fn end(&self) -> usize {
        eventually("everything has arrived", || {
            self.crowd.events() == self.deliveries
        })
        .await;
        everything_arrived(&self.suppliers, &self.crowd).await;
        no_attempts_overlap(&self.suppliers, &self.crowd).await;
        self.crowd.requests() - self.deliveries
    }
}

/// The number of live leases, and the longest remaining time in milliseconds.
async fn leases(sql: &PgPool) -> (usize, i64) {
    let live: (i64, i64) = sqlx::query_as(
        "SELECT count(*), coalesce(max(leased_until - n.now), 0)
         FROM deliveries, (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) n (now)
         WHERE leased_until > n.now",
    )
    .fetch_one(sql)
    .await
    .unwrap();
    (usize::try_from(live.0).unwrap(), live.1)
}

#[tokio::test]
async fn one_of_two_instances_is_killed_in_the_middle_of_thousands_of_deliveries() {
    let database = Database::empty().await;
    let sql = database.sql().await;
    let deliveries = 2_000 * usize::try_from(rounds(1)).unwrap();
    let mut backlog = Backlog::of(Scene::on(&database.url()).await, deliveries).await;
    backlog.scene.add_instance().await;
    backlog.begin().await;
    let _home = backlog.scene.instances.remove(1).kill();
    let killed = Instant::now();
    // Leases of the surviving instance are included.
    let (held, longest) = leases(&sql).await;
    assert!(longest <= MAX_LEASE_MS, "{longest} ms");
    let again = backlog.end().await;
    assert!(again <= held, "{again} arrived again, {held} were leased");
    let figures = backlog.scene.check_consistency().await;
    println!(
        "{deliveries} deliveries, one of two killed: all arrived after {:.1?}, {again} again, \
         {held} leased; {figures}",
        killed.elapsed()
    );
}

#[tokio::test]
async fn a_database_that_stops_in_the_middle_of_thousands_of_deliveries_loses_none() {
    let cluster = OwnCluster::start();
    let deliveries = 1_000 * usize::try_from(rounds(1)).unwrap();
    let scene = Scene::on(&cluster.url()).await;
    let backlog = Backlog::of(scene, deliveries).await;
    backlog.begin().await;
    stop_database(&cluster, "immediate").await;
    backlog.scene.wait_until_ready(false).await;
    sleep(pause(0, 1000)).await;
    cluster.control("start").await;
    let back = Instant::now();
    let again = backlog.end().await;
    let most = (SUPPLIERS + 1) * CONCURRENT_DELIVERIES;
    assert!(again <= most, "{again} arrived again, {most} may be leased");
    let figures = backlog.scene.check_consistency().await;
    println!(
        "{deliveries} deliveries, database stopped: all arrived {:.1?} after its start, {again} \
         again; {figures}",
        back.elapsed()
    );
}
