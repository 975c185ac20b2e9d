//! Everything in the database as of one moment, beside the instances that work on it.

mod children;
mod notices;
mod pages;

use async_trait::async_trait;
use preauth_core::port::{Archive, Read, Record, Snapshot, Unavailable};
use preauth_core::value::Timestamp;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Executor};

use crate::store::OpenError;
use crate::store::archive::Stage;

use super::error::Fault;
use super::open;
use super::rows::Columns;
use pages::page;

/// Every page is a range of an index. The planner, who does not know that they are small, would
/// now and then read whole tables for one; and nobody waits for a statement of this session.
const SESSION: [(&str, &str); 5] = [
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("statement_timeout", "10min"),
    ("idle_in_transaction_session_timeout", "1min"),
];

/// A database, read past the servers.
#[derive(Debug)]
pub(in crate::store) struct PostgresArchive {
    options: PgConnectOptions,
}

impl PostgresArchive {
    /// Fails unless there is a database at `url` with a schema that this build works on.
    pub(in crate::store) async fn open(url: &str) -> Result<Self, OpenError> {
        let options = open::checked(url).await?.options(SESSION);
        Ok(Self { options })
    }

    async fn begin(&self) -> Result<View, Fault> {
        let mut connection = self.options.connect().await?;
        connection
            .execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await?;
        // The view is taken with the first statement.
        let row =
            sqlx::query("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT AS now")
                .fetch_one(&mut connection)
                .await?;
        let host_now = Columns::of("the clock", &row).timestamp("now")?;
        Ok(View {
            connection,
            host_now,
            stage: Stage::first(),
        })
    }
}

#[async_trait]
impl Archive for PostgresArchive {
    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Unavailable> {
        Ok(Box::new(self.begin().await?))
    }
}

/// A transaction, and how far it was read.
#[derive(Debug)]
struct View {
    connection: PgConnection,
    host_now: Timestamp,
    stage: Stage,
}

#[async_trait]
impl Snapshot for View {
    fn host_now(&self) -> Timestamp {
        self.host_now
    }

    async fn next(&mut self, limit: u32) -> Result<Vec<Read<Record>>, Unavailable> {
        while self.stage != Stage::End {
            let (records, next) = page(&mut self.connection, &self.stage, limit).await?;
            self.stage = next;
            if !records.is_empty() {
                return Ok(records);
            }
        }
        Ok(Vec::new())
    }
}
