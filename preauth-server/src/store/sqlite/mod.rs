//! The embedded database: one file, one process, one writer.
//!
//! Reads use a small pool of read-only connections, each with one snapshot; those of every get and create
//! are combined (see `shared_read`). Writes are jobs of one
//! task that owns the only writing connection (see `writer`). A lock file prevents a second server
//! from opening the same file, so ids may be counted in memory.

mod access;
mod archive;
mod backup;
mod checkup;
mod commit;
mod counters;
mod database;
mod feed;
mod housekeeping;
mod identity;
mod key_cache;
mod load;
mod mails;
mod migrations;
mod offers;
mod open;
mod operations;
mod outbox;
mod rate_windows;
mod reader;
mod room;
mod rows;
mod sandbox;
mod settle;
mod shared_read;
mod statistics;
mod store;
mod waiting;
mod watch;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::Unavailable;
use preauth_core::value::{OperationId, Timestamp};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::Sqlite;
use sqlx::{Executor, SqliteConnection, Transaction};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::fair::Budget;
use crate::log::chain;
use crate::worker::LoopHealth;

use super::full_mailboxes::FullMailboxes;
use super::set_aside::SetAside;
use super::{Lifecycle, Moments, OpenError, Unfit};
use crate::store::error::{Fault, unavailable};
use crate::store::grouping::Grouped;
use crate::store::idle_stack::IdleStack;
use crate::store::rows::FoundOffer;
pub(super) use archive::{SqliteArchive, pending_steps};
pub use backup::SqliteImport;
pub(super) use backup::{compare, export};
pub(super) use checkup::check_up;
use counters::Counters;
use key_cache::KeyCache;
use mails::MailTurns;
use offers::NewOffer;
use rate_windows::RateWindows;
use reader::Reader;
pub(super) use sandbox::{claim_for_sandbox, discard_sandbox, sandbox_is_seeded};
use shared_read::SharedRead;
use writer::Writer;

pub(super) use open::check_path;

/// All ports over one SQLite file.
pub struct SqliteStore {
    path: PathBuf,
    /// The stack is for combined reads; others take the pool's connections.
    readers: IdleStack<Sqlite>,
    /// Limits the reads that have a connection of their own.
    reads: Budget,
    offers: Grouped<SharedRead<NewOffer, Option<FoundOffer>>>,
    operations: Grouped<SharedRead<OperationId, Option<Operation>>>,
    writer: Arc<Writer>,
    keys: Arc<KeyCache>,
    windows: Arc<RateWindows>,
    /// Tasks that end with the store.
    _tasks: JoinSet<()>,
    counters: Counters,
    mail_turns: MailTurns,
    full_mailboxes: Arc<FullMailboxes>,
    waiting: Arc<Notify>,
    /// Notified after an event was committed.
    committed: Arc<Notify>,
    /// Notified when an endpoint's deliveries are left to be settled.
    unsettled: Arc<Notify>,
    set_aside: Arc<SetAside>,
}

impl SqliteStore {
    /// Opens the database at `path`, and creates and migrates it as needed.
    ///
    /// A new folder gets mode 0700, a new file 0600. Fails when another process has it open, when
    /// it cannot be opened, and when this build cannot migrate its schema.
    pub async fn open(path: &Path) -> Result<Self, OpenError> {
        open::open(path).await
    }

    /// A read-only connection.
    async fn reader(&self) -> Result<Reader<PoolConnection<Sqlite>>, Fault> {
        let room = self.reads.acquire(1).await?;
        Ok(Reader::new(self.readers.pool().acquire().await?, room))
    }

    /// A read-only transaction: every statement in it sees the same snapshot.
    async fn snapshot(&self) -> Result<Reader<Transaction<'static, Sqlite>>, Fault> {
        let room = self.reads.acquire(1).await?;
        Ok(Reader::new(self.readers.pool().begin().await?, room))
    }
}

#[async_trait]
impl Lifecycle for SqliteStore {
    async fn check(&self) -> Result<(), Unfit> {
        let mut reader = self.reader().await?;
        migrations::check(&mut reader).await?;
        let probe = self.writer.write_relaxed((), |connection, ()| {
            // It writes the first page again, though its content stays: only a writer whose disk takes it answers.
            let written = connection.execute("PRAGMA user_version = 0");
            Box::pin(async { Ok(written.await.map(drop)?) })
        });
        let probed = probe.await.map_err(unavailable);
        match self.writer.room().find(&self.path).await {
            Ok(()) => probed.map_err(Unfit::Unreachable),
            Err(error) => Err(Unfit::Full(Unavailable {
                cause: Box::new(error),
            })),
        }
    }

    async fn is_full(&self) -> bool {
        self.writer.room().find(&self.path).await.is_err()
    }

    async fn moments(&self) -> Result<Moments, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(moments(&mut reader).await?)
    }

    fn loops(&self) -> Vec<Arc<LoopHealth>> {
        vec![self.writer.health()]
    }

    async fn close(&self) {
        // Readers first: the last connection to close moves the log into the database file.
        self.offers.close().await;
        self.operations.close().await;
        self.readers.close().await;
        if let Err(error) = self.windows.save(&self.writer).await {
            let error = chain(&error);
            tracing::warn!(
                error,
                "rate windows were not saved; callers may gain from it"
            );
        }
        self.writer.close().await;
    }

    fn deliveries_waiting(&self) -> Arc<Notify> {
        Arc::clone(&self.waiting)
    }
}

async fn moments(connection: &mut SqliteConnection) -> Result<Moments, Fault> {
    // The ids of events begin with their time.
    let latest: Option<i64> = sqlx::query_scalar("SELECT at FROM events ORDER BY id DESC LIMIT 1")
        .fetch_optional(connection)
        .await?;
    Ok(Moments {
        now: None,
        latest_recorded: latest.and_then(Timestamp::from_unix_millis),
    })
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}
