//! Payment orders: the stored ones are the committed ones. The audit checks their transitions.

use std::collections::BTreeMap;

use preauth_core::value::{EventId, PaymentOrderId};

use crate::history::{Fact, RecordedOrder};

use super::Case;

impl<'a> Case<'a> {
    pub(super) fn orders(&mut self) {
        let mut committed: BTreeMap<PaymentOrderId, Vec<&'a RecordedOrder>> = BTreeMap::new();
        for entry in self.history {
            if let Fact::CommittedOrder(recorded) = &entry.fact {
                committed
                    .entry(recorded.order.id)
                    .or_default()
                    .push(recorded);
            }
        }
        let (stored, count) = (self.end.orders.len(), committed.len());
        self.expect(stored == count, "I2", || {
            format!("{stored} payment orders are stored, {count} were committed")
        });
        for (id, commits) in committed {
            let ids: Vec<EventId> = commits.iter().map(|it| it.event.id).collect();
            let stored = self.end.orders.get(&id);
            let is_last = stored.map(|(order, _)| order) == commits.last().map(|it| &it.order);
            let are_all = stored.is_some_and(|(_, events)| events.iter().map(|it| it.id).eq(ids));
            self.expect(is_last && are_all, "I2", || {
                format!("payment order {id} is not stored as it was committed")
            });
        }
    }
}
