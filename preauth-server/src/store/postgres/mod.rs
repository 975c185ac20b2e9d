//! The database for production: many server instances on one PostgreSQL database.
//!
//! State that other instances need is never kept in memory. Reads see one snapshot, writes are one
//! transaction each (see `session`), and concurrent commits share one (see `writer`); the schema's
//! constraints decide which records may coexist.

mod access;
mod archive;
mod backup;
mod checkup;
mod commit;
mod connections;
mod database;
mod durability;
mod feed;
mod front;
mod held;
mod housekeeping;
mod identity;
mod load;
mod mails;
mod migrations;
mod offers;
mod open;
mod operations;
mod outbox;
mod places;
mod primary;
mod rate_counts;
mod reads;
mod rows;
mod sandbox;
mod sequences;
mod session;
mod settle;
mod statement;
mod store;
mod tls_files;
mod untransacted;
mod waiting;
mod wake;
mod warm_up;
mod watch;
mod writer;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::{OfferTarget, Unavailable};
use preauth_core::value::{OperationId, Timestamp};
use sqlx::PgConnection;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::fair::Budget;
use crate::store::DatabaseUrl;
use crate::worker::LoopHealth;

use super::exhausted::ExhaustedKeys;
use super::full_mailboxes::FullMailboxes;
use super::set_aside::SetAside;
use super::{Lifecycle, Moments, OpenError, Unfit};
use crate::store::error::Fault;
use crate::store::grouping::Grouped;
use crate::store::rows::FoundOffer;
use access::KeyLookups;
pub(super) use archive::PostgresArchive;
pub use backup::PostgresImport;
pub(super) use backup::export;
pub(super) use checkup::check_up;
use connections::Connections;
use front::Fronts;
use held::HeldOffices;
use mails::{DueMails, MailFinisher};
use outbox::{Cursors, Finisher};
use primary::{Primary, Watcher};
use reads::SharedRead;
use rows::Columns;
use session::LockedWrites;
use wake::Wake;
use warm_up::{KEPT, Keeper};
use writer::{Aside, BulkWriter, Writer};

pub(super) use open::{pending_steps, validate_url};
pub(super) use sandbox::{claim_for_sandbox, sandbox_is_seeded};

/// Timeout of a check, short enough that the caller gets the reason before its own timeout.
const CHECK_TIMEOUT: Duration = Duration::from_secs(4);

/// All ports over one PostgreSQL database.
pub struct PostgresStore {
    connections: Connections,
    /// Limits the requests that have a connection of their own.
    room: Budget,
    /// Limits the writes among them.
    room_to_write: Budget,
    locked_writes: LockedWrites,
    writer: Grouped<Writer>,
    aside: Aside,
    bulk_writer: Grouped<BulkWriter>,
    offers: Grouped<SharedRead<OfferTarget, Option<FoundOffer>>>,
    operations: Grouped<SharedRead<OperationId, Option<Operation>>>,
    lookups: Grouped<KeyLookups>,
    /// For the dispatcher's polls, which run one after the other.
    claims: Connections,
    cursors: Cursors,
    /// For mails: one claim at a time, and the recording of mails sent in the meantime.
    mails: Connections,
    due_mails: Arc<DueMails>,
    full_mailboxes: Arc<FullMailboxes>,
    mail_finisher: Grouped<MailFinisher>,
    fronts: Fronts,
    held_offices: HeldOffices,
    finisher: Grouped<Finisher>,
    wake: Arc<Wake>,
    primary: Arc<Primary>,
    watcher: Watcher,
    /// For what each create and each delivery needs.
    in_turn: Connections,
    keeper: Keeper,
    /// Notified when an endpoint's deliveries are left to be settled.
    unsettled: Arc<Notify>,
    set_aside: Arc<SetAside>,
    exhausted: ExhaustedKeys,
}

impl PostgresStore {
    /// Connects to the database that `url` names, which must have every migration of this build.
    ///
    /// Nothing is created or changed; [`PostgresStore::migrate`] does that.
    pub async fn open(url: &DatabaseUrl) -> Result<Self, OpenError> {
        open::open(url).await
    }

    /// Migrates the schema of the database that `url` names to this build's; concurrent calls wait
    /// for each other.
    pub async fn migrate(url: &DatabaseUrl) -> Result<(), OpenError> {
        open::migrate(url).await
    }
}

#[async_trait]
impl Lifecycle for PostgresStore {
    async fn check(&self) -> Result<(), Unfit> {
        let checking = self.read(&(), |connection, ()| Box::pin(check(connection)));
        let checked = timeout(CHECK_TIMEOUT, checking).await;
        let without_answer = || self.primary.refusal().map_or(Fault::TimedOut, Fault::from);
        Ok(checked.unwrap_or_else(|_| Err(without_answer()))?)
    }

    async fn moments(&self) -> Result<Moments, Unavailable> {
        let moments = self.read(&(), |connection, ()| Box::pin(moments(connection)));
        Ok(moments.await?)
    }

    fn switches(&self) -> u64 {
        *self.primary.switches().borrow()
    }

    async fn warm_up(&self) {
        self.in_turn.keep_open(KEPT).await;
    }

    /// None: the tasks that send and receive wake-ups only provide hints.
    fn loops(&self) -> Vec<Arc<LoopHealth>> {
        Vec::new()
    }

    async fn close(&self) {
        self.writer.close().await;
        self.aside.close().await;
        self.bulk_writer.close().await;
        self.offers.close().await;
        self.operations.close().await;
        self.lookups.close().await;
        self.finisher.close().await;
        self.mail_finisher.close().await;
        self.keeper.end();
        self.in_turn.close().await;
        self.claims.close().await;
        self.mails.close().await;
        self.locked_writes.close().await;
        self.watcher.end();
        self.wake.end();
        self.connections.close().await;
    }

    fn deliveries_waiting(&self) -> Arc<Notify> {
        self.wake.waiting()
    }
}

/// A standby answers reads, and a database may be set to read-only.
async fn check(connection: &mut PgConnection) -> Result<(), Fault> {
    migrations::check(connection).await?;
    let read_only: String = sqlx::query_scalar("SELECT current_setting('transaction_read_only')")
        .fetch_one(connection)
        .await?;
    if read_only == "off" {
        Ok(())
    } else {
        Err(Fault::ReadOnly)
    }
}

async fn moments(connection: &mut PgConnection) -> Result<Moments, Fault> {
    // The ids of events begin with their time.
    let row = sqlx::query(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT AS now,
                (SELECT at FROM events ORDER BY id DESC LIMIT 1) AS latest",
    )
    .fetch_one(connection)
    .await?;
    let columns = Columns::of("events", &row);
    let latest: Option<i64> = columns.raw("latest")?;
    Ok(Moments {
        now: Some(columns.timestamp("now")?),
        // A time out of range does not show that a clock is wrong.
        latest_recorded: latest.and_then(Timestamp::from_unix_millis),
    })
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}
