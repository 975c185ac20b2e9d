//! The reasons why an instance must not act: its clock is wrong, its database is another
//! deployment's, or it was started for reading only.
//!
//! Under every reason the loops pause; the refused requests depend on the reason ([`HoldReason`]).
//! An instance without a watch that was not started for reading only, like the sandbox, is never
//! held.

mod deployment;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use preauth_core::text_enum;

pub use deployment::{Deployment, DeploymentId, Identity, Ownership, ownership};

text_enum! {
    /// Why an instance must not act, as metrics and the log name it.
    pub enum HoldReason, "reason of a hold" {
        /// Its clock is wrong: no request is answered, because not even the expiry of a key can be
        /// decided.
        ClockOff => "clock_off",
        /// Its time reference jumped: requests continue by the earlier time, loops pause.
        ClockJumped => "clock_jumped",
        /// Its database is another deployment's, or a copy: nothing is written, reads are answered.
        ForeignDatabase => "foreign_database",
        /// It was started with `--quiet-outbound`: nothing is written, reads are answered.
        QuietOutbound => "quiet_outbound",
    }
}

impl HoldReason {
    /// Whether reading requests are refused as well.
    #[must_use]
    pub const fn refuses_reads(self) -> bool {
        matches!(self, Self::ClockOff)
    }

    /// Whether writing requests are refused.
    #[must_use]
    pub const fn refuses_writes(self) -> bool {
        !matches!(self, Self::ClockJumped)
    }
}

/// The reasons that hold an instance; clones share them.
#[derive(Clone, Default)]
pub struct Hold(Arc<State>);

#[derive(Default)]
struct State {
    held: Mutex<Held>,
    /// The number of reasons; loops and requests read only this.
    count: AtomicU64,
}

#[derive(Default)]
struct Held {
    /// Each with a text for the operator.
    reasons: BTreeMap<HoldReason, String>,
    /// A problem that does not hold the instance.
    warning: Option<String>,
}

impl Hold {
    /// Begins to hold for this reason, or updates its text. The beginning is logged.
    pub fn begin(&self, reason: HoldReason, text: &str) {
        let mut held = self.held();
        let before = held.reasons.insert(reason, text.to_owned());
        self.count(&held);
        if before.is_none() {
            tracing::error!(target: "hold", reason = reason.as_str(), "{text}");
        }
    }

    /// Ends this reason, if it holds. The end is logged.
    pub fn end(&self, reason: HoldReason) {
        let mut held = self.held();
        let ended = held.reasons.remove(&reason);
        self.count(&held);
        if ended.is_some() {
            tracing::info!(target: "hold", reason = reason.as_str(), "no longer held");
        }
    }

    /// Sets or ends the warning. Its beginning and its end are logged.
    pub fn warn(&self, warning: Option<String>) {
        let mut held = self.held();
        match (&held.warning, &warning) {
            (None, Some(text)) => tracing::warn!(target: "hold", "{text}"),
            (Some(_), None) => tracing::info!(target: "hold", "the clock is in order again"),
            (None, None) | (Some(_), Some(_)) => {}
        }
        held.warning = warning;
    }

    /// Whether loops must pause.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.0.count.load(Ordering::SeqCst) > 0
    }

    /// Whether this reason holds.
    #[must_use]
    pub fn is_held_for(&self, reason: HoldReason) -> bool {
        self.is_held() && self.held().reasons.contains_key(&reason)
    }

    /// The reason to refuse a request, if there is one.
    #[must_use]
    pub fn refuses(&self, is_write: bool) -> Option<HoldReason> {
        if !self.is_held() {
            return None;
        }
        let refuses =
            |reason: &HoldReason| reason.refuses_reads() || (is_write && reason.refuses_writes());
        self.held().reasons.keys().copied().find(refuses)
    }

    /// Why the instance cannot serve, for the operator.
    #[must_use]
    pub fn unreadiness(&self) -> Option<String> {
        let held = self.held();
        let texts = held.reasons.iter();
        let texts: Vec<&str> = texts
            .filter(|(reason, _)| reason.refuses_writes())
            .map(|(_, text)| text.as_str())
            .collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// The reasons that hold.
    #[must_use]
    pub fn reasons(&self) -> Vec<HoldReason> {
        self.held().reasons.keys().copied().collect()
    }

    /// A problem that does not prevent the instance from serving, for the operator.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let held = self.held();
        let jumped = held.reasons.get(&HoldReason::ClockJumped);
        jumped.or(held.warning.as_ref()).cloned()
    }

    fn count(&self, held: &Held) {
        let count = u64::try_from(held.reasons.len()).unwrap_or(u64::MAX);
        self.0.count.store(count, Ordering::SeqCst);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons: Vec<_> = self.held().reasons.keys().copied().collect();
        f.debug_tuple("Hold").field(&reasons).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Hold, HoldReason};

    #[test]
    fn each_reason_refuses_what_it_should_and_ends_on_its_own() {
        let hold = Hold::default();
        assert!(!hold.is_held());
        assert_eq!((hold.refuses(true), hold.unreadiness()), (None, None));
        hold.begin(HoldReason::ClockJumped, "it jumped");
        assert!(hold.is_held());
        assert_eq!((hold.refuses(true), hold.unreadiness()), (None, None));
        assert_eq!(hold.warning().as_deref(), Some("it jumped"));
        hold.begin(HoldReason::ForeignDatabase, "a copy");
        assert_eq!(hold.refuses(true), Some(HoldReason::ForeignDatabase));
        assert_eq!(hold.refuses(false), None);
        hold.begin(HoldReason::ClockOff, "it is off");
        assert_eq!(hold.refuses(false), Some(HoldReason::ClockOff));
        assert_eq!(hold.unreadiness().as_deref(), Some("it is off; a copy"));
        for &reason in HoldReason::ALL {
            hold.end(reason);
        }
        assert!(!hold.is_held());
        assert_eq!(hold.refuses(true), None);
    }
}
