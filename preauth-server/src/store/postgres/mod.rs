//! The database of production: many server instances on one PostgreSQL.
//!
//! Nothing that another instance must know is kept in memory. Reads see one moment, writes are one
//! transaction each (see `session`), commits of concurrent callers one together (see `writer`); the
//! constraints of the schema say what may stand beside what.

mod access;
mod api_keys;
mod archive;
mod commit;
mod companies;
mod connections;
mod deliveries;
mod durability;
mod endpoints;
mod error;
mod extensions;
mod front;
mod grouping;
mod held;
mod history;
mod housekeeping;
mod identity;
mod invoice_files;
mod invoices;
mod load;
mod migrations;
mod notices;
mod offers;
mod open;
mod operations;
mod outbox;
mod parties;
mod payment_orders;
mod platform_replies;
mod primary;
mod queries;
mod rate_counts;
mod reads;
mod rows;
mod sandbox;
mod sequences;
mod session;
mod statement;
mod store;
mod untransacted;
mod users;
mod wake;
mod watch;
mod writer;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::{OfferTarget, Unavailable};
use sqlx::PgConnection;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::fair::Budget;
use crate::store::DatabaseUrl;
use crate::worker::LoopHealth;

use super::exhausted::ExhaustedKeys;
use super::set_aside::SetAside;
use super::{Lifecycle, Moments, OpenError, Unfit};
use access::KeyLookups;
pub(super) use archive::PostgresArchive;
use connections::Connections;
use error::Fault;
use front::Fronts;
use grouping::Grouped;
use offers::Found;
use outbox::{Cursors, Finisher};
use primary::{Primary, Watcher};
use reads::SharedRead;
use rows::Columns;
use wake::Wake;
use writer::{Aside, BulkWriter, Writer};

pub(super) use open::validate_url;
pub(super) use sandbox::{claim_for_sandbox, sandbox_is_seeded};

/// How long a check may take, so that whoever asks for it learns the reason before giving up.
const CHECK_TIMEOUT: Duration = Duration::from_secs(4);

/// All ports over one PostgreSQL database.
pub struct PostgresStore {
    connections: Connections,
    /// In front of the connections that one request has for itself.
    room: Budget,
    writer: Grouped<Writer>,
    aside: Aside,
    bulk_writer: Grouped<BulkWriter>,
    offers: Grouped<SharedRead<OfferTarget, Option<Found>>>,
    lookups: Grouped<KeyLookups>,
    /// For the dispatcher's looks, which come one after the other.
    claims: Connections,
    cursors: Cursors,
    fronts: Arc<Fronts>,
    finisher: Grouped<Finisher>,
    wake: Arc<Wake>,
    primary: Arc<Primary>,
    watcher: Watcher,
    /// That an endpoint's deliveries are left to be settled.
    unsettled: Arc<Notify>,
    set_aside: Arc<SetAside>,
    exhausted: ExhaustedKeys,
}

impl PostgresStore {
    /// Connects to the database that `url` names, which must have taken every step of this build.
    ///
    /// Nothing is created or changed: that is what [`PostgresStore::migrate`] is for.
    pub async fn open(url: &DatabaseUrl) -> Result<Self, OpenError> {
        open::open(url).await
    }

    /// Brings the schema of the database that `url` names up to this build's; one instance at a
    /// time, others wait.
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

    /// None: what sends and hears wake-ups only gives hints.
    fn loops(&self) -> Vec<Arc<LoopHealth>> {
        Vec::new()
    }

    async fn close(&self) {
        self.writer.close().await;
        self.aside.close().await;
        self.bulk_writer.close().await;
        self.offers.close().await;
        self.lookups.close().await;
        self.finisher.close().await;
        self.claims.close().await;
        self.watcher.end();
        self.wake.end();
        self.connections.close().await;
    }

    fn deliveries_waiting(&self) -> Arc<Notify> {
        self.wake.waiting()
    }
}

/// A standby answers reads, and a database may have been set to take no writes.
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
    // The ids of events begin with their moment.
    let row = sqlx::query(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT AS now,
                (SELECT at FROM events ORDER BY id DESC LIMIT 1) AS latest",
    )
    .fetch_one(connection)
    .await?;
    let columns = Columns::of("events", &row);
    Ok(Moments {
        now: Some(columns.timestamp("now")?),
        latest_recorded: columns.optional_timestamp("latest")?,
    })
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}
