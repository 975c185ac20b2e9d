//! The store under a run: the host in memory, or a real database.

mod mails;
mod memory;
mod paged;
mod real;
mod register;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::memory::MemoryStore;
use preauth_core::port::{Archive, EventFeed, Outbox, PlatformReply, Queries, Store, Unavailable};
use preauth_core::value::{Cnpj, DeliveryId, EndpointId, ExtensionId, IdempotencyKey, Timestamp};
use preauth_server::directory::{Company, DirectoryError, SealedSecret};
use preauth_server::mail::MailQueue;

use crate::clock::SimClock;
use crate::defect::Defect;
use crate::scene::Scene;

use memory::Host;
use paged::Paged;
use register::Register;

pub(crate) use register::{NewRecord, Record};

/// The kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
    Postgres,
}

/// All ports of a database, and direct access to it.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) queries: Arc<dyn Queries>,
    pub(crate) feed: Arc<dyn EventFeed>,
    pub(crate) archive: Arc<dyn Archive>,
    pub(crate) desk: Arc<dyn Desk>,
    /// The mails that commits stage; the host in memory keeps none.
    pub(crate) mails: Option<Arc<dyn MailQueue>>,
}

/// Actions of the platform's operators, and effects of time on the database's own clock.
#[async_trait]
pub(crate) trait Desk: Send + Sync {
    async fn pause(&self, endpoint: EndpointId, at: Timestamp);

    async fn resume(&self, endpoint: EndpointId, at: Timestamp);

    /// Returns `false` when the delivery cannot be resent now.
    async fn resend(&self, delivery: DeliveryId, at: Timestamp) -> bool;

    /// Adds a secret as the endpoint's newest; the others end at `others_until`, or now.
    async fn rotate(
        &self,
        endpoint: EndpointId,
        sealed: SealedSecret,
        at: Timestamp,
        others_until: Timestamp,
    );

    async fn move_to(&self, endpoint: EndpointId, url: String);

    async fn reserve_extension(&self) -> ExtensionId;

    /// A standby promoted now, whose sequences continue `skipped` ids after the newest committed
    /// id; `None` where only a drill has a standby.
    fn promoted(&self, skipped: i64) -> Option<Ground>;

    /// Shortens all leases.
    async fn advance_leases(&self, by: TimeDelta);

    /// Creates a record of the directory.
    async fn register(&self, new: NewRecord) -> Result<(), DirectoryError>;

    async fn company_by_cnpj(&self, cnpj: &Cnpj) -> Result<Option<Company>, Unavailable>;

    /// The ids of the companies and keys that were registered during the run.
    async fn registered(&self) -> BTreeSet<String>;

    /// A reply that was stored with such a record, where [`Store`] does not know it.
    fn reply(&self, key: &IdempotencyKey) -> Option<PlatformReply>;
}

impl Kind {
    /// Whether an effect and its record in the history are atomic.
    pub(crate) const fn is_exact(self) -> bool {
        matches!(self, Self::Memory)
    }

    /// A database with the scene's companies and endpoints, one connection for each of `instances`; a real one
    /// with `defect`, if that is the database's.
    pub(crate) async fn prepare(
        self,
        scene: &Scene,
        clock: &Arc<SimClock>,
        instances: usize,
        defect: Option<Defect>,
    ) -> Vec<Ground> {
        match self {
            Self::Memory => {
                let store = scene.store(Arc::clone(clock));
                vec![Ground::in_memory(store, Arc::default()); instances]
            }
            Self::Sqlite | Self::Postgres => real::prepare(self, scene, instances, defect).await,
        }
    }
}

impl Ground {
    fn in_memory(store: Arc<MemoryStore>, register: Arc<Register>) -> Self {
        Self {
            store: Arc::<MemoryStore>::clone(&store),
            outbox: Arc::<MemoryStore>::clone(&store),
            queries: Arc::<MemoryStore>::clone(&store),
            feed: Arc::<MemoryStore>::clone(&store),
            archive: Arc::new(Paged(Arc::<MemoryStore>::clone(&store))),
            desk: Arc::new(Host { store, register }),
            mails: None,
        }
    }

    /// The reply of a key of the platform API, expired or not.
    pub(crate) async fn platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable> {
        let stored = self.store.load_platform_reply(key).await?;
        Ok(stored.or_else(|| self.desk.reply(key)))
    }

    fn of<G>(ground: Arc<G>, mails: Arc<dyn MailQueue>) -> Self
    where
        G: Store + Outbox + Queries + EventFeed + Archive + Desk + 'static,
    {
        Self {
            store: Arc::<G>::clone(&ground),
            outbox: Arc::<G>::clone(&ground),
            queries: Arc::<G>::clone(&ground),
            feed: Arc::<G>::clone(&ground),
            archive: Arc::<G>::clone(&ground),
            desk: ground,
            mails: Some(mails),
        }
    }
}

impl fmt::Debug for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ground").finish_non_exhaustive()
    }
}
