//! Everything in the file as of one moment, beside the server that has it.
//!
//! A connection of its own that only reads, without the lock file: the log of the database keeps
//! its view as long as the transaction lasts, and nobody waits for it.

mod children;
mod notices;
mod pages;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::{Archive, Read, Record, Snapshot, Unavailable};
use preauth_core::value::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Executor};

use crate::store::OpenError;
use crate::store::archive::Stage;

use super::error::Fault;
use super::migrations;
use super::rows::Columns;
use pages::page;

/// How long the connection waits for a lock, which readers meet only while the log is made anew.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const CACHE_KIB: &str = "-16384";

/// A database file, read past the server.
#[derive(Debug)]
pub(in crate::store) struct SqliteArchive {
    path: PathBuf,
}

impl SqliteArchive {
    /// Fails unless there is a database with a schema that this build works on at `path`.
    pub(in crate::store) async fn open(path: &Path) -> Result<Self, OpenError> {
        super::open::judge_path(path)?;
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
        let mut connection = options(&self.path).connect().await?;
        connection.execute("BEGIN").await?;
        // The view is taken with the first read.
        let row = sqlx::query("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now FROM sequences WHERE name = 'lease'")
            .fetch_one(&mut connection)
            .await?;
        let host_now = Columns::of("sequences", &row).timestamp("now")?;
        Ok(View {
            connection,
            host_now,
            stage: Stage::first(),
        })
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("cache_size", CACHE_KIB)
}

#[async_trait]
impl Archive for SqliteArchive {
    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Unavailable> {
        Ok(Box::new(self.begin().await?))
    }
}

/// A transaction, and how far it was read.
#[derive(Debug)]
struct View {
    connection: SqliteConnection,
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
