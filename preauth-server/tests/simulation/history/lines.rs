//! The history as text: one line per fact.

use std::fmt;

use preauth_core::value::IdempotencyKey;

use crate::clock::start;

use super::{Entry, Fact, OfferAnswer, Recorded};

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.at.since(start()).num_milliseconds();
        write!(
            f,
            "{:>7}.{:03} s  {}",
            seconds / 1000,
            seconds % 1000,
            self.fact
        )
    }
}

impl fmt::Display for Fact {
    #[expect(clippy::too_many_lines, reason = "a list, one sentence an entry")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offered {
                key,
                invoice,
                answer,
                ..
            } => {
                let key = key.as_ref().map_or("without key", IdempotencyKey::as_str);
                write!(f, "caller: offer of invoice {invoice}, {key}: {answer}")
            }
            Self::CommandOutcome {
                operation,
                action,
                answer,
                ..
            } => write!(f, "caller: {action:?} operation {operation}: {answer:?}"),
            Self::Advanced {
                invoice, answer, ..
            } => write!(
                f,
                "supplier: direct advance of invoice {invoice:?}: {answer}"
            ),
            Self::Ordered { action, answer, .. } => {
                write!(f, "caller: {action:?} a payment order: {answer:?}")
            }
            Self::Invoiced { answer, .. } => write!(f, "platform: receives an invoice: {answer:?}"),
            Self::LandedLate { deed, is_applied } => {
                write!(f, "late commit ends: {deed}, applied: {is_applied}")
            }
            Self::Committed(recorded) => recorded.fmt(f),
            Self::CommittedOrder(recorded) => {
                let (order, event) = (&recorded.order, &recorded.event);
                write!(
                    f,
                    "committed: payment order {} v{} {}, {} as event {}",
                    order.id, order.version, order.status, event.event_type, event.id
                )
            }
            Self::Claimed { .. }
            | Self::HandedOver { .. }
            | Self::Finished { .. }
            | Self::Released { .. }
            | Self::Received { .. }
            | Self::Resent(_) => self.delivery_line(f),
            Self::Mail(fact) => write!(f, "mail: {fact:?}"),
            Self::Read { company, event, .. } => write!(f, "{company} reads event {event}"),
            Self::Announced(recorded) => {
                let event = &recorded.event;
                write!(f, "committed: {} as event {}", event.event_type, event.id)
            }
            Self::Registered(entry) => {
                write!(f, "created: {} as {}", entry.deed, entry.id)?;
                match &entry.key {
                    Some(key) => write!(f, ", key {key}"),
                    None => Ok(()),
                }
            }
            Self::Made { deed, answer, .. } => write!(f, "platform: {deed}: {answer:?}"),
            Self::Paused(endpoint) => write!(f, "endpoint {endpoint} is paused"),
            Self::Resumed(endpoint) => write!(f, "endpoint {endpoint} is resumed"),
            Self::Rotated(endpoint, until) => {
                write!(
                    f,
                    "endpoint {endpoint} has a new secret, the others end at {until}"
                )
            }
            Self::Moved(endpoint) => write!(f, "endpoint {endpoint} has a new address"),
            Self::Started(_)
            | Self::Stopped(_)
            | Self::Killed(_)
            | Self::Muted(_)
            | Self::DispatcherEnded(_)
            | Self::FoundRoom { .. }
            | Self::FoundNoRoom { .. }
            | Self::Searched { .. }
            | Self::Faulted { .. }
            | Self::CutOff { .. }
            | Self::ClockSet { .. } => self.instance_line(f),
            Self::Jumped(by) => write!(f, "the clock jumps by {} s", by.num_seconds()),
            Self::LeftAhead(by) => {
                write!(f, "a clock leaves a delivery {} days ahead", by.num_days())
            }
            Self::LeasesAdvanced => write!(f, "the leases are as old as the clocks"),
            Self::Keyed { creation, answer } => write!(f, "platform: {creation:?}: {answer}"),
            Self::Reserved(kind, id) => write!(f, "id {id} is reserved for an {kind}"),
            Self::Promoted => f.write_str("a standby is PROMOTED"),
            Self::Quiet => f.write_str("-- quiet from here on"),
            Self::LastQuestions => f.write_str("-- last questions"),
            Self::AuditBegun | Self::AuditEnded | Self::Alarmed(_) => self.auditor_line(f),
            Self::Broken(what) => write!(f, "BROKEN: {what}"),
        }
    }
}

impl Fact {
    fn instance_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(instance) => write!(f, "instance {instance}: starts"),
            Self::Stopped(instance) => write!(f, "instance {instance}: stopped in good order"),
            Self::Killed(instance) => write!(f, "instance {instance}: KILLED"),
            Self::Muted(instance) => write!(f, "instance {instance}: its dispatcher is MUTE"),
            Self::DispatcherEnded(instance) => {
                write!(f, "instance {instance}: its dispatcher has ENDED")
            }
            Self::FoundRoom { process, endpoint } => {
                write!(f, "process {process}: room for a delivery to {endpoint}")
            }
            Self::FoundNoRoom {
                process,
                endpoint,
                is_planned,
            } => write!(
                f,
                "process {process}: no room for a delivery to {endpoint}, planned: {is_planned}"
            ),
            Self::Searched { process } => write!(f, "process {process}: a search has ended"),
            Self::Faulted {
                instance,
                call,
                fault,
            } => write!(f, "instance {instance}: {call:?} meets {fault:?}"),
            Self::CutOff { instance } => {
                write!(
                    f,
                    "instance {instance}: a commit is cut off by the promotion"
                )
            }
            Self::ClockSet { instance, ahead } => {
                write!(
                    f,
                    "instance {instance}: its clock is set {} s ahead",
                    ahead.num_seconds()
                )
            }
            _ => Ok(()),
        }
    }

    fn auditor_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AuditBegun => f.write_str("auditor: begins"),
            Self::AuditEnded => f.write_str("auditor: ends"),
            Self::Alarmed(violation) => write!(f, "auditor: {violation}"),
            _ => Ok(()),
        }
    }

    fn delivery_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claimed {
                instance,
                delivery,
                token,
                event,
                ..
            } => write!(
                f,
                "instance {instance}: claims delivery {delivery} of event {event}, lease {token}"
            ),
            Self::Finished {
                instance,
                delivery,
                token,
                verdict,
                is_recorded,
            } => write!(
                f,
                "instance {instance}: finishes delivery {delivery}, lease {token}: {verdict:?}, \
                 recorded: {is_recorded}"
            ),
            Self::HandedOver {
                delivery, is_lost, ..
            } => {
                write!(f, "delivery {delivery} is handed over, lost: {is_lost}")
            }
            Self::Released { delivery } => write!(f, "delivery {delivery} is given back"),
            Self::Received {
                endpoint,
                event,
                objection,
                is_taken,
                ..
            } => write!(
                f,
                "receiver {endpoint}: event {event}, taken: {is_taken}, objection: {objection:?}"
            ),
            Self::Resent(delivery) => write!(f, "delivery {delivery} is resent"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for OfferAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The part of a body that shows the operation and its status.
        fn shown(body: &str) -> &str {
            body.split_once(",\"externalReference")
                .map_or(body, |it| it.0)
        }
        match self {
            Self::Created(body) => write!(f, "created {}", shown(body)),
            Self::Replayed(body) => write!(f, "replayed {}", shown(body)),
            Self::Duplicate(existing) => write!(f, "duplicate of operation {existing}"),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::InProgress => f.write_str("its key is in progress"),
            Self::NotDone => f.write_str("not done"),
            Self::Unknown => f.write_str("unknown"),
            Self::Lost => f.write_str("no answer"),
        }
    }
}

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operation, event) = (&self.operation, &self.event);
        write!(
            f,
            "committed: operation {} v{} {}, {} as event {}, {} deliveries",
            operation.id,
            operation.version,
            operation.status(),
            event.event_type,
            event.id,
            self.deliveries.len()
        )?;
        match &self.key {
            Some(key) => write!(f, ", key {key}"),
            None => Ok(()),
        }
    }
}
