//! Endpoints and the deliveries on their way to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::port::{Attempt, EventRecord, NewDelivery, Subscription, Trigger};
use crate::value::{CompanyId, DeliveryId, EndpointId, EventId, Timestamp};

use super::MemoryStore;
use super::directory::Endpoint;
use super::tables::Sequence;

/// A delivery as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// Its id.
    pub id: DeliveryId,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// When its next attempt is due, or was, if there is none to come.
    pub due_at: Timestamp,
    /// Every attempt, oldest first.
    pub attempts: Vec<Attempt>,
}

/// Where a delivery stands. That of a paused endpoint is pending and waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// On its way, or waiting for its next attempt.
    Pending,
    /// It arrived.
    Delivered,
    /// It was given up.
    Failed,
}

#[derive(Debug, Default)]
pub(super) struct Deliveries {
    pub(super) endpoints: BTreeMap<EndpointId, Registered>,
    pub(super) rows: BTreeMap<DeliveryId, Delivery>,
    /// The pending ones, by due time; the queue that `claim` reads.
    pub(super) due: BTreeSet<(Timestamp, DeliveryId)>,
    /// The newest lease of each pending delivery that has one, live or run out.
    pub(super) leases: BTreeMap<DeliveryId, Lease>,
    pub(super) tokens: Sequence,
}

/// An endpoint and how it fares.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) endpoint: Endpoint,
    pub(super) is_paused: bool,
    pub(super) healthy_at: Timestamp,
}

#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) record: DeliveryRecord,
    pub(super) event: Arc<EventRecord>,
    pub(super) attempts_made: u32,
    pub(super) trigger: Trigger,
}

/// Who works on a delivery, and until when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    pub(super) token: i64,
    pub(super) until: Timestamp,
    pub(super) endpoint: EndpointId,
}

impl MemoryStore {
    /// Registers an endpoint, or replaces the one with the same id.
    pub fn add_endpoint(&self, endpoint: Endpoint) {
        let registered = Registered {
            is_paused: false,
            healthy_at: endpoint.registered_at,
            endpoint,
        };
        let mut tables = self.lock();
        let endpoints = &mut tables.deliveries.endpoints;
        endpoints.insert(registered.endpoint.id, registered);
    }

    /// Pauses an endpoint: its deliveries are kept and wait.
    pub fn pause_endpoint(&self, id: EndpointId) {
        self.lock().deliveries.set_paused(id, true);
    }

    /// Resumes an endpoint: what waited is given out again.
    pub fn resume_endpoint(&self, id: EndpointId) {
        self.lock().deliveries.set_paused(id, false);
    }

    /// Deletes an endpoint; its pending deliveries end as failed.
    pub fn delete_endpoint(&self, id: EndpointId) {
        self.lock().deliveries.delete_endpoint(id);
    }

    /// Makes a delivery due at `now`, with the whole schedule before it, whatever became of it;
    /// `false` when there is no such delivery or its endpoint was deleted.
    #[must_use]
    pub fn resend(&self, id: DeliveryId, now: Timestamp) -> bool {
        self.lock().deliveries.resend(id, now)
    }

    /// The deliveries of an event, with their attempts.
    #[must_use]
    pub fn deliveries(&self, event: EventId) -> Vec<DeliveryRecord> {
        let tables = self.lock();
        let rows = tables.deliveries.rows.values();
        rows.filter(|row| row.event.id == event)
            .map(|row| row.record.clone())
            .collect()
    }
}

impl Deliveries {
    /// Adds a delivery, due at once; silently none when the endpoint was deleted meanwhile.
    pub(super) fn add(&mut self, new: NewDelivery, event: &Arc<EventRecord>) {
        if !self.endpoints.contains_key(&new.endpoint) {
            return;
        }
        let record = DeliveryRecord {
            id: new.id,
            endpoint: new.endpoint,
            status: DeliveryStatus::Pending,
            due_at: event.at,
            attempts: Vec::new(),
        };
        self.due.insert((record.due_at, record.id));
        let delivery = Delivery {
            record,
            event: Arc::clone(event),
            attempts_made: 0,
            trigger: Trigger::Schedule,
        };
        self.rows.insert(new.id, delivery);
    }

    pub(super) fn set_paused(&mut self, id: EndpointId, is_paused: bool) {
        if let Some(registered) = self.endpoints.get_mut(&id) {
            registered.is_paused = is_paused;
        }
    }

    pub(super) fn subscriptions(&self, head_offices: &[CompanyId]) -> Vec<Subscription> {
        let endpoints = self
            .endpoints
            .values()
            .map(|registered| &registered.endpoint);
        endpoints
            .filter(|endpoint| head_offices.contains(&endpoint.head_office))
            .map(|endpoint| Subscription {
                endpoint: endpoint.id,
                head_office: endpoint.head_office,
                events: endpoint.events,
            })
            .collect()
    }

    fn delete_endpoint(&mut self, id: EndpointId) {
        self.endpoints.remove(&id);
        for delivery in self.rows.values_mut() {
            let record = &mut delivery.record;
            if record.endpoint == id && record.status == DeliveryStatus::Pending {
                record.status = DeliveryStatus::Failed;
                self.due.remove(&(record.due_at, record.id));
                self.leases.remove(&record.id);
            }
        }
    }

    fn resend(&mut self, id: DeliveryId, now: Timestamp) -> bool {
        let Some(delivery) = self.rows.get_mut(&id) else {
            return false;
        };
        let record = &mut delivery.record;
        if !self.endpoints.contains_key(&record.endpoint) {
            return false;
        }
        self.due.remove(&(record.due_at, id));
        self.leases.remove(&id);
        record.status = DeliveryStatus::Pending;
        record.due_at = now;
        delivery.attempts_made = 0;
        delivery.trigger = Trigger::Resend;
        self.due.insert((now, id));
        true
    }
}
