//! The use cases: load, decide, evolve and commit, in one loop between the rules and a host.
//!
//! Every method takes the current time as an argument. This module sends nothing: events and mails are
//! part of the commit and are sent afterwards.

mod announce;
mod attempt;
mod command;
mod error;
mod expire;
mod in_flight;
mod offer;
mod once;
mod order;
mod record;

use std::fmt;
use std::sync::Arc;

use crate::Policy;
use crate::port::{ActingOperator, Audited, IdSource, Intake, Render, Store};
use crate::value::Version;

use attempt::{Attempt, Round, Unsettled};
use in_flight::InFlight;

pub use announce::Announced;
pub use command::CommandOutcome;
pub use error::ServiceError;
pub use expire::ExpiryReport;
pub use offer::{AcceptableOffer, OfferOutcome, Preparation};
pub use once::{Once, PlatformKey, ReplyOf};

/// Maximum number of rounds of load, decide and commit before the use case fails.
const ROUNDS: u32 = 8;

/// Maximum number of lookups of a commit's outcome before it counts as unknown.
const LOOK_UPS: u32 = 3;

/// The use cases, over a host's ports.
#[derive(Clone)]
pub struct Operations {
    store: Arc<dyn Store>,
    ids: Arc<dyn IdSource>,
    render: Arc<dyn Render>,
    policy: Policy,
    in_flight: Arc<InFlight>,
    intake: Intake,
    operator: Option<ActingOperator>,
    audited: Option<Audited>,
    if_version: Option<Version>,
}

impl Operations {
    /// The use cases over the ports of one host.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        ids: Arc<dyn IdSource>,
        render: Arc<dyn Render>,
        policy: Policy,
    ) -> Self {
        Self {
            store,
            ids,
            render,
            policy,
            in_flight: Arc::default(),
            intake: Intake::default(),
            operator: None,
            audited: None,
            if_version: None,
        }
    }

    /// Offers the deliveries of every commit to `intake` before they wait for a claim.
    #[must_use]
    pub fn handing_over_to(self, intake: Intake) -> Self {
        Self { intake, ..self }
    }

    /// The same use cases in the hands of an operator of the platform, who is recorded with the events
    /// that they cause. What happens on the way without anybody's doing, such as an expiry, is not theirs.
    #[must_use]
    pub fn in_hands_of(&self, operator: ActingOperator) -> Self {
        Self {
            operator: Some(operator),
            ..self.clone()
        }
    }

    /// The same use cases, whose commits are stored in the audit log as this request. Only those of an
    /// operator are.
    #[must_use]
    pub fn audited_as(self, audited: Audited) -> Self {
        Self {
            audited: Some(audited),
            ..self
        }
    }

    /// The same use cases, whose commands change an operation or a payment order only in the version that
    /// their caller has seen, and are refused with [`ServiceError::Changed`] otherwise. Without a version
    /// they change whatever is stored.
    #[must_use]
    pub fn if_version(self, version: Option<Version>) -> Self {
        Self {
            if_version: version,
            ..self
        }
    }

    /// Refuses a command whose caller has seen another version than the stored one.
    fn check_seen(seen: Option<Version>, stored: Version) -> Result<(), ServiceError> {
        match seen {
            Some(seen) if seen != stored => Err(ServiceError::Changed { stored }),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operations")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
