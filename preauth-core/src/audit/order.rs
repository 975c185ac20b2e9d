//! Checks a payment order by replaying its own events.

use crate::payment_order::{ORDER_TRANSITIONS, OrderAction, OrderChange, PaymentOrder, evolve};
use crate::port::{DecodedData, DecodedOrder, StoredEvent, StoredOrder, Subject};
use crate::value::{PaymentOrderStatus, Reason, Version};

use super::checker::{Checker, Findings};
use super::event::numbering;
use super::{Rule, Violation};

impl Checker<'_> {
    /// Checks a payment order with its events and deliveries.
    #[must_use]
    pub fn order(&self, stored: &StoredOrder) -> Vec<Violation> {
        let order = &stored.order;
        let mut found = Findings::of(Subject::Order(order.id));
        let is_own = stored.head_office == order.payer.head_office;
        found.expect(is_own, Rule::OwnParties, || {
            let (other, own) = (stored.head_office, order.payer.head_office);
            format!("it stands under company {other}, and is of {own}")
        });
        let is_in_force = !matches!(
            order.status,
            PaymentOrderStatus::Canceled | PaymentOrderStatus::Reproved
        );
        for earlier in stored
            .earlier
            .iter()
            .filter(|it| is_in_force && it.is_in_force())
        {
            found.expect(false, Rule::OnePaymentOrder, || {
                format!("its operation has payment order {} already", earlier.id)
            });
        }
        let mut decoded = Vec::with_capacity(stored.events.len());
        for event in &stored.events {
            decoded.extend(self.decoded_order(event, order, &mut found));
        }
        let is_numbered = numbering(&stored.events, order.version, &mut found);
        if is_numbered && decoded.len() == stored.events.len() {
            replayed(stored, &decoded, &mut found);
        }
        let mut violations = found.violations;
        for event in &stored.events {
            violations.extend(self.deliveries(event, &[order.payer.head_office]));
        }
        violations
    }

    fn decoded_order(
        &self,
        event: &StoredEvent,
        order: &PaymentOrder,
        found: &mut Findings,
    ) -> Option<DecodedOrder> {
        let DecodedData::Order(decoded) = self.decoded(event, found)?.data else {
            found.expect(false, Rule::FrozenBody, || {
                format!("event {} reports no payment order", event.id)
            });
            return None;
        };
        found.expect(decoded.amount == order.amount, Rule::Amounts, || {
            format!(
                "event {} reports the amount {}, and {} is stored",
                event.id, decoded.amount, order.amount
            )
        });
        let is_same = decoded.id == order.id
            && decoded.operation == order.operation
            && decoded.payer == order.payer.cnpj
            && decoded.supplier == order.supplier.cnpj;
        found.expect(is_same, Rule::FrozenBody, || {
            format!("event {} reports another order than is stored", event.id)
        });
        Some(*decoded)
    }
}

fn replayed(stored: &StoredOrder, decoded: &[DecodedOrder], found: &mut Findings) {
    let mut steps = stored.events.iter().zip(decoded);
    let Some((first, first_told)) = steps.next() else {
        return;
    };
    let create = OrderAction::Create.transition();
    let begins = first.event_type == create.event && stored.order.created_at == first.at;
    found.expect(begins, Rule::PathOfTheTable, || {
        format!(
            "it does not begin with event {} ({} at {})",
            first.id, first.event_type, first.at
        )
    });
    let mut order = PaymentOrder {
        version: Version::INITIAL,
        status: PaymentOrderStatus::Created,
        scheduled_for: first_told.scheduled_for,
        reason: None,
        ..stored.order.clone()
    };
    in_step(&order, first, first_told, found);
    for (event, decoded) in steps {
        let row = ORDER_TRANSITIONS
            .iter()
            .find(|row| row.event == event.event_type && row.from.contains(&order.status));
        found.expect(row.is_some(), Rule::PathOfTheTable, || {
            let from = order.status;
            format!(
                "no row leads from {from} by event {} ({})",
                event.id, event.event_type
            )
        });
        let Some(row) = row else { return };
        let change = OrderChange {
            action: row.action,
            scheduled_for: decoded
                .scheduled_for
                .filter(|_| row.action == OrderAction::Schedule),
            reason: decoded
                .reason
                .as_deref()
                .and_then(|reason| Reason::from_stored(reason).ok()),
        };
        order = evolve(&order, &change);
        in_step(&order, event, decoded, found);
    }
    found.expect(order == stored.order, Rule::StateOfItsEvents, || {
        format!(
            "its events lead to {}, and {} is stored",
            shown(&order),
            shown(&stored.order)
        )
    });
}

/// The fields that `evolve` can change, for messages.
fn shown(order: &PaymentOrder) -> String {
    let day = order.scheduled_for.map(|day| day.to_string());
    format!(
        "version {}, {} (scheduled for: {}, reason: {})",
        order.version,
        order.status,
        day.as_deref().unwrap_or("no day"),
        order.reason.as_ref().map_or("none", Reason::as_str)
    )
}

/// The event reports the mutable fields as they were right after it.
fn in_step(
    after: &PaymentOrder,
    event: &StoredEvent,
    decoded: &DecodedOrder,
    found: &mut Findings,
) {
    let is_same = decoded.status == after.status
        && decoded.scheduled_for == after.scheduled_for
        && decoded.reason.as_deref() == after.reason.as_ref().map(Reason::as_str);
    found.expect(is_same, Rule::FrozenBody, || {
        format!(
            "event {} reports {}, and it was {}",
            event.id, decoded.status, after.status
        )
    });
}
