//! A PostgreSQL database for each test, copied from one that was migrated once.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};

use preauth_server::store::migrate;
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::cluster;

pub(crate) type Sql = PgPool;

const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/postgres");

/// One database of the tests' server, which it goes down with.
pub(crate) struct Database {
    name: String,
}

impl Database {
    /// One with this build's schema and nothing in it.
    pub(crate) async fn fresh() -> Self {
        let mut admin = connect("postgres").await;
        let template = template(&mut admin).await;
        let name = cluster::new_name();
        let create = format!("CREATE DATABASE {name} TEMPLATE {template}");
        admin.execute(AssertSqlSafe(create)).await.unwrap();
        admin.close().await.unwrap();
        Self { name }
    }

    /// One with nothing at all in it.
    pub(crate) async fn empty() -> Self {
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

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn url(&self) -> String {
        url(&self.name)
    }

    pub(crate) async fn sql(&self) -> Sql {
        let pool = PgPoolOptions::new().max_connections(2);
        pool.connect(&self.url()).await.unwrap()
    }
}

fn url(database: &str) -> String {
    format!("{}/{database}", cluster::url())
}

async fn connect(database: &str) -> PgConnection {
    PgConnection::connect(&url(database)).await.unwrap()
}

/// Every step, in order.
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

/// The database to copy; made by whoever comes first, in whichever process.
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
