//! Collects the events of a page from rows that were read in bulk.

use std::collections::{HashMap, HashSet};

use preauth_core::port::{
    Read, Record, StoredAttempt, StoredDelivery, StoredEvent, Subject, Unreadable,
};
use preauth_core::value::{DeliveryId, EventId};

use crate::store::rows::{Columns, Corrupt, RawRow};

use super::{RowRead, readable, stored};

/// The events of a page, by the number of their operation or order. Attempts are added first, then
/// deliveries, then events. Rows are in no order: to sort them, a database might read the index of
/// a whole table.
#[derive(Debug, Default)]
pub(in crate::store) struct Gathering {
    attempts: HashMap<DeliveryId, Vec<StoredAttempt>>,
    deliveries: HashMap<EventId, Vec<StoredDelivery>>,
    events: HashMap<i64, Vec<StoredEvent>>,
    broken_deliveries: HashSet<DeliveryId>,
    broken_owners: HashSet<i64>,
    unreadable: Vec<Unreadable>,
}

impl Gathering {
    pub(in crate::store) fn attempts(&mut self, rows: &[impl RawRow]) {
        for row in rows {
            match Columns::of("attempts", row).uuid("delivery_id") {
                Ok(delivery) => {
                    let attempt = readable(stored::attempt(row));
                    self.attempt(DeliveryId::new(delivery), attempt);
                }
                Err(corrupt) => self.without_key("an attempt", corrupt),
            }
        }
    }

    /// Adds deliveries; their attempts must be added before.
    pub(in crate::store) fn deliveries(&mut self, rows: &[impl RawRow]) {
        for row in rows {
            let columns = Columns::of("deliveries", row);
            match (columns.uuid("event_id"), columns.uuid("id")) {
                (Ok(event), Ok(id)) => {
                    let delivery = readable(stored::delivery(row));
                    self.delivery(EventId::new(event), DeliveryId::new(id), delivery);
                }
                (Err(corrupt), _) | (_, Err(corrupt)) => self.without_key("a delivery", corrupt),
            }
        }
    }

    /// Adds events; their deliveries must be added before.
    pub(in crate::store) fn events(&mut self, rows: &[impl RawRow]) {
        for row in rows {
            let columns = Columns::of("events", row);
            match (columns.raw("owner"), columns.uuid("id")) {
                (Ok(owner), Ok(id)) => {
                    self.event(owner, EventId::new(id), readable(stored::event(row)));
                }
                (owner, id) => {
                    self.broken_owners.extend(owner);
                    if let Err(corrupt) = owner.map(drop).and(id) {
                        self.without_key("an event", corrupt);
                    }
                }
            }
        }
    }

    fn without_key(&mut self, what: &'static str, corrupt: Corrupt) {
        self.unreadable.push(super::without_key(what, corrupt));
    }

    fn attempt(&mut self, of: DeliveryId, read: RowRead<StoredAttempt>) {
        match read {
            Ok(attempt) => self.attempts.entry(of).or_default().push(attempt),
            Err(what) => self.broken_delivery(of, what),
        }
    }

    /// Attaches the delivery's attempts.
    fn delivery(&mut self, of: EventId, id: DeliveryId, read: RowRead<StoredDelivery>) {
        if self.broken_deliveries.contains(&id) {
            return;
        }
        match read {
            Ok(mut delivery) => {
                delivery.attempts = self.attempts.remove(&id).unwrap_or_default();
                delivery.attempts.sort_by_key(|attempt| attempt.number);
                self.deliveries.entry(of).or_default().push(delivery);
            }
            Err(what) => self.broken_delivery(id, what),
        }
    }

    /// Attaches the event's deliveries.
    fn event(&mut self, of: i64, id: EventId, read: RowRead<StoredEvent>) {
        match read {
            Ok(mut event) => {
                event.deliveries = self.deliveries.remove(&id).unwrap_or_default();
                event.deliveries.sort_by_key(|delivery| delivery.id);
                self.events.entry(of).or_default().push(event);
            }
            Err(what) => {
                self.broken_owners.insert(of);
                let subject = Subject::Event(id);
                self.unreadable.push(Unreadable { subject, what });
            }
        }
    }

    /// Builds a record. `None` if one of its events is unreadable and reported as such: without it
    /// the others cannot be checked.
    pub(super) fn record<T>(
        &mut self,
        of: i64,
        subject: Subject,
        read: RowRead<T>,
        whole: impl FnOnce(T, Vec<StoredEvent>) -> Record,
    ) -> Option<Read<Record>> {
        let events = self.events_of(of);
        match read {
            Ok(_) if self.broken_owners.contains(&of) => None,
            Ok(own) => Some(Ok(whole(own, events))),
            Err(what) => Some(Err(Unreadable { subject, what })),
        }
    }

    /// Every event without a numbered subject.
    pub(super) fn others(&mut self) -> Vec<StoredEvent> {
        self.events_of(0)
    }

    fn events_of(&mut self, owner: i64) -> Vec<StoredEvent> {
        let mut events = self.events.remove(&owner).unwrap_or_default();
        events.sort_by_key(|event| (event.version, event.id));
        events
    }

    /// The errors of unreadable deliveries and events.
    pub(super) fn unreadable(self) -> impl Iterator<Item = Read<Record>> {
        self.unreadable.into_iter().map(Err)
    }

    fn broken_delivery(&mut self, id: DeliveryId, what: String) {
        if self.broken_deliveries.insert(id) {
            let subject = Subject::Delivery(id);
            self.unreadable.push(Unreadable { subject, what });
        }
    }
}
