//! The machine of each instance, with a clock that actors and faults set, and the clock watch.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use preauth_server::clock::{Clock, ServingClock, Uptime};
use preauth_server::hold::{Deployment, DeploymentId, Hold, Identity};
use preauth_server::hold_watch::HoldWatch;
use preauth_server::store::{Lifecycle, Moments, Unfit};
use preauth_server::worker::LoopHealth;
use tokio::sync::Notify;

use crate::clock::SimClock;

/// A machine's own clock; the simulation's is the database's.
#[derive(Debug)]
pub(crate) struct Machine {
    database: Arc<SimClock>,
    ahead_ms: AtomicI64,
}

impl Machine {
    pub(crate) fn new(database: Arc<SimClock>) -> Self {
        Self {
            database,
            ahead_ms: AtomicI64::new(0),
        }
    }

    /// Sets its clock ahead of the database's.
    pub(crate) fn set(&self, ahead: TimeDelta) {
        self.ahead_ms
            .store(ahead.num_milliseconds(), Ordering::Relaxed);
    }

    /// The watch that holds an instance on this machine.
    pub(crate) fn watch(self: &Arc<Self>) -> HoldWatch {
        let (machine, database) = (Arc::clone(self), Arc::clone(&self.database));
        let clock = ServingClock::by_database(
            Arc::<Self>::clone(&machine),
            Arc::<Self>::clone(&machine),
            database.now(),
            machine.elapsed(),
        );
        let database = Arc::new(DatabaseTime(database));
        HoldWatch {
            hold: Hold::default(),
            clock: Arc::new(clock),
            lifecycle: Arc::<DatabaseTime>::clone(&database),
            identity: database,
            deployment: None,
            trusts_clock: false,
            health: HoldWatch::health(),
        }
    }
}

impl Clock for Machine {
    fn now(&self) -> Timestamp {
        let ahead = TimeDelta::milliseconds(self.ahead_ms.load(Ordering::Relaxed));
        self.database.now().saturating_add(ahead)
    }
}

impl Uptime for Machine {
    fn elapsed(&self) -> TimeDelta {
        // When all clocks jump, all machines were asleep.
        self.database.elapsed()
    }
}

/// The watch's view of the database.
struct DatabaseTime(Arc<SimClock>);

#[async_trait]
impl Lifecycle for DatabaseTime {
    async fn check(&self) -> Result<(), Unfit> {
        Ok(())
    }

    async fn moments(&self) -> Result<Moments, Unavailable> {
        Ok(Moments {
            now: Some(self.0.now()),
            latest_recorded: None,
        })
    }

    fn loops(&self) -> Vec<Arc<LoopHealth>> {
        Vec::new()
    }

    async fn close(&self) {}

    fn deliveries_waiting(&self) -> Arc<Notify> {
        Arc::default()
    }
}

#[async_trait]
impl Identity for DatabaseTime {
    async fn deployment(&self) -> Result<Option<Deployment>, Unavailable> {
        Ok(Some(Deployment {
            id: "simulated".parse().unwrap(),
            is_given: false,
            is_in_place: true,
        }))
    }

    async fn claim(&self, _id: &DeploymentId, _is_given: bool) -> Result<(), Unavailable> {
        Ok(())
    }

    async fn adopt(&self, _id: &DeploymentId, _is_given: bool) -> Result<(), Unavailable> {
        Ok(())
    }
}
