//! Proof that rare events occur: a simulation that never loses an answer proves nothing about lost
//! answers.

use std::collections::{BTreeMap, BTreeSet};

use preauth_core::operation::Action;
use preauth_core::port::Verdict;
use preauth_core::value::EventType;
use preauth_server::clock::MAX_OFFSET;

use crate::faults::{Call, Fault};
use crate::ground::Kind;
use crate::history::{CommandAnswer, Deed, Entry, Fact, MailFact, OfferAnswer};
use crate::newer::UNKNOWN_TYPE;

/// The number of occurrences of each rare event that is to occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coverage(BTreeMap<String, u64>);

/// Everything that must occur at least once in a few hundred seeds.
const RARE: [&str; 54] = [
    "a commit's answer was lost",
    "a commit landed late",
    "a late commit was applied",
    "a late commit was no longer possible",
    "a late test event was applied",
    "a late create of the directory was applied",
    "a command's outcome was unknown",
    "a commit failed and nobody knew",
    "a commit met a conflict",
    "a commit waited in vain for a lock",
    "a claim met a locked delivery",
    "the outcome of an attempt met a locked delivery",
    "a write of the platform met a locked row",
    "an instance was killed",
    "an instance was killed during a delivery",
    "an instance was killed after its commit",
    "an instance stopped in good order",
    "a lease was given back",
    "a delivery was handed over by its commit",
    "a delivery that was handed over was lost",
    "a commit found no room",
    "a commit was to find no room",
    "a dispatcher was mute while its service went on",
    "a dispatcher ended while its service went on",
    "a mute dispatcher was handed a delivery",
    "a delivery that a mute dispatcher has was claimed by another",
    "a lease was lost before its outcome was recorded",
    "a delivery was given out again",
    "a delivery failed and was tried again",
    "an endpoint was paused",
    "an event arrived twice",
    "an event was read again after a crash",
    "an event of an unknown type arrived",
    "a commit came between two pages of an audit",
    "a delivery was resent",
    "the clock jumped",
    "an instance's clock was set wrong",
    "a clock left a delivery days ahead",
    "an offer expired",
    "an offer was replayed",
    "an offer met a duplicate",
    "an offer's outcome was unknown",
    "a caller had no answer",
    "a cancel lost a race",
    "an operation was reopened",
    "a payment order was paid",
    "a payment order lost a race",
    "a secret was rotated",
    "an endpoint was moved",
    "a standby was promoted",
    "a promotion cut a commit off",
    "a create of the platform was replayed",
    "a create of the platform met its own key in progress",
    "an operation had a payment order already",
];

/// Events that never occur on a real database: only a drill has a standby to promote.
const IN_MEMORY_ONLY: [&str; 2] = ["a standby was promoted", "a promotion cut a commit off"];

/// What becomes of mails, which only a real database has.
const OF_MAILS: [&str; 2] = ["a mail was canceled", "a mail was refused"];

/// Events so rare that the rounds on a real database, each of which takes seconds, may be without them.
const IN_MANY_RUNS: [&str; 4] = [
    "a delivery that a mute dispatcher has was claimed by another",
    "a command's outcome was unknown",
    "a lease was given back",
    "an offer's outcome was unknown",
];

impl Coverage {
    /// Of the rare events those that occur over this kind of store.
    pub(crate) fn over(ground: Kind) -> Self {
        let is_possible = |name: &&str| {
            ground == Kind::Memory
                || !(IN_MEMORY_ONLY.contains(name) || IN_MANY_RUNS.contains(name))
        };
        let of_mails = OF_MAILS.into_iter().filter(|_| ground != Kind::Memory);
        let rare = RARE.into_iter().filter(is_possible).chain(of_mails);
        Self(rare.map(|name| (name.to_owned(), 0)).collect())
    }

    /// Late commits that are applied, one of each kind.
    pub(crate) fn of_late_commits() -> Self {
        let late = Deed::all().map(applied_late);
        Self(late.map(|name| (name, 0)).collect())
    }

    /// Counts the rare events of a run.
    pub(crate) fn add(&mut self, history: &[Entry]) {
        let mut claimed = BTreeSet::new();
        let mut arrived = BTreeSet::new();
        let mut read = BTreeSet::new();
        let mut is_auditing = false;
        let (mut mute, mut held) = (BTreeSet::new(), BTreeSet::new());
        for entry in history {
            for name in names(&entry.fact) {
                self.count(name);
            }
            match &entry.fact {
                Fact::Muted(instance) => {
                    mute.insert(*instance);
                }
                Fact::Started(instance) | Fact::Stopped(instance) | Fact::Killed(instance) => {
                    mute.remove(instance);
                }
                Fact::HandedOver {
                    instance,
                    delivery,
                    is_lost: false,
                    ..
                } if mute.contains(instance) => {
                    held.insert(*delivery);
                    self.count("a mute dispatcher was handed a delivery");
                }
                Fact::Claimed { delivery, .. } if held.remove(delivery) => {
                    claimed.insert(*delivery);
                    self.count("a delivery was given out again");
                    self.count("a delivery that a mute dispatcher has was claimed by another");
                }
                Fact::Quiet => break,
                Fact::AuditBegun => is_auditing = true,
                Fact::AuditEnded => is_auditing = false,
                Fact::Committed(_) if is_auditing => {
                    self.count("a commit came between two pages of an audit");
                }
                Fact::LandedLate {
                    deed,
                    is_applied: true,
                } => self.count(&applied_late(*deed)),
                Fact::Claimed { delivery, .. } if !claimed.insert(*delivery) => {
                    self.count("a delivery was given out again");
                }
                Fact::Received {
                    endpoint,
                    event,
                    is_taken: true,
                    ..
                } if !arrived.insert((*endpoint, *event)) => {
                    self.count("an event arrived twice");
                }
                Fact::Read { company, event, .. } if !read.insert((*company, *event)) => {
                    self.count("an event was read again after a crash");
                }
                _ => {}
            }
        }
    }

    /// The events that never occurred.
    pub(crate) fn gaps(&self) -> Vec<&str> {
        let never = self.0.iter().filter(|(_, count)| **count == 0);
        never.map(|(name, _)| name.as_str()).collect()
    }

    fn count(&mut self, name: &str) {
        if let Some(count) = self.0.get_mut(name) {
            *count += 1;
        }
    }
}

/// The rare events that a single fact proves.
fn names(fact: &Fact) -> Vec<&'static str> {
    match fact {
        Fact::Faulted { call, fault, .. } => faulted(*call, *fault),
        Fact::Killed(_) => vec!["an instance was killed"],
        Fact::Stopped(_) => vec!["an instance stopped in good order"],
        Fact::HandedOver { is_lost: false, .. } => vec!["a delivery was handed over by its commit"],
        Fact::HandedOver { is_lost: true, .. } => vec!["a delivery that was handed over was lost"],
        Fact::FoundNoRoom { is_planned, .. } => vec![no_room(*is_planned)],
        Fact::Muted(_) => vec!["a dispatcher was mute while its service went on"],
        Fact::DispatcherEnded(_) => vec!["a dispatcher ended while its service went on"],
        Fact::Released { .. } => vec!["a lease was given back"],
        Fact::Finished {
            is_recorded: false, ..
        } => vec!["a lease was lost before its outcome was recorded"],
        Fact::Finished {
            verdict: Verdict::RetryAt { .. },
            ..
        } => vec!["a delivery failed and was tried again"],
        Fact::Received { event_type, .. } if event_type == UNKNOWN_TYPE => {
            vec!["an event of an unknown type arrived"]
        }
        Fact::Mail(MailFact::Canceled) => vec!["a mail was canceled"],
        Fact::Mail(MailFact::Refused { .. }) => vec!["a mail was refused"],
        Fact::Paused(_) => vec!["an endpoint was paused"],
        Fact::Resent(_) => vec!["a delivery was resent"],
        Fact::Rotated(..) => vec!["a secret was rotated"],
        Fact::Promoted => vec!["a standby was promoted"],
        Fact::CutOff { .. } => vec!["a promotion cut a commit off"],
        Fact::Keyed { answer, .. } => keyed(answer),
        Fact::Moved(_) => vec!["an endpoint was moved"],
        Fact::Jumped(_) => vec!["the clock jumped"],
        Fact::LeftAhead(_) => vec!["a clock left a delivery days ahead"],
        Fact::ClockSet { ahead, .. } if ahead.abs() > MAX_OFFSET => {
            vec!["an instance's clock was set wrong"]
        }
        Fact::Committed(recorded) => match recorded.event.event_type {
            EventType::PreAuthorizationExpired => vec!["an offer expired"],
            EventType::AnticipationReopened => vec!["an operation was reopened"],
            _ => vec![],
        },
        Fact::CommittedOrder(recorded) => match recorded.event.event_type {
            EventType::PaymentOrderPaid => vec!["a payment order was paid"],
            _ => vec![],
        },
        Fact::Ordered {
            answer: CommandAnswer::Refused(_),
            ..
        } => vec!["a payment order lost a race"],
        Fact::Offered { answer, .. } => offered(answer),
        Fact::CommandOutcome {
            answer: CommandAnswer::Unknown,
            ..
        } => vec!["a command's outcome was unknown"],
        Fact::LandedLate { deed, is_applied } => vec![end_of_late(*deed, *is_applied)],
        Fact::CommandOutcome {
            action: Action::Cancel,
            answer: CommandAnswer::Refused(why),
            ..
        } if why.starts_with("not possible") => vec!["a cancel lost a race"],
        _ => vec![],
    }
}

const fn no_room(is_planned: bool) -> &'static str {
    if is_planned {
        "a commit was to find no room"
    } else {
        "a commit found no room"
    }
}

fn faulted(call: Call, fault: Fault) -> Vec<&'static str> {
    match (call, fault) {
        (Call::Commit, Fault::LosesAnswer) => vec!["a commit's answer was lost"],
        (Call::Commit, Fault::LandsLate) => vec!["a commit landed late"],
        (Call::Commit, Fault::FailsUnknown) => vec!["a commit failed and nobody knew"],
        (Call::Commit, Fault::StaysLocked) => vec!["a commit waited in vain for a lock"],
        (Call::Claim, Fault::StaysLocked) => vec!["a claim met a locked delivery"],
        (Call::Finish, Fault::StaysLocked) => {
            vec!["the outcome of an attempt met a locked delivery"]
        }
        (Call::Register, Fault::StaysLocked) => {
            vec!["a write of the platform met a locked row"]
        }
        (Call::Commit, Fault::Conflicts) => vec!["a commit met a conflict"],
        (Call::Commit, Fault::KillsAfter) => vec!["an instance was killed after its commit"],
        (Call::Send, Fault::KillsBefore | Fault::KillsAfter) => {
            vec!["an instance was killed during a delivery"]
        }
        _ => vec![],
    }
}

/// A commit whose answer was lost, and that was written later, for each kind of commit.
fn applied_late(deed: Deed) -> String {
    format!("{deed} was applied late")
}

const fn end_of_late(deed: Deed, is_applied: bool) -> &'static str {
    match (deed, is_applied) {
        (Deed::TestEvent, true) => "a late test event was applied",
        (Deed::Company | Deed::ApiKey, true) => "a late create of the directory was applied",
        (_, true) => "a late commit was applied",
        (_, false) => "a late commit was no longer possible",
    }
}

fn keyed(answer: &OfferAnswer) -> Vec<&'static str> {
    match answer {
        OfferAnswer::Replayed(_) => vec!["a create of the platform was replayed"],
        OfferAnswer::InProgress => vec!["a create of the platform met its own key in progress"],
        OfferAnswer::Refused(why) if why.contains("payment order") => {
            vec!["an operation had a payment order already"]
        }
        _ => vec![],
    }
}

fn offered(answer: &OfferAnswer) -> Vec<&'static str> {
    match answer {
        OfferAnswer::Replayed(_) => vec!["an offer was replayed"],
        OfferAnswer::InProgress => vec!["an offer met its own key in progress"],
        OfferAnswer::Duplicate(_) => vec!["an offer met a duplicate"],
        OfferAnswer::Unknown => vec!["an offer's outcome was unknown"],
        OfferAnswer::Lost => vec!["a caller had no answer"],
        OfferAnswer::Created(_) | OfferAnswer::Refused(_) | OfferAnswer::NotDone => vec![],
    }
}
