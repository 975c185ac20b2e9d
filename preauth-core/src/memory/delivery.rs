//! Endpoints and their deliveries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::port::{Attempt, DeliveryStatus, EventRecord, NewDelivery, Subscription, Trigger};
use crate::value::{CompanyId, DeliveryId, EndpointId, EventId, Timestamp};

use super::MemoryStore;
use super::records::Endpoint;
use super::sequence::Sequence;

/// A delivery as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// Its id.
    pub id: DeliveryId,
    /// Its endpoint.
    pub endpoint: EndpointId,
    /// Its status.
    pub status: DeliveryStatus,
    /// When its next attempt is due; for an ended delivery, when the last one was.
    pub due_at: Timestamp,
    /// Every attempt, oldest first.
    pub attempts: Vec<Attempt>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    pub(super) endpoints: BTreeMap<EndpointId, Registered>,
    pub(super) rows: BTreeMap<DeliveryId, Delivery>,
    /// The pending ones, by due time; the queue that `claim` reads.
    pub(super) due: BTreeSet<(Timestamp, DeliveryId)>,
    /// The newest lease of each pending delivery that has one, valid or expired.
    pub(super) leases: BTreeMap<DeliveryId, Lease>,
    pub(super) tokens: Sequence,
}

/// An endpoint and its state.
#[derive(Clone, Debug)]
pub(super) struct Registered {
    pub(super) endpoint: Endpoint,
    /// Earlier secrets, newest first, and the end of each.
    pub(super) older_secrets: Vec<(Vec<u8>, Timestamp)>,
    pub(super) is_paused: bool,
    pub(super) healthy_at: Timestamp,
    pub(super) is_slow: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub(super) record: DeliveryRecord,
    pub(super) event: Arc<EventRecord>,
    /// The head office of its endpoint, even if the endpoint was removed.
    pub(super) head_office: CompanyId,
    pub(super) attempts_made: u32,
    /// The trigger of the next attempt.
    pub(super) trigger: Trigger,
    /// The trigger of each attempt.
    pub(super) triggers: Vec<Trigger>,
}

/// A lease of a delivery.
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
            older_secrets: Vec::new(),
            is_paused: false,
            healthy_at: endpoint.registered_at,
            is_slow: false,
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

    /// Resumes an endpoint: its waiting deliveries can be leased again.
    pub fn resume_endpoint(&self, id: EndpointId) {
        self.lock().deliveries.set_paused(id, false);
    }

    /// Changes the URL of an endpoint, also for its pending deliveries.
    pub fn move_endpoint(&self, id: EndpointId, url: String) {
        if let Some(registered) = self.lock().deliveries.endpoints.get_mut(&id) {
            registered.endpoint.url = url;
        }
    }

    /// Adds an encrypted secret as the endpoint's newest; earlier ones stay in force until
    /// `others_until` at most.
    pub fn rotate_secret(&self, id: EndpointId, sealed: Vec<u8>, others_until: Timestamp) {
        if let Some(registered) = self.lock().deliveries.endpoints.get_mut(&id) {
            for (_, until) in &mut registered.older_secrets {
                *until = others_until.min(*until);
            }
            let before = std::mem::replace(&mut registered.endpoint.sealed_secret, sealed);
            registered.older_secrets.insert(0, (before, others_until));
        }
    }

    /// Deletes an endpoint; its pending deliveries end as failed.
    pub fn delete_endpoint(&self, id: EndpointId) {
        self.lock().deliveries.delete_endpoint(id);
    }

    /// Makes a delivery in any status due at `now`, with a fresh schedule; `false` when there is no such
    /// delivery or its endpoint was deleted.
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

impl Registered {
    /// The secrets in force at `now`, the newest first.
    pub(super) fn secrets(&self, now: Timestamp) -> Vec<Vec<u8>> {
        let older = self.older_secrets.iter().filter(|(_, until)| now < *until);
        let newest = std::iter::once(&self.endpoint.sealed_secret);
        newest
            .chain(older.map(|(sealed, _)| sealed))
            .cloned()
            .collect()
    }
}

impl Deliveries {
    /// Adds a delivery, due at once; does nothing if the endpoint was deleted in the meantime.
    pub(super) fn add(&mut self, new: NewDelivery, event: &Arc<EventRecord>) {
        let Some(registered) = self.endpoints.get(&new.endpoint) else {
            return;
        };
        let head_office = registered.endpoint.head_office;
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
            head_office,
            attempts_made: 0,
            trigger: Trigger::Schedule,
            triggers: Vec::new(),
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
