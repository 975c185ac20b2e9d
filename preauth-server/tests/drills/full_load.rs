//! As many creates at once as the service takes, while an instance is killed or the database stops.

use std::fmt;
use std::time::Duration;

use sqlx::PgPool;
use test_support::{Database, OwnCluster};
use tokio::time::{Instant, sleep};

use crate::chance::{pause, rounds};
use crate::scene::{Scene, leases_run_out, stop_database};

/// ERPs that offer one invoice after the other.
const CLIENTS: usize = 64;
/// How long the receiver takes to answer, so that many attempts are under way.
const ANSWER: Duration = Duration::from_millis(30);
/// How long the load lasts before each fault.
const BEFORE: Duration = Duration::from_secs(2);
/// How long a killed instance is away, and how long the load lasts after the last fault.
const AFTER: Duration = Duration::from_secs(1);

/// The load at the moments of the faults.
#[derive(Default)]
struct Faults {
    creates_a_second: Vec<usize>,
    deliveries_under_way: Vec<usize>,
    longest_recovery: Duration,
}

impl Faults {
    /// Waits for the load to last a while, up to a fault that comes now.
    async fn next(&mut self, scene: &Scene) {
        let (began, before) = (Instant::now(), scene.ledger.acknowledged());
        sleep(BEFORE).await;
        let created = scene.ledger.acknowledged() - before;
        let took_ms = usize::try_from(began.elapsed().as_millis()).unwrap();
        assert!(created > CLIENTS, "{created} created: that is no full load");
        self.creates_a_second.push(created * 1_000 / took_ms);
        self.deliveries_under_way.push(scene.receiver.under_way());
    }

    /// Waits until every instance answers again.
    async fn recover(&mut self, scene: &Scene) {
        self.longest_recovery = self.longest_recovery.max(scene.recovery().await);
    }
}

/// Waits as long as the leases that are held last. A short run ends them by hand, after the moments in
/// which somebody could have taken them over too early.
async fn leases_end(sql: &PgPool) {
    if rounds(1) == 1 {
        leases_run_out(sql).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_instances_that_is_killed_under_full_load_loses_and_doubles_nothing() {
    let database = Database::empty().await;
    let mut scene = Scene::on(&database.url()).await;
    scene.add_instance().await;
    scene.receiver.answer_after(ANSWER);
    let (load, mut faults) = (scene.begin_full_load(CLIENTS), Faults::default());
    for _ in 0..rounds(1) {
        faults.next(&scene).await;
        let home = scene.instances[1].kill();
        // As a balancer would.
        scene.instances[1].give_way_to(scene.first());
        sleep(AFTER).await;
        scene.instances[1].start_again(home).await;
        faults.recover(&scene).await;
    }
    sleep(AFTER).await;
    load.end().await;
    let sql = database.sql().await;
    leases_end(&sql).await;
    let figures = scene.check_consistency().await;
    scene.nothing_lingers(&sql).await;
    println!("one of two killed: {faults}; {figures}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_stops_at_once_under_full_load_loses_and_doubles_nothing() {
    let cluster = OwnCluster::start();
    let mut scene = Scene::on(&cluster.url()).await;
    scene.add_instance().await;
    scene.receiver.answer_after(ANSWER);
    let (load, mut faults) = (scene.begin_full_load(CLIENTS), Faults::default());
    for _ in 0..rounds(1) {
        faults.next(&scene).await;
        stop_database(&cluster, "immediate").await;
        sleep(pause(0, 500)).await;
        cluster.control("start").await;
        faults.recover(&scene).await;
    }
    sleep(AFTER).await;
    load.end().await;
    let sql = PgPool::connect(&cluster.url()).await.unwrap();
    leases_end(&sql).await;
    let figures = scene.check_consistency().await;
    scene.nothing_lingers(&sql).await;
    println!("database stopped at once: {faults}; {figures}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_under_full_load_lose_and_double_nothing_on_sqlite() {
    let mut scene = Scene::on_file().await;
    scene.receiver.answer_after(ANSWER);
    let (load, mut faults) = (scene.begin_full_load(CLIENTS), Faults::default());
    for _ in 0..rounds(1) {
        faults.next(&scene).await;
        scene.instances[0].kill_and_start().await;
        faults.recover(&scene).await;
    }
    sleep(AFTER).await;
    load.end().await;
    let figures = scene.check_consistency().await;
    println!("killed on SQLite: {faults}; {figures}");
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |figures: &[usize]| {
            let (least, most) = (figures.iter().min(), figures.iter().max());
            (*least.unwrap(), *most.unwrap())
        };
        let (least, most) = range(&self.creates_a_second);
        let (fewest, greatest) = range(&self.deliveries_under_way);
        let (times, longest) = (self.creates_a_second.len(), self.longest_recovery);
        write!(
            f,
            "{times} times under {least} to {most} creates a second, {fewest} to {greatest} deliveries under way, \
             back within {longest:.1?}"
        )
    }
}
