//! The commit: every constraint is checked before the first write, under one lock.

use std::sync::Arc;

use crate::operation::Operation;
use crate::port::{
    ActingOperator, Commit, CommitError, EventRecord, HistoryEntry, NewReply, NewSupplier,
    PlatformReply, Reply, ReplyScope, Write,
};
use crate::value::{CompanyId, OperationId, Timestamp, Version};

use super::outbox::Handed;
use super::tables::{Tables, slot_of};

impl Tables {
    /// Writes the commit; returns what it leased.
    pub(super) fn commit(
        &mut self,
        commit: Commit,
        host_now: Timestamp,
    ) -> Result<Vec<Handed>, CommitError> {
        if self.conflicts(&commit) {
            return Err(CommitError::Conflict);
        }
        let head_office = commit.write.head_office();
        self.event_ids.insert(commit.event.id);
        let entries = commit.feed_entries();
        let event = Arc::new(commit.event);
        let feed = entries.into_iter().map(|entry| (entry, Arc::clone(&event)));
        self.feed.extend(feed);
        let operator = commit.operator;
        let is_new_order = matches!(commit.write, Write::NewOrder { .. });
        let operation_id = match commit.write {
            Write::NewOperation(operation) => {
                Some(self.write_operation(*operation, &event, operator))
            }
            Write::Operation {
                operation,
                extension,
            } => {
                let id = self.write_operation(*operation, &event, operator);
                if let Some(record) = extension {
                    self.extensions.insert(record.extension.id, (id, record));
                }
                Some(id)
            }
            Write::NewOrder { order, .. } | Write::Order(order) => {
                if let (true, Some(operation)) = (is_new_order, order.operation) {
                    self.current_orders.insert(operation, order.id);
                }
                let history = self.order_histories.entry(order.id).or_default();
                history.push(history_entry(&event, order.version, operator));
                self.orders.insert(order.id, *order);
                None
            }
            Write::NewInvoice(invoice) => {
                self.invoices.insert(invoice.id, *invoice);
                self.announcements.push((head_office, Arc::clone(&event)));
                None
            }
            Write::EventOnly { .. } => {
                self.announcements.push((head_office, Arc::clone(&event)));
                None
            }
        };
        let mut handed = Vec::new();
        for delivery in &commit.deliveries {
            self.deliveries.add(*delivery, &event);
            handed.extend(
                self.deliveries
                    .lease_at_birth(*delivery, &commit.intake, host_now),
            );
        }
        if let Some(supplier) = commit.supplier {
            self.invite(supplier, head_office);
        }
        self.mails.extend(commit.mail);
        if let Some(reply) = commit.reply {
            self.remember(reply, operation_id, &event);
        }
        if let (Some(id), Some(file)) = (operation_id, commit.file) {
            self.files.insert(id, file);
        }
        Ok(handed)
    }

    fn conflicts(&self, commit: &Commit) -> bool {
        self.event_ids.contains(&commit.event.id)
            || self.aggregate_conflicts(&commit.write)
            || commit.supplier.as_ref().is_some_and(|supplier| {
                self.invitation_conflicts(supplier, commit.write.head_office())
            })
            || commit.reply.as_ref().is_some_and(|reply| {
                self.reply_until(reply)
                    .is_some_and(|expires_at| commit.event.at < expires_at)
            })
    }

    fn invitation_conflicts(&self, supplier: &NewSupplier, head_office: CompanyId) -> bool {
        if supplier.is_first {
            self.by_cnpj.contains_key(&supplier.cnpj)
                || self.companies.contains_key(&supplier.id)
                || self.invited.contains_key(&supplier.id)
        } else {
            self.invitations.contains_key(&(supplier.id, head_office))
        }
    }

    fn aggregate_conflicts(&self, write: &Write) -> bool {
        match write {
            Write::NewOperation(operation) => {
                self.operations.contains_key(&operation.id) || self.is_held_by_another(operation)
            }
            Write::Operation { operation, .. } => {
                let stored = self.operations.get(&operation.id).map(|it| it.version);
                stored.is_none()
                    || stored != write.expected_version()
                    || self.is_held_by_another(operation)
            }
            Write::NewOrder { order, instead_of } => {
                let current = order.operation.and_then(|it| self.current_orders.get(&it));
                self.orders.contains_key(&order.id)
                    || order.operation.is_some() && current != instead_of.as_ref()
            }
            Write::Order(order) => {
                let stored = self.orders.get(&order.id).map(|it| it.version);
                stored.is_none() || stored != write.expected_version()
            }
            Write::NewInvoice(invoice) => self.invoices.contains_key(&invoice.id),
            Write::EventOnly { .. } => false,
        }
    }

    /// The end of the key's stored reply, if it has one.
    fn reply_until(&self, reply: &NewReply) -> Option<Timestamp> {
        match reply.scope {
            ReplyScope::HeadOffice(head_office) => {
                let known = self.replies.get(&(head_office, reply.key.clone()));
                known.map(|known| known.expires_at)
            }
            ReplyScope::Platform => {
                let known = self.platform_replies.get(&reply.key);
                known.map(|known| known.expires_at)
            }
        }
    }

    fn remember(&mut self, reply: NewReply, operation: Option<OperationId>, event: &EventRecord) {
        let expires_at = event.at.saturating_add(reply.retention);
        match (reply.scope, operation) {
            (ReplyScope::HeadOffice(head_office), Some(operation)) => {
                let remembered = Reply {
                    fingerprint: reply.fingerprint,
                    body: reply.body,
                    operation,
                    expires_at,
                };
                self.replies.insert((head_office, reply.key), remembered);
            }
            // Only creates of an ERP have a reply for a head office.
            (ReplyScope::HeadOffice(_), None) => {}
            (ReplyScope::Platform, _) => {
                let remembered = PlatformReply {
                    fingerprint: reply.fingerprint,
                    body: reply.body,
                    expires_at,
                };
                self.platform_replies.insert(reply.key, remembered);
            }
        }
    }

    fn is_held_by_another(&self, operation: &Operation) -> bool {
        operation.status().is_in_progress()
            && slot_of(operation)
                .and_then(|slot| self.holders.get(&slot))
                .is_some_and(|holder| *holder != operation.id)
    }

    fn write_operation(
        &mut self,
        operation: Operation,
        event: &EventRecord,
        operator: Option<ActingOperator>,
    ) -> OperationId {
        let id = operation.id;
        if let Some(slot) = slot_of(&operation) {
            if operation.status().is_in_progress() {
                self.holders.insert(slot, id);
            } else if self.holders.get(&slot) == Some(&id) {
                self.holders.remove(&slot);
            }
        }
        let entry = history_entry(event, operation.version, operator);
        self.histories.entry(id).or_default().push(entry);
        self.operations.insert(id, operation);
        id
    }
}

fn history_entry(
    event: &EventRecord,
    version: Version,
    operator: Option<ActingOperator>,
) -> HistoryEntry {
    HistoryEntry {
        id: event.id,
        version,
        event_type: event.event_type.into(),
        at: event.at,
        actor: event.actor.into(),
        body: event.body.clone(),
        operator,
    }
}
