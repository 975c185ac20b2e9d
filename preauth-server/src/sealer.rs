//! Seals the audit log, so that nobody changes it without a trace, whoever holds the database.
//!
//! The log names each seal with its hash: who keeps the logs elsewhere can tell whether the whole chain was
//! replaced. While a process runs, it finds that out itself: it remembers the newest seal that it saw, and
//! seals nothing on a chain that has it no longer. Only a restart makes it begin with what is there.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::{SealMark, Unavailable};
use preauth_core::value::Timestamp;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::directory::{Directory, Sealing};
use crate::hold::Hold;
use crate::telemetry::metrics::AuditLogMetrics;
use crate::worker::{LoopHealth, Next, Shutdown, repeat};

/// Pause between two steps; a row is sealed within 5 s.
const REST: Duration = Duration::from_secs(2);
/// Time between two reports of a chain that is broken.
const REPORTED_AGAIN_AFTER: TimeDelta = TimeDelta::minutes(1);
/// A read and a write that the database gives up after 45 s each.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(2);

/// Seals the rows of the audit log; any number of instances may run concurrently.
pub struct Sealer {
    directory: Arc<dyn Directory>,
    clock: Arc<dyn Clock>,
    metrics: AuditLogMetrics,
    seen: Mutex<Seen>,
    hold: Hold,
    health: Arc<LoopHealth>,
}

/// What a process knows of the chain.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The newest seal.
    newest: Option<SealMark>,
    /// When it was last reported that the chain is broken.
    reported_at: Option<Timestamp>,
}

impl Sealer {
    /// A sealer of a store's audit log.
    #[must_use]
    pub fn new(
        directory: Arc<dyn Directory>,
        clock: Arc<dyn Clock>,
        metrics: AuditLogMetrics,
    ) -> Self {
        Self {
            directory,
            clock,
            metrics,
            seen: Mutex::default(),
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
        let now = self.clock.now();
        let known = self.seen(|seen| seen.newest);
        let outcome = self.directory.seal(now, known).await?;
        self.metrics.note(&outcome);
        match outcome {
            Sealing::Nothing(newest) => {
                self.seen(|seen| seen.newest = newest.or(seen.newest));
                Ok(Next::AfterRest)
            }
            Sealing::Sealed { seal, rows } => {
                self.seen(|seen| seen.newest = Some(seal));
                let hash = hex::encode(seal.hash);
                tracing::info!(target: "audit_log", seal = seal.number, rows, hash, "sealed");
                Ok(Next::AtOnce)
            }
            Sealing::Broken { number } => {
                self.report(number, now);
                Ok(Next::AfterRest)
            }
        }
    }

    /// Reports that the chain is broken, once a minute.
    fn report(&self, seal: i64, now: Timestamp) {
        let is_due = self.seen(|seen| {
            let last = seen.reported_at;
            let is_due = last.is_none_or(|at| now.since(at) >= REPORTED_AGAIN_AFTER);
            if is_due {
                seen.reported_at = Some(now);
            }
            is_due
        });
        if is_due {
            tracing::error!(
                target: "audit_log",
                seal,
                "the audit log was changed past the server, or a restored or promoted database lacks \
                 its newest rows: this seal is missing, is another one, or does not cover its rows. \
                 Nothing is sealed any more. Run `preauth-server audit`, with --seal and the lines \
                 \"sealed\" of this log, and keep a copy of the database; if it is explained, restart \
                 the server"
            );
        }
    }

    fn seen<T>(&self, read: impl FnOnce(&mut Seen) -> T) -> T {
        read(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
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
