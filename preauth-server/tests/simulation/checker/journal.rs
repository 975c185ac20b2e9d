//! What was committed, in order: I2, I3, I6, I8, I15.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use preauth_core::operation::{Action, Operation, State, TRANSITIONS};
use preauth_core::value::{EventType, InvoiceNumber, OperationId, Status, Timestamp, Version};

use crate::history::{Fact, Recorded};
use crate::scene::Scene;

use super::{Case, EXPIRY_PATIENCE};

/// After the last fault, this long nothing is expected.
const SETTLING: TimeDelta = TimeDelta::seconds(20);

impl<'a> Case<'a> {
    pub(super) fn journal(&mut self) {
        let mut last: BTreeMap<OperationId, &'a Recorded> = BTreeMap::new();
        let mut holders: BTreeMap<&'a InvoiceNumber, OperationId> = BTreeMap::new();
        for next in self.commits() {
            let id = next.operation.id;
            match last.insert(id, next) {
                None => self.began(next),
                Some(before) => self.moved(before, next),
            }
            self.amounts(next);
            if let Some(number) = &next.operation.invoice.number {
                if next.operation.status().is_in_progress() {
                    let holder = *holders.entry(number).or_insert(id);
                    self.expect(holder == id, "I3", || {
                        format!("operations {holder} and {id} both hold invoice {number}")
                    });
                } else if holders.get(number) == Some(&id) {
                    holders.remove(number);
                }
            }
        }
        self.stored(&last);
        self.expiries();
    }

    fn began(&mut self, opening: &Recorded) {
        let (operation, event) = (&opening.operation, &opening.event);
        let begins = TRANSITIONS.iter().any(|row| {
            row.from.is_empty() && row.to == operation.status() && row.event == event.event_type
        });
        self.expect(
            begins && operation.version == Version::INITIAL,
            "I8",
            || format!("operation {} begins as {opening}", operation.id),
        );
    }

    fn moved(&mut self, before: &Recorded, next: &Recorded) {
        let (from, to) = (&before.operation, &next.operation);
        self.expect(to.version == from.version.next(), "I8", || {
            format!("after {from_v} came {next}", from_v = from.version)
        });
        let mut rows = TRANSITIONS.iter().filter(|row| {
            row.event == next.event.event_type
                && row.from.contains(&from.status())
                && row.to == to.status()
        });
        let is_a_row = rows.any(|row| row.action != Action::Reopen || may_reopen(from));
        self.expect(is_a_row, "I8", || {
            format!("no row leads from {} by {next}", from.status())
        });
        if let (Status::InPreAuth, Some(end)) = (from.status(), from.expires_at) {
            let expires = next.event.event_type == EventType::PreAuthorizationExpired;
            self.expect((next.event.at > end) == expires, "I6", || {
                format!(
                    "the offer stands until {end}, and at {} came {next}",
                    next.event.at
                )
            });
        }
    }

    fn amounts(&mut self, next: &Recorded) {
        let operation = &next.operation;
        let invoices = (0..4).map(Scene::invoice);
        let mut meant = invoices.filter(|invoice| invoice.number == operation.invoice.number);
        let is_meant = meant.any(|invoice| invoice == operation.invoice);
        let amount = format!("\"amount\":{},", operation.invoice.amounts.amount());
        let is_told = next.event.body.contains(&amount);
        self.expect(is_meant && is_told, "I15", || {
            format!("the amounts changed on their way to {next}")
        });
        let net_is_right = match operation.net_amount {
            None => !needs_net(operation),
            Some(amount) => amount.cents() > 0 && amount <= operation.invoice.amounts.net_limit(),
        };
        self.expect(net_is_right, "I15", || {
            format!("net amount {:?} after {next}", operation.net_amount)
        });
    }

    /// What is stored is what was committed, event by event.
    fn stored(&mut self, last: &BTreeMap<OperationId, &Recorded>) {
        for (id, recorded) in last {
            let stored = self.end.operations.get(id);
            self.expect(stored == Some(&recorded.operation), "I2", || {
                format!("operation {id} is stored as {stored:?}, last was {recorded}")
            });
        }
        let (stored, committed) = (self.end.operations.len(), last.len());
        self.expect(stored == committed, "I2", || {
            format!("{stored} operations are stored, {committed} were committed")
        });
        for (id, entries) in &self.end.histories {
            let committed = self.commits().filter(|it| it.operation.id == *id);
            let are_equal = committed
                .map(|it| (it.event.id, &it.event.body))
                .eq(entries.iter().map(|entry| (entry.id, &entry.body)));
            let mut versions = (1..).zip(entries);
            let ascend = versions.all(|(number, entry)| entry.version.get() == number);
            self.expect(are_equal && ascend, "I2", || {
                format!("the stored history of operation {id} is not what was committed")
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

fn may_reopen(operation: &Operation) -> bool {
    operation.closing().is_some_and(|closing| {
        matches!(
            closing.action,
            Action::ReproveByCompany | Action::ReproveByPlatform
        )
    })
}

/// Whether the release lies behind.
const fn needs_net(operation: &Operation) -> bool {
    matches!(
        operation.state,
        State::ToPay | State::ToBill | State::ToReceive { .. } | State::Concluded
    )
}
