//! An archive over a copy of all tables, made at one moment.

use std::collections::{BTreeMap, VecDeque};

use async_trait::async_trait;

use crate::operation::Operation;
use crate::port::{
    Archive, EndpointState, HistoryEntry, Holder, OtherEvent, Page, Pages, Record, StoredAttempt,
    StoredDelivery, StoredEndpoint, StoredEvent, StoredOperation, StoredOrder, StoredReply,
    Unavailable,
};
use crate::value::{Cnpj, CompanyId, EventId, Timestamp};

use super::MemoryStore;
use super::delivery::{Deliveries, Delivery};
use super::tables::{Tables, slot_of};

#[async_trait]
impl Archive for MemoryStore {
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
        let host_now = (self.clock)();
        let records = self.lock().records();
        Ok(Box::new(Copied { host_now, records }))
    }
}

/// The part of the copy that was not returned yet.
#[derive(Debug)]
struct Copied {
    host_now: Timestamp,
    records: VecDeque<Record>,
}

#[async_trait]
impl Pages for Copied {
    async fn next(&mut self, limit: u32) -> Result<Page, Unavailable> {
        // At least two: a page repeats the last holder of the previous one, so one would make no progress.
        let limit = usize::try_from(limit).unwrap_or(usize::MAX).max(2);
        let count = limit.min(self.records.len());
        let records: Vec<_> = self.records.drain(..count).collect();
        if let (Some(last @ Record::Holder(_)), false) = (records.last(), self.records.is_empty()) {
            self.records.push_front(last.clone());
        }
        Ok(Page {
            host_now: self.host_now,
            records: records.into_iter().map(Ok).collect(),
        })
    }
}

impl Tables {
    fn records(&self) -> VecDeque<Record> {
        let deliveries = self.deliveries.by_event();
        let mut holders: Vec<Holder> = self.operations.values().filter_map(holder).collect();
        holders.sort_by(|one, other| invoice(one).cmp(&invoice(other)));
        let replies = self
            .replies
            .iter()
            .filter_map(|((head_office, key), reply)| {
                let stored = StoredReply {
                    head_office: *head_office,
                    key: key.clone(),
                    body: reply.body.clone(),
                    operation: self.present(self.operations.get(&reply.operation)?),
                };
                Some(Record::Reply(Box::new(stored)))
            });
        let mut records = VecDeque::new();
        records.extend(self.operations.values().map(|operation| {
            let stored = self.stored_operation(operation, &deliveries);
            Record::Operation(Box::new(stored))
        }));
        records.extend(self.orders.values().map(|order| {
            let events = events(self.order_histories.get(&order.id), &deliveries);
            let mut earlier = order
                .operation
                .map_or_else(Vec::new, |it| self.orders_of(it));
            earlier.retain(|other| other.id < order.id);
            Record::Order(Box::new(StoredOrder {
                order: self.present_order(order),
                earlier,
                head_office: order.payer.head_office,
                events,
            }))
        }));
        records.extend(self.announcements.iter().map(|(head_office, event)| {
            Record::Other(OtherEvent {
                head_office: *head_office,
                event: StoredEvent {
                    id: event.id,
                    version: None,
                    event_type: event.event_type,
                    at: event.at,
                    body: event.body.clone(),
                    deliveries: deliveries.get(&event.id).cloned().unwrap_or_default(),
                },
            })
        }));
        records.extend(replies);
        records.extend(holders.into_iter().map(Record::Holder));
        records.extend(self.lists());
        records
    }

    fn knows_supplier(&self, operation: &Operation) -> bool {
        let (supplier, head_office) = (operation.supplier.company, operation.payer.head_office);
        self.companies.contains_key(&supplier)
            || self.invitations.contains_key(&(supplier, head_office))
    }

    fn stored_operation(&self, operation: &Operation, deliveries: &ByEvent) -> StoredOperation {
        let extensions = self.extensions.values();
        StoredOperation {
            operation: self.present(operation),
            supplier_is_known: self.knows_supplier(operation),
            head_office: operation.payer.head_office,
            supplier_cnpj: operation.supplier.cnpj,
            extensions: extensions
                .filter(|(owner, _)| *owner == operation.id)
                .map(|(_, record)| *record)
                .collect(),
            events: events(self.histories.get(&operation.id), deliveries),
        }
    }
}

type ByEvent = BTreeMap<EventId, Vec<StoredDelivery>>;

fn events(history: Option<&Vec<HistoryEntry>>, deliveries: &ByEvent) -> Vec<StoredEvent> {
    let stored = history.into_iter().flatten().filter_map(|entry| {
        Some(StoredEvent {
            id: entry.id,
            version: Some(entry.version),
            event_type: *entry.event_type.known()?,
            at: entry.at,
            body: entry.body.clone(),
            deliveries: deliveries.get(&entry.id).cloned().unwrap_or_default(),
        })
    });
    stored.collect()
}

fn holder(operation: &Operation) -> Option<Holder> {
    if !operation.status().is_in_progress() {
        return None;
    }
    let (head_office, supplier, number) = slot_of(operation)?;
    Some(Holder {
        head_office,
        supplier,
        number,
        operation: operation.id,
    })
}

fn invoice(holder: &Holder) -> (CompanyId, Cnpj, &str) {
    (holder.head_office, holder.supplier, &holder.number)
}

impl Deliveries {
    fn by_event(&self) -> ByEvent {
        let mut by_event = ByEvent::new();
        for row in self.rows.values() {
            let deliveries = by_event.entry(row.event.id).or_default();
            deliveries.push(self.stored(row));
        }
        by_event
    }

    fn stored(&self, row: &Delivery) -> StoredDelivery {
        let record = &row.record;
        let lease = self.leases.get(&record.id);
        let attempts = (1..).zip(&record.attempts).zip(&row.triggers);
        StoredDelivery {
            id: record.id,
            head_office: row.head_office,
            endpoint: StoredEndpoint {
                id: record.endpoint,
                head_office: row.head_office,
                state: match self.endpoints.get(&record.endpoint) {
                    None => EndpointState::Removed,
                    Some(registered) if registered.is_paused => EndpointState::Paused,
                    Some(_) => EndpointState::Active,
                },
            },
            event_type: row.event.event_type,
            status: record.status,
            attempts_made: row.attempts_made,
            next_trigger: row.trigger,
            leased_until: lease.map(|lease| lease.until),
            attempts: attempts
                .map(|((number, attempt), trigger)| StoredAttempt {
                    number,
                    http_status: attempt.http_status,
                    has_error: attempt.error.is_some(),
                    trigger: *trigger,
                })
                .collect(),
        }
    }
}
