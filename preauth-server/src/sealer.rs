//! Seals the audit log, so that nobody changes it without a trace, whoever holds the database.
//!
//! The log names each seal with its hash: who keeps the logs elsewhere can tell whether the whole chain was
//! replaced.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::directory::Directory;
use crate::hold::Hold;
use crate::worker::{LoopHealth, Next, Shutdown, repeat};

/// Pause between two steps; a row is sealed within 5 s.
const REST: Duration = Duration::from_secs(2);
/// A read and a write that the database gives up after 45 s each.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(2);

/// Seals the rows of the audit log; any number of instances may run concurrently.
pub struct Sealer {
    directory: Arc<dyn Directory>,
    clock: Arc<dyn Clock>,
    hold: Hold,
    health: Arc<LoopHealth>,
}

impl Sealer {
    /// A sealer of a store's audit log.
    #[must_use]
    pub fn new(directory: Arc<dyn Directory>, clock: Arc<dyn Clock>) -> Self {
        Self {
            directory,
            clock,
            hold: Hold::default(),
            health: Arc::new(LoopHealth::new("sealer", STALLS_AFTER)),
        }
    }

    /// The same sealer, which pauses while the instance is held.
    #[must_use]
    pub fn held_by(self, hold: Hold) -> Self {
        Self { hold, ..self }
    }

    /// Runs until shutdown is requested.
    pub async fn run(&self, shutdown: Shutdown) {
        let wake = Arc::new(Notify::new());
        let step = || self.run_once();
        repeat(&self.health, &self.hold, REST, &wake, shutdown, step).await;
    }

    /// Seals the next rows.
    pub async fn run_once(&self) -> Result<Next, Unavailable> {
        let Some(seal) = self.directory.seal(self.clock.now()).await? else {
            return Ok(Next::AfterRest);
        };
        let digits = seal.hash.iter().map(|byte| format!("{byte:02x}"));
        let hash: String = digits.collect();
        tracing::info!(target: "audit_log", seal = seal.number, rows = seal.rows, hash, "sealed");
        Ok(Next::AtOnce)
    }

    /// The health of the loop.
    #[must_use]
    pub fn health(&self) -> Arc<LoopHealth> {
        Arc::clone(&self.health)
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").finish_non_exhaustive()
    }
}
