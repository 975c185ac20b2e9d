//! The health of the process: whether it works, whether it can serve, and its metrics.

mod scrape;
mod words;

use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Outbox;

use crate::clock::{Clock, ServingClock};
use crate::directory::Directory;
use crate::dispatcher::Dispatcher;
use crate::feed::Waiters;
use crate::hold::Hold;
use crate::http::platform::{Trouble, Vitals};
use crate::log::chain;
use crate::mail::MailQueue;
use crate::store::{Lifecycle, Watch};
use crate::telemetry::metrics::Metrics;
use crate::worker::{LoopHealth, Shutdown};

/// A server's vitals: its loops, its database, its counters.
pub struct ServerVitals {
    /// Every loop that the process cannot do without.
    pub loops: Vec<Arc<LoopHealth>>,
    /// Requested as soon as the server shuts down.
    pub end: Shutdown,
    /// Whether the database can serve.
    pub lifecycle: Arc<dyn Lifecycle>,
    /// The source of waiting work.
    pub watch: Arc<dyn Watch>,
    /// The source of endpoints.
    pub endpoints: Arc<dyn Directory>,
    /// The source of the next due delivery.
    pub outbox: Arc<dyn Outbox>,
    /// The source of the next due mail.
    pub mails: Arc<dyn MailQueue>,
    /// The source of the attempts in progress.
    pub dispatcher: Arc<Dispatcher>,
    /// The requests that wait for events.
    pub waiters: Waiters,
    /// The service's clock, by which due times are compared.
    pub clock: Arc<dyn Clock>,
    /// The counters.
    pub metrics: Metrics,
    /// Maximum size of one head office's invoice files together, if it is limited.
    pub file_quota_bytes: Option<NonZeroU64>,
    /// The reasons why the instance must not act.
    pub hold: Hold,
    /// Compares the machine's clock with its reference; `None` in a sandbox.
    pub serving_clock: Option<Arc<ServingClock>>,
}

#[async_trait]
impl Vitals for ServerVitals {
    fn stall(&self) -> Option<Trouble> {
        // Loops end before the requests in progress; that is no reason to restart the process.
        if self.end.is_requested() {
            return None;
        }
        stall(&self.loops)
    }

    async fn unreadiness(&self) -> Option<Trouble> {
        if self.end.is_requested() {
            return Some(Trouble::new(
                "the server is stopping",
                "o servidor está parando",
            ));
        }
        if let Some(held) = self.hold.unreadiness() {
            return Some(Trouble::new(held, words::held(&self.hold.reasons())));
        }
        let error = self.lifecycle.check().await.err()?;
        tracing::warn!(error = chain(&error), "database is not ready");
        // Without its causes, which may name users and addresses of the database.
        Some(Trouble::new(error.to_string(), words::unfit(&error)))
    }

    fn warning(&self) -> Option<Trouble> {
        let warning = self.hold.warning()?;
        Some(Trouble::new(warning, words::warning(&self.hold.reasons())))
    }

    async fn metrics(&self) -> String {
        scrape::scrape(self).await
    }
}

/// The loops that hang, or have ended without a shutdown.
fn stall(loops: &[Arc<LoopHealth>]) -> Option<Trouble> {
    let stalled: Vec<_> = loops
        .iter()
        .filter(|health| health.is_stalled())
        .map(|health| (health.name(), health.since_last_step().num_seconds()))
        .collect();
    let said = |say: fn(&(&str, i64)) -> String| {
        let each: Vec<_> = stalled.iter().map(say).collect();
        each.join("; ")
    };
    let en = said(|(name, seconds)| format!("{name} has made no step for {seconds} s"));
    let pt = said(|(name, seconds)| format!("{name} não dá um passo há {seconds} s"));
    (!stalled.is_empty()).then(|| Trouble::new(en, pt))
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

    use super::{Trouble, stall};
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
        let expected = Trouble::new(
            "dispatcher has made no step for 0 s; writer has made no step for 0 s",
            "dispatcher não dá um passo há 0 s; writer não dá um passo há 0 s",
        );
        assert_eq!(stall(&loops), Some(expected));
    }
}
