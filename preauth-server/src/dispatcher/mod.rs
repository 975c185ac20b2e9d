//! The dispatcher: leases deliveries, signs and sends them, and records the outcomes.
//!
//! The commit of an event writes its delivery with an immutable body. Then:
//!
//! 1. the commit leases the delivery itself for the dispatcher of its own process, if there is room
//!    (`handover`); any other is leased by the outbox when it is due, within a limit per endpoint
//!    (`run`);
//! 2. each delivery is signed for this attempt and posted on its own task, so that none waits for
//!    another (`attempt`);
//! 3. the outcome becomes a verdict, by the schedule of `preauth_core::delivery`, and is recorded
//!    if the lease still holds.
//!
//! The allowed receivers are checked by `endpoint_url` (the text of the URL), `endpoint_validator` (the addresses of
//! its name: at registration and whenever a connection is opened) and `http_sender` (the address of
//! the connected peer).

mod address;
mod attempt;
mod dns;
mod endpoint_url;
mod endpoint_validator;
mod handover;
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
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex};

use chrono::TimeDelta;
use preauth_core::port::{Intake, Outbox};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::clock::Clock;
use crate::hold::Hold;
use crate::secret::Vault;
use crate::worker::LoopHealth;

use attempt::Courier;
use handover::{Handed, SlotHandover};
use slots::Slots;

pub use address::is_public;
pub use dns::DnsLookup;
pub use endpoint_url::{EndpointUrl, validate_url};
pub use endpoint_validator::{EndpointError, EndpointValidator};
pub use host::Host;
pub use http_sender::{ExtraRoots, HttpSender, HttpSenderOptions, RootsError, TlsError};
pub use limits::Limits;
pub use lookup::{Lookup, LookupError, SystemLookup};
pub use network::{Network, NetworkError};
pub use policy::EndpointPolicy;
pub use refusal::UrlRefusal;
pub use retry_after::RetryAfter;
pub use sender::{Answer, Request, Sender};
pub(crate) use signing::sent_headers;
pub(crate) use webhook_verify::SIGNATURE_HEADER;

/// A step is one write and one read; the database gives both up within 80 s. The loop waits for
/// nothing else: attempts run on tasks of their own.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(2);

/// Delivers webhooks (contract, "Events"); any number of instances may share one outbox.
///
/// [`run_once`](Self::run_once) is a single step, [`run`](Self::run) the loop.
pub struct Dispatcher {
    courier: Arc<Courier>,
    wake: Arc<Notify>,
    limits: Limits,
    hold: Hold,
    health: Arc<LoopHealth>,
    handed: UnboundedSender<Handed>,
    inbox: Mutex<Option<UnboundedReceiver<Handed>>>,
}

impl Dispatcher {
    /// A dispatcher with the default [`Limits`].
    ///
    /// `wake` must be notified when deliveries become due other than by the passing of time;
    /// otherwise they wait for the next poll.
    #[must_use]
    pub fn new(
        outbox: Arc<dyn Outbox>,
        sender: Arc<dyn Sender>,
        vault: Vault,
        clock: Arc<dyn Clock>,
        wake: Arc<Notify>,
    ) -> Self {
        let limits = Limits::default();
        let slots = Slots::new(Arc::clone(&wake));
        let (handed, inbox) = unbounded_channel();
        Self {
            courier: Arc::new(Courier {
                outbox,
                sender,
                vault,
                receivers_clock: Arc::clone(&clock),
                clock,
                patience: limits.attempt,
                slots,
            }),
            wake,
            limits,
            hold: Hold::default(),
            health: Arc::new(LoopHealth::new("dispatcher", STALLS_AFTER)),
            handed,
            inbox: Mutex::new(Some(inbox)),
        }
    }

    /// Sets other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.courier = Arc::new(Courier {
            patience: limits.attempt,
            ..Courier::clone(&self.courier)
        });
        self.limits = limits;
        self
    }

    /// Signs by another clock than the one that decides what is due: receivers compare a
    /// signature's time with their own clocks, which time travel does not move.
    #[must_use]
    pub fn with_receivers_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.courier = Arc::new(Courier {
            receivers_clock: clock,
            ..Courier::clone(&self.courier)
        });
        self
    }

    /// Leases nothing while the instance is held.
    #[must_use]
    pub fn held_by(self, hold: Hold) -> Self {
        Self { hold, ..self }
    }

    /// The intake to which commits hand deliveries over, while [`run`](Self::run) attempts them. It keeps
    /// the settings of this moment.
    #[must_use]
    pub fn intake(&self) -> Intake {
        Intake::new(Arc::new(SlotHandover {
            courier: Arc::clone(&self.courier),
            limits: self.limits,
            hold: self.hold.clone(),
            handed: self.handed.clone(),
        }))
    }

    /// The number of attempts in progress.
    #[must_use]
    pub fn slots_in_use(&self) -> u32 {
        self.courier.slots.in_use()
    }

    /// The maximum number of attempts in progress.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        self.limits.in_all()
    }

    /// The health of the loop; a step is a poll of the outbox.
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
