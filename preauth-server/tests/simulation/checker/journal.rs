//! Commits in their order: I2, I3 at every moment, the delay of I6, the amounts of I15, and I16.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chrono::TimeDelta;
use preauth_core::value::{EventType, InvoiceNumber, OperationId, Timestamp};

use crate::history::{Fact, Recorded};
use crate::scene::Scene;

use super::{Case, EXPIRY_PATIENCE};

/// After the last fault, delays within this time are no violation.
const SETTLING: TimeDelta = TimeDelta::seconds(20);

impl<'a> Case<'a> {
    pub(super) fn journal(&mut self) {
        let mut last: BTreeMap<OperationId, &'a Recorded> = BTreeMap::new();
        let mut holders: BTreeMap<Cow<'a, str>, OperationId> = BTreeMap::new();
        for next in self.commits() {
            let id = next.operation.id;
            last.insert(id, next);
            self.amounts(next);
            self.staged_mail(next);
            let number = next.operation.invoice.number.as_ref();
            if let Some(number) = number.map(InvoiceNumber::compared) {
                if next.operation.status().is_in_progress() {
                    let holder = *holders.entry(number.clone()).or_insert(id);
                    self.expect(holder == id, "I3", || {
                        format!("operations {holder} and {id} both hold invoice {number}")
                    });
                } else if holders.get(&number) == Some(&id) {
                    holders.remove(&number);
                }
            }
        }
        self.stored(&last);
        self.expiries();
    }

    /// An offer stages one mail to its supplier; later changes stage none.
    fn staged_mail(&mut self, next: &Recorded) {
        let is_offer = next.event.event_type == EventType::PreAuthorizationCreated;
        let has_mail = next.mail.is_some();
        self.expect(has_mail == is_offer, "I16", || {
            format!("{next} was committed with a mail: {has_mail}")
        });
    }

    fn amounts(&mut self, next: &Recorded) {
        let operation = &next.operation;
        let invoices = (0..4).flat_map(|it| [Scene::invoice(it), Scene::decomposed(it)]);
        let mut meant = invoices.filter(|invoice| invoice.number == operation.invoice.number);
        let is_meant = meant.any(|invoice| invoice == operation.invoice)
            || operation.invoice == self.scene.advance(None).invoice;
        self.expect(is_meant, "I15", || {
            format!("the amounts changed on their way to {next}")
        });
    }

    /// The stored events are the committed ones, event by event.
    fn stored(&mut self, last: &BTreeMap<OperationId, &Recorded>) {
        for (id, recorded) in last {
            let stored = self.end.operation(*id);
            self.expect(stored == Some(&recorded.operation), "I2", || {
                format!("operation {id} is stored as {stored:?}, last was {recorded}")
            });
        }
        let (stored, committed) = (self.end.operations.len(), last.len());
        self.expect(stored == committed, "I2", || {
            format!("{stored} operations are stored, {committed} were committed")
        });
        for (id, stored) in &self.end.operations {
            let committed = self.commits().filter(|it| it.operation.id == *id);
            let are_equal = committed
                .map(|it| (it.event.id, &it.event.body))
                .eq(stored.events.iter().map(|event| (event.id, &event.body)));
            self.expect(are_equal, "I2", || {
                format!("the stored history of operation {id} is not what was committed")
            });
        }
    }

    /// By the database's clock, regardless of the clock of the instance that recorded it.
    fn not_early(&mut self, next: &Recorded, recorded_at: Timestamp) {
        let is_expiry = next.event.event_type == EventType::PreAuthorizationExpired;
        if let Some(end) = next.operation.expires_at.filter(|_| is_expiry) {
            let id = next.operation.id;
            self.expect(recorded_at > end, "I6", || {
                format!("operation {id} stands until {end} and expired at {recorded_at}")
            });
        }
    }

    fn expiries(&mut self) {
        let overdue = &self.end.overdue;
        self.expect(overdue.is_empty(), "I6", || {
            format!("operations {overdue:?} are overdue and did not expire")
        });
        let mut quiet: Option<Timestamp> = None;
        for entry in self.history {
            match &entry.fact {
                Fact::Quiet => quiet = Some(entry.at.saturating_add(SETTLING)),
                Fact::Jumped(by) => {
                    let arrived = entry.at.saturating_add(*by);
                    quiet = quiet.map(|quiet| quiet.max(arrived));
                }
                Fact::Committed(next) => {
                    let (id, at) = (next.operation.id, next.event.at);
                    self.not_early(next, entry.at);
                    let end = next.operation.expires_at.into_iter().zip(quiet).next();
                    if let Some((end, quiet)) = end
                        && next.event.event_type == EventType::PreAuthorizationExpired
                    {
                        let latest = end.max(quiet).saturating_add(EXPIRY_PATIENCE);
                        self.expect(at <= latest, "I6", || {
                            format!("operation {id} expired only at {at}")
                        });
                    }
                }
                _ => {}
            }
        }
    }
}
