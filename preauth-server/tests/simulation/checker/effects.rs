//! Answers and recorded changes: I12.
//!
//! A request is identified by its subject and its time, which is also the event's.

use std::collections::BTreeMap;

use preauth_core::value::{
    EventType, IdempotencyKey, InvoiceNumber, OperationId, PaymentOrderId, Timestamp,
};

use crate::history::{CommandAnswer, Deed, Fact, OfferAnswer, Recorded};
use crate::scene::Scene;

use super::Case;

/// The subject of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    Offer(Option<String>, Option<IdempotencyKey>),
    Advance(Option<String>),
    Operation(OperationId),
    NewOrder,
    Order(PaymentOrderId),
    Invoice,
    /// A test event, or a create of the directory, by its name.
    New(String),
}

type Request = (About, &'static str, Timestamp);

/// How often a change was requested and how often it happened.
#[derive(Debug, Default)]
struct Effects {
    /// Requests answered as done.
    done: u32,
    /// Requests with an unknown outcome.
    perhaps: u32,
    events: u32,
}

impl Case<'_> {
    pub(super) fn effects(&mut self) {
        let mut all: BTreeMap<Request, Effects> = BTreeMap::new();
        for entry in self.history {
            if let Some((request, answer)) = asked(&entry.fact) {
                let effects = all.entry(request).or_default();
                match answer {
                    Some(true) => effects.done += 1,
                    None => effects.perhaps += 1,
                    Some(false) => {}
                }
            }
            if let Some(request) = happened(&entry.fact) {
                all.entry(request).or_default().events += 1;
            }
        }
        for (request, effects) in all {
            let Effects {
                done,
                perhaps,
                events,
            } = effects;
            self.expect((done..=done + perhaps).contains(&events), "I12", || {
                format!("{request:?} happened {events} times: {done} done, {perhaps} perhaps")
            });
        }
    }
}

/// A request, and whether it was done according to its answer; `None` if unknown.
fn asked(fact: &Fact) -> Option<(Request, Option<bool>)> {
    let number = |invoice: usize| Scene::invoice(invoice).number.map(|it| compared(&it));
    match fact {
        Fact::Offered {
            key,
            invoice,
            at,
            answer,
        } => {
            let about = About::Offer(number(*invoice), key.clone());
            let request = (about, EventType::PreAuthorizationCreated.as_str(), *at);
            Some((request, has_begun(answer)))
        }
        Fact::Advanced {
            invoice,
            at,
            answer,
        } => {
            let about = About::Advance(invoice.and_then(number));
            let request = (about, EventType::AnticipationCreated.as_str(), *at);
            // Under a key, a replay may repeat the answer of a request whose own answer was lost.
            let is_done = match answer {
                OfferAnswer::Replayed(_) => None,
                answer => has_begun(answer),
            };
            Some((request, is_done))
        }
        Fact::CommandOutcome {
            operation,
            action,
            at,
            answer,
        } => {
            let about = About::Operation(*operation);
            let request = (about, action.transition().event.as_str(), *at);
            Some((request, is_done(answer)))
        }
        Fact::Ordered {
            order,
            action,
            at,
            answer,
        } => {
            let about = order.map_or(About::NewOrder, About::Order);
            let request = (about, action.transition().event.as_str(), *at);
            Some((request, is_done(answer)))
        }
        Fact::Invoiced { at, answer } => {
            let request = (About::Invoice, EventType::InvoiceReceived.as_str(), *at);
            Some((request, is_done(answer)))
        }
        Fact::Made { deed, at, answer } => Some((made(*deed, *at), is_done(answer))),
        _ => None,
    }
}

fn made(deed: Deed, at: Timestamp) -> Request {
    (About::New(deed.to_string()), "created", at)
}

/// The request behind a commit; an expiry has none.
fn happened(fact: &Fact) -> Option<Request> {
    let (about, event) = match fact {
        Fact::Committed(recorded) => (about(recorded), &recorded.event),
        Fact::CommittedOrder(recorded) => {
            let about = match recorded.event.event_type {
                EventType::PaymentOrderCreated => About::NewOrder,
                _ => About::Order(recorded.order.id),
            };
            (about, &recorded.event)
        }
        Fact::Announced(recorded) if recorded.event.event_type == EventType::WebhookTest => {
            return Some(made(Deed::TestEvent, recorded.event.at));
        }
        Fact::Announced(recorded) => (About::Invoice, &recorded.event),
        Fact::Registered(entry) => return Some(made(entry.deed, entry.at)),
        _ => return None,
    };
    let is_asked_for = event.event_type != EventType::PreAuthorizationExpired;
    is_asked_for.then_some((about, event.event_type.as_str(), event.at))
}

fn about(recorded: &Recorded) -> About {
    let operation = &recorded.operation;
    let number = || operation.invoice.number.as_ref().map(compared);
    match recorded.event.event_type {
        EventType::PreAuthorizationCreated => About::Offer(number(), recorded.key.clone()),
        EventType::AnticipationCreated => About::Advance(number()),
        _ => About::Operation(operation.id),
    }
}

fn compared(number: &InvoiceNumber) -> String {
    number.compared().into_owned()
}

fn has_begun(answer: &OfferAnswer) -> Option<bool> {
    match answer {
        OfferAnswer::Created(_) => Some(true),
        OfferAnswer::Replayed(_)
        | OfferAnswer::Duplicate(_)
        | OfferAnswer::Refused(_)
        | OfferAnswer::InProgress
        | OfferAnswer::NotDone => Some(false),
        OfferAnswer::Unknown | OfferAnswer::Lost => None,
    }
}

fn is_done(answer: &CommandAnswer) -> Option<bool> {
    match answer {
        CommandAnswer::Done => Some(true),
        CommandAnswer::Unchanged | CommandAnswer::Refused(_) | CommandAnswer::NotDone => {
            Some(false)
        }
        CommandAnswer::Unknown | CommandAnswer::Lost => None,
    }
}
