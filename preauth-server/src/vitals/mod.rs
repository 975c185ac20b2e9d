//! What the process knows of itself: whether it lives, whether it can serve, and what it has
//! counted.

mod scrape;

use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Outbox;

use crate::clock::{Clock, ServingClock};
use crate::directory::Directory;
use crate::dispatcher::Dispatcher;
use crate::hold::Hold;
use crate::http::platform::Vitals;
use crate::log::chain;
use crate::notices::NoticeQueue;
use crate::store::{Lifecycle, Watch};
use crate::telemetry::metrics::Metrics;
use crate::worker::{LoopHealth, Shutdown};

/// A server's vitals: its loops, its database, its counters.
pub struct ServerVitals {
    /// Every loop without which the process is of no use.
    pub loops: Vec<Arc<LoopHealth>>,
    /// Requested as soon as the server is asked to end.
    pub end: Shutdown,
    /// Whether the database can serve.
    pub lifecycle: Arc<dyn Lifecycle>,
    /// What waits in it.
    pub watch: Arc<dyn Watch>,
    /// Where deliveries go.
    pub endpoints: Arc<dyn Directory>,
    /// When the next delivery is due.
    pub outbox: Arc<dyn Outbox>,
    /// When the next mail is due.
    pub notices: Arc<dyn NoticeQueue>,
    /// How much is being sent.
    pub dispatcher: Arc<Dispatcher>,
    /// The service's time, in which due times stand.
    pub clock: Arc<dyn Clock>,
    /// What was counted.
    pub metrics: Metrics,
    /// How many bytes the invoice files of one head office may have, if that is limited.
    pub file_quota_bytes: Option<NonZeroU64>,
    /// What keeps the instance from acting.
    pub hold: Hold,
    /// What compares the machine's clock with another one; a sandbox does not.
    pub serving_clock: Option<Arc<ServingClock>>,
}

#[async_trait]
impl Vitals for ServerVitals {
    fn stall(&self) -> Option<String> {
        // Loops end before the requests under way do; that is no reason to cut these off.
        if self.end.is_requested() {
            return None;
        }
        stall(&self.loops)
    }

    async fn unreadiness(&self) -> Option<String> {
        if self.end.is_requested() {
            return Some("the server is stopping".to_owned());
        }
        if let Some(held) = self.hold.unreadiness() {
            return Some(held);
        }
        let error = self.lifecycle.check().await.err()?;
        tracing::warn!(error = chain(&error), "database is not ready");
        // Without its causes, in which the database may name users and addresses.
        Some(error.to_string())
    }

    fn warning(&self) -> Option<String> {
        self.hold.warning()
    }

    async fn metrics(&self) -> String {
        scrape::scrape(self).await
    }
}

/// Says which loops hang, or have ended without being asked to.
fn stall(loops: &[Arc<LoopHealth>]) -> Option<String> {
    let stalled: Vec<String> = loops
        .iter()
        .filter(|health| health.is_stalled())
        .map(|health| {
            let seconds = health.since_last_step().num_seconds();
            format!("{} has made no step for {seconds} s", health.name())
        })
        .collect();
    (!stalled.is_empty()).then(|| stalled.join("; "))
}

impl fmt::Debug for ServerVitals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerVitals")
            .field("loops", &self.loops)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::TimeDelta;

    use super::stall;
    use crate::worker::LoopHealth;

    #[test]
    fn a_stall_names_every_loop_that_hangs_and_no_other() {
        let health = |name, limit| Arc::new(LoopHealth::new(name, limit));
        let (patient, at_once) = (TimeDelta::minutes(1), TimeDelta::milliseconds(-1));
        let living = [health("sweeper", patient), health("janitor", patient)];
        assert_eq!(stall(&living), None);
        let loops = [
            health("dispatcher", at_once),
            health("sweeper", patient),
            health("writer", at_once),
        ];
        assert_eq!(
            stall(&loops).as_deref(),
            Some("dispatcher has made no step for 0 s; writer has made no step for 0 s")
        );
    }
}
