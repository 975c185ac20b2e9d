//! A database, its instances, and a company with a key: everything a create needs.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::company::{self, Company};
use crate::connection::{micros, now};
use crate::http::call;
use crate::run::Run;
use crate::server::{self, Disk, Server};

/// Nobody listens here; the endpoint is paused.
const NOWHERE: &str = "http://127.0.0.1:9/";

/// Whether all events on PostgreSQL have their numbers, which an instance gives them after their commits.
pub(crate) const IS_NUMBERED: &str =
    "SELECT (SELECT max(xid) FROM events) < next_xid FROM event_batches
    ORDER BY number DESC LIMIT 1";
/// Whether every mail that may be sent now was sent.
const ARE_SENT: &str = "SELECT NOT EXISTS (SELECT 1 FROM notices
    WHERE status = 'PENDING' AND NOT is_held AND next_attempt_at <= extract(epoch FROM now()) * 1000)";
/// Whether nobody else has begun a transaction.
const IS_AT_REST: &str = "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_activity
    WHERE xact_start IS NOT NULL AND backend_type = 'client backend' AND pid <> pg_backend_pid())";
/// So long that looking costs little beside what is waited for.
const PAUSE: Duration = Duration::from_secs(1);
const SHORT_PAUSE: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_mins(5);

pub(crate) struct Scene {
    /// Declared before the cluster: servers stop first.
    pub(crate) servers: Vec<Server>,
    pub(crate) payer: Company,
    pub(crate) supplier: String,
    cluster: Option<Cluster>,
    folder: TempDir,
}

impl Scene {
    /// A scene on PostgreSQL.
    pub(crate) fn postgres(run: &Run) -> Self {
        Self::on(Some(Cluster::start(run)), Disk::Own)
    }

    /// A scene on SQLite.
    pub(crate) fn sqlite(disk: Disk) -> Self {
        Self::on(None, disk)
    }

    fn on(cluster: Option<Cluster>, disk: Disk) -> Self {
        let folder = TempDir::new().unwrap();
        let url = url(cluster.as_ref(), &folder);
        server::migrate(&url, folder.path());
        let server = Server::start(&url, folder.path(), disk);
        let platform = server.platform.clone();
        let payer = Company::register(&platform, 1);
        let supplier = company::register_supplier(&platform);
        // Paused, so that deliveries are written and nothing is sent.
        company::register_endpoint(&platform, &payer.id, NOWHERE);
        let pause = format!("/companies/{}/webhook-endpoint/pause", payer.id);
        call(&platform, "POST", &pause, &json!({}));
        Self {
            servers: vec![server],
            payer,
            supplier,
            cluster,
            folder,
        }
    }

    /// Starts `instances` more instances.
    pub(crate) fn start(&mut self, instances: usize) {
        let url = url(self.cluster.as_ref(), &self.folder);
        for _ in 0..instances {
            let server = Server::start(&url, self.folder.path(), Disk::Own);
            self.servers.push(server);
        }
    }

    /// Replaces the instances by one that has the limits of a server without settings.
    pub(crate) fn restart_with_default_limits(&mut self) {
        self.servers.clear();
        let url = url(self.cluster.as_ref(), &self.folder);
        let server = Server::start_with_default_limits(&url, self.folder.path());
        self.servers.push(server);
    }

    /// Replaces the instances by one on another database of the cluster.
    pub(crate) fn move_to(&mut self, database: &str) {
        self.servers.clear();
        self.cluster.as_mut().unwrap().choose(database);
        self.start(1);
    }

    /// The integration API's address; clients are spread over the instances in turn.
    pub(crate) fn address(&self, client: usize) -> &str {
        let server = self.servers.iter().cycle().nth(client).unwrap();
        &server.address
    }

    /// The platform API's address.
    pub(crate) fn platform(&self) -> &str {
        &self.servers.first().unwrap().platform
    }

    /// The database server of a scene on PostgreSQL.
    pub(crate) fn cluster(&self) -> &Cluster {
        self.cluster.as_ref().unwrap()
    }

    /// The process id of the database server; `None` on SQLite.
    pub(crate) fn database_process(&self) -> Option<u32> {
        self.cluster.as_ref().map(|cluster| cluster.process)
    }

    /// The file of a scene on SQLite.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("preauth.db")
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Looks, with a pause after each look, until what the instances do is done; returns the milliseconds that it took.
    pub(crate) fn wait_until(&self, is_done: &str, pause: Duration) -> u64 {
        let begun = now();
        while self.cluster().sql(is_done) == "f" {
            assert!(begun.elapsed() < PATIENCE, "not done: {is_done}");
            thread::sleep(pause);
        }
        micros(begun) / 1000
    }

    /// Waits for what creates leave to do later: their mails, and the numbers of their events.
    pub(crate) fn settle(&self) {
        self.wait_until(ARE_SENT, PAUSE);
        self.wait_until(IS_NUMBERED, PAUSE);
    }

    /// Stops all instances, between two transactions.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
        while self.cluster().sql(IS_AT_REST) == "f" {
            self.thaw();
            thread::sleep(SHORT_PAUSE);
            self.signal("-STOP");
        }
    }

    /// Lets the instances go on.
    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        for server in &self.servers {
            server.signal(signal);
        }
    }

    /// The ids of the records that the baseline's rows refer to.
    pub(crate) fn ids(&self) -> Vec<(&'static str, String)> {
        let sql = |statement| self.cluster().sql(statement);
        vec![
            ("payer", self.payer.id.clone()),
            ("supplier", self.supplier.clone()),
            ("cnpj", company::supplier_cnpj()),
            (
                "endpoint",
                sql("SELECT id FROM endpoints WHERE deleted_at IS NULL LIMIT 1"),
            ),
            (
                "hash",
                sql("SELECT encode(hash, 'hex') FROM api_keys LIMIT 1"),
            ),
            ("low", sql("SELECT coalesce(min(id), 0) FROM operations")),
            ("high", sql("SELECT coalesce(max(id), 0) FROM operations")),
        ]
    }
}

fn url(cluster: Option<&Cluster>, folder: &TempDir) -> String {
    match cluster {
        Some(cluster) => cluster.url.clone(),
        None => format!("sqlite://{}/preauth.db", folder.path().display()),
    }
}
