//! The check of a run: a pure function of its history and its final state.
//!
//! Stored data is checked by the rules of [`preauth_core::audit`], the same that apply to a live
//! database; the observations of callers and receivers, and events during the run, by the rules
//! here.
//!
//! | name | what must hold |
//! | --- | --- |
//! | I1 | a 201 names exactly one record, the one under its idempotency key; no id is assigned twice |
//! | I2 | as many events as changes; what is stored is what was committed |
//! | I3 | at most one operation in progress holds an invoice; an operation has one payment order at a time |
//! | I4 | every event arrives or ends visibly failed; nothing arrives that did not happen |
//! | I5 | all 201s under one key are the same bytes, at most one of them is not a replay |
//! | I6 | an offer expires after its time, not before, and soon |
//! | I7 | what was cancelled stays cancelled, with one event |
//! | I8 | an operation's history is a path of the transition table |
//! | I9 | one event, one body; every signature verifies |
//! | I10 | nothing of a paused endpoint is given out |
//! | I11 | the totals of lists are the numbers of operations |
//! | I12 | a change answered as done happened once; a refusal, and "nothing was done", had no effect |
//! | I14 | nothing is stuck: no key, no delivery, no lease; no outcome under a lost lease |
//! | I15 | amounts come out as they went in |
//! | I16 | every offer stages one mail, and nothing else does |
//! | I17 | payer and supplier read every event on request, as it was committed and in order |
//! | I18 | a dispatcher is handed no more than it has room for, and nothing past what it has left to a search |
//! | I19 | each mail that an offer owes is sent, refused or, its offer closed, canceled; no other one goes out |
//! | I20 | a mail goes out once under each lease, which nobody else has, and whose offer stood at that time |
//! | I21 | a mailbox gets no more mails of a head office in a day than its limit |

mod answers;
mod deliveries;
mod effects;
mod final_state;
mod journal;
mod mails;
mod orders;
mod platform_keys;
mod readers;

use std::fmt;

use chrono::TimeDelta;

use crate::history::{Entry, Fact, Recorded};
use crate::scene::Scene;

pub(crate) use final_state::FinalState;

/// Maximum delay of an expiry.
pub(crate) const EXPIRY_PATIENCE: TimeDelta = TimeDelta::seconds(5);

/// A violated rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) invariant: &'static str,
    pub(crate) what: String,
}

/// The input of the rules, and their findings.
struct Case<'a> {
    scene: &'a Scene,
    history: &'a [Entry],
    end: &'a FinalState,
    /// Whether the history is in the order in which the facts took effect.
    is_exact: bool,
    found: Vec<Violation>,
}

/// Checks a run.
pub(crate) fn check(
    scene: &Scene,
    history: &[Entry],
    end: &FinalState,
    is_exact: bool,
) -> Vec<Violation> {
    let mut case = Case {
        scene,
        history,
        end,
        is_exact,
        found: Vec::new(),
    };
    for entry in history {
        match &entry.fact {
            Fact::Broken(what) => case.expect(false, "I14", || what.clone()),
            Fact::Alarmed(violation) => case.found.push(Violation::from(&**violation)),
            _ => {}
        }
    }
    case.found.extend(end.audited.iter().map(Violation::from));
    case.journal();
    case.orders();
    case.answers();
    case.platform_keys();
    case.reserved_ids();
    case.directory();
    case.effects();
    case.deliveries();
    case.mails();
    case.readers();
    case.found
}

impl<'a> Case<'a> {
    fn expect(&mut self, holds: bool, invariant: &'static str, what: impl FnOnce() -> String) {
        if !holds {
            let what = what();
            self.found.push(Violation { invariant, what });
        }
    }

    /// The commits in the order they were applied.
    fn commits(&self) -> impl Iterator<Item = &'a Recorded> + use<'a> {
        self.history.iter().filter_map(|entry| match &entry.fact {
            Fact::Committed(recorded) => Some(&**recorded),
            _ => None,
        })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.what)
    }
}
