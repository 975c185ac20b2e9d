//! What a check needs: what is known besides the record, and where findings are kept.

use std::fmt;
use std::num::NonZeroU32;

use chrono::TimeDelta;

use crate::port::{BodyDecoder, Subject};
use crate::value::Timestamp;

use super::{Rule, Violation};

/// An expiry that is not recorded after so long is late. Sweepers look every second; this leaves
/// room for restarts.
pub(super) const EXPIRY_PATIENCE: TimeDelta = TimeDelta::minutes(5);
/// A lease that ended so long ago should have been taken over: its delivery is the first in line.
pub(super) const LEASE_PATIENCE: TimeDelta = TimeDelta::minutes(10);
/// No lease lasts longer.
pub(super) const MAX_LEASE: TimeDelta = TimeDelta::hours(1);

/// The moment at which records are checked.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The service's clock.
    pub now: Timestamp,
    /// Whether a service works on the records; what only passes time leads to is checked only then.
    pub is_live: bool,
    /// Offers and invitations that one address may be sent in a day.
    pub daily_share: NonZeroU32,
}

/// Checks single records with all that belongs to them. Pure.
pub struct Checker<'a> {
    pub(super) decoder: &'a dyn BodyDecoder,
    pub(super) moment: Moment,
    pub(super) host_now: Timestamp,
}

impl<'a> Checker<'a> {
    /// A checker at a moment; `host_now` is the host's clock then, by which leases end.
    #[must_use]
    pub fn new(decoder: &'a dyn BodyDecoder, moment: Moment, host_now: Timestamp) -> Self {
        Self {
            decoder,
            moment,
            host_now,
        }
    }
}

impl fmt::Debug for Checker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker")
            .field("moment", &self.moment)
            .finish_non_exhaustive()
    }
}

/// What does not hold of one record.
#[derive(Debug)]
pub(super) struct Findings {
    subject: Subject,
    pub(super) violations: Vec<Violation>,
}

impl Findings {
    pub(super) const fn of(subject: Subject) -> Self {
        Self {
            subject,
            violations: Vec::new(),
        }
    }

    pub(super) fn expect(&mut self, holds: bool, rule: Rule, what: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(Violation {
                rule,
                subject: self.subject.clone(),
                what: what(),
            });
        }
    }
}
