//! What the archives of both databases share: rows that were read in bulk become the records that
//! they belong to, and a row that cannot be read is told in place of its record.

use std::collections::{HashMap, HashSet};

use preauth_core::port::{
    Read, Record, StoredAttempt, StoredDelivery, StoredEvent, Subject, Unreadable,
};
use preauth_core::value::{DeliveryId, EventId};

/// The outcome of reading a row: what it holds, or why it cannot be read.
pub(super) type RowRead<T> = Result<T, String>;

/// The events of a page, by the number of what they tell of; attempts and deliveries are added before them.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    attempts: HashMap<DeliveryId, Vec<StoredAttempt>>,
    deliveries: HashMap<EventId, Vec<StoredDelivery>>,
    events: HashMap<i64, Vec<StoredEvent>>,
    broken_deliveries: HashSet<DeliveryId>,
    broken_owners: HashSet<i64>,
    unreadable: Vec<Unreadable>,
}

impl Gathering {
    pub(super) fn attempt(&mut self, of: DeliveryId, read: RowRead<StoredAttempt>) {
        match read {
            Ok(attempt) => self.attempts.entry(of).or_default().push(attempt),
            Err(what) => self.broken_delivery(of, what),
        }
    }

    /// Takes the delivery's attempts along.
    pub(super) fn delivery(&mut self, of: EventId, id: DeliveryId, read: RowRead<StoredDelivery>) {
        if self.broken_deliveries.contains(&id) {
            return;
        }
        match read {
            Ok(mut delivery) => {
                delivery.attempts = self.attempts.remove(&id).unwrap_or_default();
                self.deliveries.entry(of).or_default().push(delivery);
            }
            Err(what) => self.broken_delivery(id, what),
        }
    }

    /// Takes the event's deliveries along.
    pub(super) fn event(&mut self, of: i64, id: EventId, read: RowRead<StoredEvent>) {
        match read {
            Ok(mut event) => {
                event.deliveries = self.deliveries.remove(&id).unwrap_or_default();
                self.events.entry(of).or_default().push(event);
            }
            Err(what) => {
                self.broken_owners.insert(of);
                let subject = Subject::Event(id);
                self.unreadable.push(Unreadable { subject, what });
            }
        }
    }

    /// Puts a record together; nothing when one of its events was told to be unreadable, because
    /// without it the others make no sense.
    pub(super) fn record<T>(
        &mut self,
        of: i64,
        subject: Subject,
        read: RowRead<T>,
        whole: impl FnOnce(T, Vec<StoredEvent>) -> Record,
    ) -> Option<Read<Record>> {
        let events = self.events.remove(&of).unwrap_or_default();
        match read {
            Ok(_) if self.broken_owners.contains(&of) => None,
            Ok(own) => Some(Ok(whole(own, events))),
            Err(what) => Some(Err(Unreadable { subject, what })),
        }
    }

    /// Every event that tells of nothing with a number.
    pub(super) fn others(&mut self) -> Vec<StoredEvent> {
        self.events.remove(&0).unwrap_or_default()
    }

    /// What could not be read of deliveries and events.
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
