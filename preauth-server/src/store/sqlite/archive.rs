//! Reads the whole file while a server uses it. Each page is a short transaction, because the log
//! grows during a long one.
//!
//! The connection only reads, without the lock file, and blocks no other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::{Archive, Page, Pages, Unavailable};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Executor};

use crate::store::OpenError;
use crate::store::archive::Stage;
use crate::store::error::Fault;
use crate::store::sql::archive::page;

use super::migrations;
use super::rows::Columns;

/// Timeout of waiting for a lock, which readers meet only while the log is restarted.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const CACHE_KIB: &str = "-16384";

/// A database file, read without a server.
#[derive(Debug)]
pub(in crate::store) struct SqliteArchive {
    path: PathBuf,
}

impl SqliteArchive {
    /// Fails unless `path` has a database whose schema this build supports.
    pub(in crate::store) async fn open(path: &Path) -> Result<Self, OpenError> {
        super::open::check_path(path)?;
        let failed = |cause: sqlx::Error| OpenError::Database {
            path: path.to_owned(),
            cause: Box::new(cause),
        };
        let mut connection = options(path).connect().await.map_err(failed)?;
        let checked = migrations::check(&mut connection).await;
        checked.map_err(|fault| match fault {
            Fault::Schema(mismatch) => OpenError::SchemaMismatch {
                database: path.display().to_string(),
                mismatch,
            },
            cause => OpenError::Database {
                path: path.to_owned(),
                cause: Box::new(cause),
            },
        })?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    async fn begin(&self) -> Result<View, Fault> {
        Ok(View {
            connection: options(&self.path).connect().await?,
            stage: Stage::first(),
        })
    }
}

/// The options for reading the file while its server uses it.
pub(super) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("cache_size", CACHE_KIB)
}

#[async_trait]
impl Archive for SqliteArchive {
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
        Ok(Box::new(self.begin().await?))
    }
}

/// A connection, and the stage that it has reached.
#[derive(Debug)]
struct View {
    connection: SqliteConnection,
    stage: Stage,
}

impl View {
    /// The page at the current stage, in one transaction.
    async fn page(&mut self, limit: u32) -> Result<Page, Fault> {
        self.connection.execute("BEGIN").await?;
        let row = sqlx::query("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now")
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
