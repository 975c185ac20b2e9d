//! What reached the receivers: I4, I9, I10, and the leases of I14.

use std::collections::{BTreeMap, BTreeSet};

use preauth_core::delivery::RETRY_DELAYS_SECONDS;
use preauth_core::memory::{DeliveryRecord, DeliveryStatus};
use preauth_core::value::{DeliveryId, EndpointId, EventId};

use crate::history::{Fact, Recorded};

use super::Case;

/// What is known of the deliveries at one point of the history.
#[derive(Default)]
struct Known<'a> {
    committed: BTreeMap<EventId, &'a Recorded>,
    taken: BTreeSet<(EndpointId, EventId)>,
    paused: BTreeSet<EndpointId>,
    newest: BTreeMap<DeliveryId, i64>,
}

impl<'a> Case<'a> {
    pub(super) fn deliveries(&mut self) {
        let mut known = Known::default();
        for entry in self.history {
            self.step(&mut known, &entry.fact);
        }
        for (event, recorded) in &known.committed {
            self.addressed(recorded);
            let stored = self.end.deliveries.get(event);
            for delivery in stored.into_iter().flatten() {
                let is_taken = known.taken.contains(&(delivery.endpoint, *event));
                self.ended(*event, delivery, is_taken);
            }
        }
    }

    fn step(&mut self, known: &mut Known<'a>, fact: &'a Fact) {
        match fact {
            Fact::Committed(recorded) => {
                let twice = known.committed.insert(recorded.event.id, recorded);
                self.expect(twice.is_none(), "I2", || {
                    format!("event {} was recorded twice", recorded.event.id)
                });
            }
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
                self.expect(!known.paused.contains(endpoint), "I10", || {
                    format!("{fact}, and endpoint {endpoint} is paused")
                });
            }
            Fact::Finished {
                delivery,
                token,
                is_recorded: true,
                ..
            } => {
                let newest = known.newest.get(delivery);
                self.expect(newest == Some(token), "I14", || {
                    format!("{fact}, and the newest lease is {newest:?}")
                });
            }
            Fact::Received {
                endpoint,
                event,
                body,
                forged,
                is_taken,
            } => {
                let committed = known.committed.get(event);
                self.expect(committed.is_some(), "I4", || {
                    format!("event {event} arrived, and nothing of it is recorded")
                });
                let is_frozen = committed.is_none_or(|it| it.event.body == *body);
                self.expect(is_frozen && forged.is_none(), "I9", || {
                    format!("event {event} arrived changed or forged: {forged:?}")
                });
                if *is_taken {
                    known.taken.insert((*endpoint, *event));
                }
            }
            _ => {}
        }
    }

    /// There is a delivery for everybody who is to hear of an event, and for nobody else.
    fn addressed(&mut self, recorded: &Recorded) {
        let operation = &recorded.operation;
        let parties = [operation.payer.head_office, operation.supplier.head_office];
        let hear = self.scene.hearings.iter().filter(|hearing| {
            parties.contains(&hearing.company) && hearing.events.contains(recorded.event.event_type)
        });
        let meant: BTreeSet<_> = hear.map(|hearing| hearing.endpoint).collect();
        let stored = self.end.deliveries.get(&recorded.event.id);
        let stored = stored.into_iter().flatten();
        let endpoints: Vec<_> = stored.map(|delivery| delivery.endpoint).collect();
        let is_right =
            endpoints.len() == meant.len() && endpoints.iter().all(|it| meant.contains(it));
        self.expect(is_right, "I4", || {
            format!(
                "{} of {} deliveries exist: {recorded}",
                endpoints.len(),
                meant.len()
            )
        });
    }

    /// A delivery arrived, or ended after all its attempts.
    fn ended(&mut self, event: EventId, delivery: &DeliveryRecord, is_taken: bool) {
        let (status, attempts) = (delivery.status, delivery.attempts.len());
        match status {
            DeliveryStatus::Delivered => self.expect(is_taken, "I4", || {
                format!("event {event} counts as delivered, and nobody has it")
            }),
            DeliveryStatus::Failed => {
                let is_used_up = attempts > RETRY_DELAYS_SECONDS.len();
                self.expect(is_used_up, "I4", || {
                    format!("event {event} was given up after {attempts} attempts")
                });
            }
            DeliveryStatus::Pending => {
                let invariant = if is_taken { "I14" } else { "I4" };
                self.expect(false, invariant, || {
                    format!("event {event} is still on its way after {attempts} attempts")
                });
            }
        }
    }
}
