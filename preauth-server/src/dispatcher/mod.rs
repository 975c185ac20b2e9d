//! The dispatcher: leases deliveries, signs them, sends them, and records what came of it.
//!
//! A delivery was written, its body frozen, by the commit of its event. From there on:
//!
//! 1. the outbox leases what is due, at most so many per endpoint (`run`);
//! 2. each delivery is signed anew and posted on its own task, so that nobody waits for anybody
//!    (`attempt`);
//! 3. the outcome becomes a verdict, by the schedule of `preauth_core::delivery`, and is recorded
//!    if the lease still holds.
//!
//! Where requests may go is checked by `target` (the text of the URL), `targets` (what its name
//! resolves to: at registration and whenever a connection is opened) and `http_sender` (whom the
//! socket is connected to).

mod address;
mod attempt;
mod dns;
mod host;
mod hosts_file;
mod http_sender;
mod limits;
mod lookup;
mod network;
mod policy;
mod refusal;
mod retry_after;
mod run;
mod sender;
mod signing;
mod slots;
mod target;
mod targets;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::port::Outbox;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::hold::Hold;
use crate::secret::Vault;
use crate::worker::LoopHealth;

use attempt::Courier;
use slots::Slots;

pub use address::is_public;
pub use dns::DnsLookup;
pub use host::Host;
pub use http_sender::{ExtraRoots, HttpSender, HttpSenderOptions, RootsError, TlsError};
pub use limits::Limits;
pub use lookup::{Lookup, LookupError, SystemLookup};
pub use network::{Network, NetworkError};
pub use policy::TargetPolicy;
pub use refusal::UrlRefusal;
pub use retry_after::RetryAfter;
pub use sender::{Answer, Request, Sender};
pub use target::{ParsedTarget, validate_url};
pub use targets::{TargetError, Targets};

/// A look is one write and one read; the database gives both up within 80 s. Nothing else is waited
/// for: attempts run on tasks of their own.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(2);

/// Delivers webhooks (contract, "Events"); any number of instances may share one outbox.
///
/// [`run_once`](Self::run_once) is its single step, [`run`](Self::run) its loop.
pub struct Dispatcher {
    courier: Arc<Courier>,
    wake: Arc<Notify>,
    limits: Limits,
    hold: Hold,
    health: Arc<LoopHealth>,
}

impl Dispatcher {
    /// A dispatcher with the default [`Limits`].
    ///
    /// `wake` is notified when deliveries become due by other means than time; whoever never
    /// notifies it makes them wait for the next poll.
    #[must_use]
    pub fn new(
        outbox: Arc<dyn Outbox>,
        sender: Arc<dyn Sender>,
        vault: Vault,
        clock: Arc<dyn Clock>,
        wake: Arc<Notify>,
    ) -> Self {
        let limits = Limits::default();
        Self {
            courier: Arc::new(Courier {
                outbox,
                sender,
                vault,
                receivers_clock: Arc::clone(&clock),
                clock,
                patience: limits.attempt,
                slots: Slots::default(),
            }),
            wake,
            limits,
            hold: Hold::default(),
            health: Arc::new(LoopHealth::new("dispatcher", STALLS_AFTER)),
        }
    }

    /// The same dispatcher with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.courier = Arc::new(Courier {
            patience: limits.attempt,
            ..Courier::clone(&self.courier)
        });
        self.limits = limits;
        self
    }

    /// The same dispatcher, which signs by another clock than the one that says what is due:
    /// receivers compare a signature's time with their own clocks, which do not travel.
    #[must_use]
    pub fn with_receivers_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.courier = Arc::new(Courier {
            receivers_clock: clock,
            ..Courier::clone(&self.courier)
        });
        self
    }

    /// The same dispatcher, which leases nothing while the instance is held.
    #[must_use]
    pub fn held_by(self, hold: Hold) -> Self {
        Self { hold, ..self }
    }

    /// Attempts under way.
    #[must_use]
    pub fn slots_in_use(&self) -> u32 {
        self.courier.slots.in_use()
    }

    /// Attempts that may be under way.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        self.limits.in_all.get()
    }

    /// How the loop fares; a step is a look at the outbox.
    #[must_use]
    pub fn health(&self) -> Arc<LoopHealth> {
        Arc::clone(&self.health)
    }
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
