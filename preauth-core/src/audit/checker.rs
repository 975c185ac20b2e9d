//! The context of a check besides the record, and the list of findings.

use std::fmt;
use std::num::NonZeroU32;

use chrono::TimeDelta;

use crate::port::{BodyDecoder, Subject};
use crate::value::Timestamp;

use super::{Rule, Violation};

/// Maximum time until an expiry is recorded. Sweepers run every second; this leaves room for restarts.
pub(super) const EXPIRY_PATIENCE: TimeDelta = TimeDelta::minutes(5);
/// Maximum time until an ended lease is taken over: its delivery is the first in line.
pub(super) const LEASE_PATIENCE: TimeDelta = TimeDelta::minutes(10);
/// Maximum duration of a lease.
pub(super) const MAX_LEASE: TimeDelta = TimeDelta::hours(1);

/// The moment at which records are checked.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The service's clock.
    pub now: Timestamp,
    /// Whether a service is running on the records; rules that need one (expiries recorded, ended leases
    /// taken over) are checked only then.
    pub is_live: bool,
    /// Maximum number of offers and invitations to one address in a day.
    pub daily_share: NonZeroU32,
    /// How long the host keeps a mail after its end; `None`: for good. Beyond 30 days nothing is expected.
    pub mails_kept: Option<TimeDelta>,
}

/// Checks single records with all that belongs to them. Pure.
pub struct Checker<'a> {
    pub(super) decoder: &'a dyn BodyDecoder,
    pub(super) moment: Moment,
    pub(super) host_now: Timestamp,
}

impl<'a> Checker<'a> {
    /// Creates a checker for a moment; `host_now` is the host's clock at that moment, by which leases end.
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

/// The violations found in one record.
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
