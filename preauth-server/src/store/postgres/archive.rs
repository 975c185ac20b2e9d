//! Reads the whole database while instances work on it. Each page is a short transaction, because a
//! long one prevents old row versions from being removed.

use async_trait::async_trait;
use preauth_core::port::{Archive, Page, Pages, Unavailable};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Executor};

use crate::store::DatabaseUrl;
use crate::store::OpenError;
use crate::store::archive::Stage;
use crate::store::error::Fault;
use crate::store::sql::archive::page;

use super::open;
use super::rows::Columns;

/// Every page is a range of an index. The planner does not know that the ranges are small and would
/// sometimes read whole tables; and no caller waits for a statement of this session.
const SESSION: [(&str, &str); 9] = [
    ("enable_seqscan", "off"),
    // These would read a whole range before they return its first row. Incremental sorting stays on: it
    // sorts the columns that an index does not, in small parts.
    ("enable_bitmapscan", "off"),
    ("enable_sort", "off"),
    ("enable_material", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    // Compiling a page's statement takes longer than running it.
    ("jit", "off"),
    ("statement_timeout", "10min"),
    ("idle_in_transaction_session_timeout", "1min"),
];

/// A database, read without a server.
#[derive(Debug)]
pub(in crate::store) struct PostgresArchive {
    options: PgConnectOptions,
}

impl PostgresArchive {
    /// Fails unless `url` names a database whose schema this build supports.
    pub(in crate::store) async fn open(url: &DatabaseUrl) -> Result<Self, OpenError> {
        let options = open::checked(url).await?.options(SESSION);
        Ok(Self { options })
    }

    async fn begin(&self) -> Result<View, Fault> {
        Ok(View {
            connection: self.options.connect().await?,
            stage: Stage::first(),
        })
    }
}

#[async_trait]
impl Archive for PostgresArchive {
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
        Ok(Box::new(self.begin().await?))
    }
}

/// A connection, and the stage that it has reached.
#[derive(Debug)]
struct View {
    connection: PgConnection,
    stage: Stage,
}

impl View {
    /// The page at the current stage, in one transaction.
    async fn page(&mut self, limit: u32) -> Result<Page, Fault> {
        self.connection
            .execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await?;
        let row =
            sqlx::query("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT AS now")
                .fetch_one(&mut self.connection)
                .await?;
        let host_now = Columns::of("the clock", &row).timestamp("now")?;
        let (records, next) = page(&mut self.connection, &self.stage, limit).await?;
        self.connection.execute("COMMIT").await?;
        self.stage = next;
        Ok(Page { host_now, records })
    }
}

#[async_trait]
impl Pages for View {
    async fn next(&mut self, limit: u32) -> Result<Page, Unavailable> {
        let mut read = self.page(limit).await?;
        while read.records.is_empty() && self.stage != Stage::End {
            read = self.page(limit).await?;
        }
        Ok(read)
    }
}
