//! The participants of a drill, and the check after it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use test_support::OwnCluster;
use tokio::time::Instant;

use crate::consistency::{self, Figures};
use crate::erp::{Erp, Ledger, Load};
use crate::instance::{Instance, present_build};
use crate::overlap::Disruption;
use crate::receiver::Receiver;

/// A request limit that no drill reaches.
const RATE_LIMIT: &str = "1000000";
/// Timeout for everything a drill waits for: longer than any lease, those of mails being two minutes.
const PATIENCE: Duration = Duration::from_mins(5);
/// Concurrent ERPs.
pub(crate) const WORKERS: usize = 8;

/// Leases, and transactions older than any of the server's.
const LINGERING: &str = "SELECT (SELECT count(*) FROM deliveries WHERE leased_until IS NOT NULL)
     + (SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'
          AND state_change < now() - interval '1 second')";

/// A receiver, one instance or more on one database, ERPs and their ledger.
pub(crate) struct Scene {
    pub(crate) receiver: Receiver,
    pub(crate) instances: Vec<Instance>,
    pub(crate) ledger: Arc<Ledger>,
}

impl Scene {
    /// One instance on a SQLite file.
    pub(crate) async fn on_file() -> Self {
        Self::start(present_build(), Vec::new()).await
    }

    /// One instance on the PostgreSQL database at `url`.
    pub(crate) async fn on(url: &str) -> Self {
        Self::of_build(present_build(), url).await
    }

    /// One instance of this build, on the PostgreSQL database at `url`.
    pub(crate) async fn of_build(build: &Path, url: &str) -> Self {
        Self::start(build, vec!["--database".to_owned(), url.to_owned()]).await
    }

    async fn start(build: &Path, mut flags: Vec<String>) -> Self {
        let receiver = Receiver::start().await;
        flags.extend(["--rate-limit", RATE_LIMIT, "--webhook-url"].map(str::to_owned));
        flags.push(receiver.url());
        let instance = Instance::start(build, flags).await;
        receiver.expect(instance.sandbox().text("webhookSecret"));
        Self {
            receiver,
            instances: vec![instance],
            ledger: Arc::default(),
        }
    }

    /// One more instance, on the same database.
    pub(crate) async fn add_instance(&mut self) {
        let instance = self.first().start_beside().await;
        self.instances.push(instance);
    }

    pub(crate) fn first(&self) -> &Instance {
        &self.instances[0]
    }

    /// An ERP that calls this instance.
    pub(crate) fn erp(&self, instance: usize) -> Erp {
        let instance = &self.instances[instance];
        let text = |name| instance.sandbox().text(name);
        Erp::new(
            &instance.url(),
            text("apiKey"),
            text("supplierCnpj"),
            &self.ledger,
        )
    }

    /// An ERP that calls the first instance's process without the proxy.
    pub(crate) fn direct_erp(&self) -> Erp {
        let sandbox = self.first().sandbox();
        let text = |name| sandbox.text(name);
        Erp::new(
            text("baseUrl"),
            text("apiKey"),
            text("supplierCnpj"),
            &self.ledger,
        )
    }

    /// Starts ERPs on every instance.
    pub(crate) fn begin_load(&self) -> Load {
        Load::begin(&self.ways(), WORKERS)
    }

    /// Starts so many ERPs, on the instances in turn, which offer without a pause.
    pub(crate) fn begin_full_load(&self, clients: usize) -> Load {
        Load::begin_without_pause(&self.ways(), clients)
    }

    fn ways(&self) -> Vec<Erp> {
        let instances = 0..self.instances.len();
        instances.map(|it| self.erp(it)).collect()
    }

    /// Waits until `count` more offers are answered with 201.
    pub(crate) async fn wait_for_offers(&self, count: usize) {
        let enough = self.ledger.acknowledged() + count;
        eventually("offers are answered", || {
            self.ledger.acknowledged() >= enough
        })
        .await;
    }

    /// Waits until `count` webhooks have arrived in total.
    pub(crate) async fn wait_for_arrivals(&self, count: usize) {
        eventually("webhooks arrive", || self.receiver.arrivals() >= count).await;
    }

    /// Waits until the first instance reports this readiness.
    pub(crate) async fn wait_until_ready(&self, is_ready: bool) {
        let (began, expected) = (Instant::now(), if is_ready { 200 } else { 503 });
        let platform = self.first().sandbox().platform();
        while platform.get("/readyz").await.status != expected {
            assert!(began.elapsed() < PATIENCE, "never {expected}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until PostgreSQL shows no lease or lock that would stay forever.
    pub(crate) async fn nothing_lingers(&self, sql: &PgPool) {
        let began = Instant::now();
        loop {
            let lingering: i64 = sqlx::query_scalar(LINGERING).fetch_one(sql).await.unwrap();
            if lingering == 0 {
                break;
            }
            assert!(began.elapsed() < PATIENCE, "{lingering} linger");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The time until an offer is answered with 201, from now on.
    pub(crate) async fn recovery(&self) -> Duration {
        let asked = Instant::now();
        for instance in 0..self.instances.len() {
            self.erp(instance).offer().await;
        }
        asked.elapsed()
    }

    /// Waits until nothing is left to send, then compares the acknowledged offers with the stored
    /// operations and the received events.
    pub(crate) async fn check_consistency(&self) -> Figures {
        consistency::check(self).await
    }
}

/// Waits until `condition` holds.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Expires every lease in PostgreSQL; returns how many there were.
pub(crate) async fn leases_run_out(sql: &PgPool) -> u64 {
    let end = "UPDATE deliveries SET leased_until = 1 WHERE leased_until IS NOT NULL";
    let _ending = Disruption::LeasesEnded.begin();
    let ended = sqlx::query(end).execute(sql).await.unwrap();
    ended.rows_affected()
}

/// Stops PostgreSQL: `fast`, which is in order, or `immediate`, as a power cut would.
pub(crate) async fn stop_database(cluster: &OwnCluster, mode: &str) {
    cluster.control(&format!("--mode {mode} stop")).await;
}
