//! The requests that reached receivers: I4, I9, I10, the leases of I14, and what I18 says of those that
//! commits hand over.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use preauth_core::port::{DeliveryStatus, EventRecord, StoredDelivery};
use preauth_core::value::{CompanyId, DeliveryId, EndpointId, EventId, Timestamp};
use preauth_server::dispatcher::Limits;

use crate::history::{Entry, Fact};
use crate::newer::stored_type;

use super::Case;

/// A lease is not shorter than this, less what its record may come late.
const SHORTEST_LEASE: TimeDelta = TimeDelta::seconds(25);

/// The state of all deliveries at one point of the history.
#[derive(Default)]
struct Known<'a> {
    committed: BTreeMap<EventId, Announced<'a>>,
    /// Future commits: an event may arrive before its commit is recorded.
    expected: BTreeMap<EventId, Announced<'a>>,
    taken: BTreeSet<(EndpointId, EventId)>,
    paused: BTreeSet<EndpointId>,
    newest: BTreeMap<DeliveryId, i64>,
    /// Until when each delivery is leased at least.
    leased: BTreeMap<DeliveryId, Timestamp>,
    /// The deliveries that each mute dispatcher was handed, by endpoint: none of them ends.
    mute: BTreeMap<usize, BTreeMap<EndpointId, u32>>,
    /// The endpoints for which each process has left deliveries to its next search.
    waiting: BTreeSet<(u64, EndpointId)>,
}

/// A committed event and its receivers.
struct Announced<'a> {
    event: &'a EventRecord,
    parties: Vec<CompanyId>,
}

impl<'a> Announced<'a> {
    fn of(fact: &'a Fact) -> Option<Self> {
        match fact {
            Fact::Committed(recorded) => {
                let operation = &recorded.operation;
                Some(Self {
                    event: &recorded.event,
                    parties: vec![operation.payer.head_office, operation.supplier.head_office],
                })
            }
            Fact::CommittedOrder(recorded) => Some(Self {
                event: &recorded.event,
                parties: vec![recorded.order.payer.head_office],
            }),
            Fact::Announced(recorded) => Some(Self {
                event: &recorded.event,
                parties: vec![recorded.head_office],
            }),
            _ => None,
        }
    }
}

impl<'a> Case<'a> {
    pub(super) fn deliveries(&mut self) {
        let mut known = Known::default();
        if !self.is_exact {
            let facts = self.history.iter().map(|entry| &entry.fact);
            known.expected = facts
                .filter_map(Announced::of)
                .map(|it| (it.event.id, it))
                .collect();
        }
        for entry in self.history {
            self.step(&mut known, entry);
        }
        let deliveries = self.end.deliveries();
        for (event, announced) in &known.committed {
            let stored = deliveries.get(event).copied().unwrap_or_default();
            self.addressed(announced, stored);
            for delivery in stored {
                let is_taken = known.taken.contains(&(delivery.endpoint.id, *event));
                self.ended(*event, delivery, is_taken);
            }
        }
    }

    #[expect(clippy::too_many_lines, reason = "an arm for each kind of fact")]
    fn step(&mut self, known: &mut Known<'a>, entry: &'a Entry) {
        let fact = &entry.fact;
        if let Some(announced) = Announced::of(fact) {
            self.recorded_once(known, announced);
        }
        match fact {
            Fact::Paused(endpoint) => {
                known.paused.insert(*endpoint);
            }
            Fact::Resumed(endpoint) => {
                known.paused.remove(endpoint);
            }
            Fact::Claimed {
                delivery,
                token,
                endpoint,
                ..
            } => {
                known.newest.insert(*delivery, *token);
                self.leased_once(known, entry, *delivery);
                self.expect(!known.paused.contains(endpoint), "I10", || {
                    format!("{fact}, and endpoint {endpoint} is paused")
                });
            }
            Fact::Muted(instance) => {
                known.mute.insert(*instance, BTreeMap::new());
            }
            Fact::Started(instance) | Fact::Stopped(instance) | Fact::Killed(instance) => {
                known.mute.remove(instance);
            }
            Fact::HandedOver {
                instance,
                endpoint,
                is_lost: false,
                ..
            } => self.handed_within_room(known, *instance, *endpoint),
            Fact::FoundNoRoom {
                process,
                endpoint,
                is_planned: false,
            } => {
                known.waiting.insert((*process, *endpoint));
            }
            Fact::Searched { process } => known.waiting.retain(|(it, _)| it != process),
            Fact::FoundRoom { process, endpoint } => {
                let is_passed = known.waiting.contains(&(*process, *endpoint));
                // Over a real database commits and searches run on several threads.
                self.expect(!self.is_exact || !is_passed, "I18", || {
                    format!("{fact}, and an earlier one waits for a search")
                });
            }
            // All leases are shorter by a jump of the clocks, also those taken while it arrives.
            Fact::Jumped(_) | Fact::LeasesAdvanced => known.leased.clear(),
            Fact::Released { delivery } | Fact::Resent(delivery) => {
                known.leased.remove(delivery);
            }
            Fact::Finished {
                delivery,
                token,
                is_recorded: true,
                ..
            } => {
                known.leased.remove(delivery);
                let newest = known.newest.get(delivery);
                self.expect(newest == Some(token), "I14", || {
                    format!("{fact}, and the newest lease is {newest:?}")
                });
            }
            Fact::Received {
                endpoint,
                event,
                event_type,
                body,
                objection,
                is_taken,
            } => {
                let committed = known
                    .committed
                    .get(event)
                    .or_else(|| known.expected.get(event));
                self.expect(committed.is_some(), "I4", || {
                    format!("event {event} arrived, and nothing of it is recorded")
                });
                let is_frozen = committed.is_none_or(|it| it.event.body == *body);
                self.expect(is_frozen && objection.is_none(), "I9", || {
                    format!("event {event} arrived changed or forged: {objection:?}")
                });
                let is_stored_type = committed
                    .is_none_or(|it| stored_type(*event, it.event.event_type) == event_type);
                self.expect(is_stored_type, "I9", || {
                    format!("event {event} arrived as one of type {event_type}")
                });
                if *is_taken {
                    known.taken.insert((*endpoint, *event));
                }
            }
            _ => {}
        }
    }

    fn recorded_once(&mut self, known: &mut Known<'a>, announced: Announced<'a>) {
        let id = announced.event.id;
        let twice = known.committed.insert(id, announced);
        self.expect(twice.is_none(), "I2", || {
            format!("event {id} was recorded twice")
        });
    }

    /// Nobody else has a lease of the delivery.
    fn leased_once(&mut self, known: &mut Known<'a>, entry: &Entry, delivery: DeliveryId) {
        let until = entry.at.saturating_add(SHORTEST_LEASE);
        let earlier = known.leased.insert(delivery, until);
        let has_ended = earlier.is_none_or(|earlier| earlier <= entry.at);
        self.expect(has_ended, "I14", || {
            format!("{}, which is leased until {earlier:?}", entry.fact)
        });
    }

    /// A dispatcher that is mute frees no slot.
    fn handed_within_room(&mut self, known: &mut Known<'a>, instance: usize, endpoint: EndpointId) {
        let Some(handed) = known.mute.get_mut(&instance) else {
            return;
        };
        let count = handed.entry(endpoint).or_default();
        *count += 1;
        let (count, most) = (*count, Limits::default().per_endpoint_of_commits.get());
        self.expect(count <= most, "I18", || {
            format!("instance {instance} was handed {count} deliveries to {endpoint} at once")
        });
    }

    /// Each subscribed endpoint has one delivery of an event, and no other endpoint has any.
    fn addressed(&mut self, announced: &Announced<'_>, stored: &[StoredDelivery]) {
        let Announced { event, parties } = announced;
        let subscribed = self.scene.subscribers.iter().filter(|subscriber| {
            parties.contains(&subscriber.company) && subscriber.events.contains(event.event_type)
        });
        let meant: BTreeSet<_> = subscribed.map(|subscriber| subscriber.endpoint).collect();
        let is_right =
            stored.len() == meant.len() && stored.iter().all(|it| meant.contains(&it.endpoint.id));
        self.expect(is_right, "I4", || {
            let (stored, meant) = (stored.len(), meant.len());
            format!("{stored} of {meant} deliveries of event {} exist", event.id)
        });
    }

    /// A delivery was accepted, or has the status that its attempts lead to, which the audit
    /// checks.
    fn ended(&mut self, event: EventId, delivery: &StoredDelivery, is_taken: bool) {
        let attempts = delivery.attempts.len();
        match delivery.status {
            DeliveryStatus::Delivered => self.expect(is_taken, "I4", || {
                format!("event {event} counts as delivered, and nobody has it")
            }),
            DeliveryStatus::Failed => {}
            DeliveryStatus::Pending => {
                let invariant = if is_taken { "I14" } else { "I4" };
                self.expect(false, invariant, || {
                    format!("event {event} is still on its way after {attempts} attempts")
                });
            }
        }
    }
}
