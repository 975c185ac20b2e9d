//! A PostgreSQL database per test, copied from a migrated template.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};

use preauth_server::store::migrate;
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::cluster;

const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations/postgres");

/// One database of the tests' server; it ends with that server.
pub struct Database {
    name: String,
}

impl Database {
    /// An empty database with this build's schema.
    pub async fn fresh() -> Self {
        let mut admin = connect("postgres").await;
        let template = template(&mut admin).await;
        let name = cluster::new_name();
        let create = format!("CREATE DATABASE {name} TEMPLATE {template}");
        admin.execute(AssertSqlSafe(create)).await.unwrap();
        admin.close().await.unwrap();
        Self { name }
    }

    /// A database without a schema.
    pub async fn empty() -> Self {
        let mut admin = connect("postgres").await;
        let empty = Self::made_by(&mut admin).await;
        admin.close().await.unwrap();
        empty
    }

    async fn made_by(admin: &mut PgConnection) -> Self {
        let name = cluster::new_name();
        let create = format!("CREATE DATABASE {name}");
        admin.execute(AssertSqlSafe(create)).await.unwrap();
        Self { name }
    }

    /// Its name on the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its URL, as the service takes it.
    pub fn url(&self) -> String {
        url(&self.name)
    }

    /// Direct access, without the service.
    pub async fn sql(&self) -> PgPool {
        let pool = PgPoolOptions::new().max_connections(2);
        pool.connect(&self.url()).await.unwrap()
    }

    /// Prepares it for tests of plans: only the test analyses tables, so that plans and counts of pages are the same in each
    /// run, and triggers also count what a session writes that checks no foreign keys.
    pub async fn without_autovacuum(&self) {
        let prepare = "DO $$
             DECLARE t RECORD;
             BEGIN
                 FOR t IN SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' LOOP
                     EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', t.name);
                 END LOOP;
                 FOR t IN SELECT tgrelid::REGCLASS::TEXT AS name, tgname FROM pg_trigger WHERE NOT tgisinternal LOOP
                     EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER %I', t.name, t.tgname);
                 END LOOP;
             END $$";
        self.sql().await.execute(prepare).await.unwrap();
    }
}

fn url(database: &str) -> String {
    format!("{}/{database}", cluster::url())
}

async fn connect(database: &str) -> PgConnection {
    PgConnection::connect(&url(database)).await.unwrap()
}

/// Every migration, in order.
fn schema() -> Vec<(OsString, String)> {
    let steps = std::fs::read_dir(MIGRATIONS).unwrap();
    let steps = steps.map(|step| {
        let step = step.unwrap();
        let sql = std::fs::read_to_string(step.path()).unwrap();
        (step.file_name(), sql)
    });
    let mut steps: Vec<_> = steps.collect();
    steps.sort();
    steps
}

/// The template database; the first process that needs it creates it.
async fn template(admin: &mut PgConnection) -> String {
    let mut hasher = DefaultHasher::new();
    schema().hash(&mut hasher);
    let name = format!("template_{:x}", hasher.finish());
    admin.execute("SELECT pg_advisory_lock(1)").await.unwrap();
    let exists: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)")
            .bind(&name)
            .fetch_one(&mut *admin)
            .await
            .unwrap();
    if !exists {
        let raw = Database::made_by(admin).await;
        migrate(&raw.url()).await.unwrap();
        let rename = format!("ALTER DATABASE {} RENAME TO {name}", raw.name);
        admin.execute(AssertSqlSafe(rename)).await.unwrap();
    }
    admin.execute("SELECT pg_advisory_unlock(1)").await.unwrap();
    name
}
