//! The service's own store: the offers of one company, under one lock.
//!
//! It keeps operations and suppliers. Payment orders, webhooks and idempotency keys are not part of
//! this service: a decision that asks for them gets none.

mod queries;
mod store;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use preauth_core::operation::{Credit, Operation, Party};
use preauth_core::port::{Commit, CommitError, EventRecord, HistoryEntry, LoadedOperation, Write};
use preauth_core::value::{Cnpj, EventType, InvoiceNumber, OperationId, Timestamp};

pub(crate) struct Ledger {
    payer: Party,
    credit: Credit,
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    last_id: i64,
    operations: BTreeMap<OperationId, Operation>,
    suppliers: BTreeMap<Cnpj, Party>,
    events: Vec<(OperationId, HistoryEntry)>,
}

impl Ledger {
    pub(crate) fn of(payer: Party, credit: Credit) -> Self {
        let books = Mutex::default();
        Self {
            payer,
            credit,
            books,
        }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    /// The operation in progress that holds the invoice, other than `id`.
    fn holder(
        &self,
        cnpj: Cnpj,
        number: Option<&InvoiceNumber>,
        id: OperationId,
    ) -> Option<Operation> {
        let mut open = self
            .operations
            .values()
            .filter(|it| it.status().is_in_progress());
        let holds = |it: &&Operation| {
            let held = it.invoice.number.as_ref().map(InvoiceNumber::compared);
            held.is_some()
                && held == number.map(InvoiceNumber::compared)
                && it.supplier.cnpj == cnpj
        };
        open.find(|it| it.id != id && holds(it)).cloned()
    }

    fn loaded(&self, operation: &Operation) -> LoadedOperation {
        let number = operation.invoice.number.as_ref();
        LoadedOperation {
            holder: self.holder(operation.supplier.cnpj, number, operation.id),
            reached: self.reached(operation.id),
            // This service grants no extensions.
            extended_to: None,
            // Nor does it know operators.
            released_by: None,
            operation: operation.clone(),
            subscriptions: Vec::new(),
        }
    }

    /// The latest event that is neither a reproval nor a reopening.
    fn reached(&self, id: OperationId) -> Option<EventType> {
        let events = self.events.iter().rev().filter(|(of, _)| *of == id);
        let mut types = events.filter_map(|(_, event)| event.event_type.known().copied());
        types.find(|event_type| {
            !matches!(
                event_type,
                EventType::AnticipationReproved | EventType::AnticipationReopened
            )
        })
    }

    /// Offers whose time has passed, the earliest first.
    fn overdue(&self, now: Timestamp, limit: u32) -> impl Iterator<Item = &Operation> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let overdue = self
            .operations
            .values()
            .filter(move |it| it.is_overdue(now));
        overdue.take(limit)
    }

    /// All or nothing: every constraint is checked before the first write.
    fn commit(&mut self, commit: Commit) -> Result<(), CommitError> {
        let expected = commit.write.expected_version();
        let (Write::NewOperation(operation) | Write::Operation { operation, .. }) = commit.write
        else {
            return Err(CommitError::NotDone("operations only".into()));
        };
        let stored = self.operations.get(&operation.id).map(|it| it.version);
        let number = operation.invoice.number.as_ref();
        let holder = self.holder(operation.supplier.cnpj, number, operation.id);
        if stored != expected || (operation.status().is_in_progress() && holder.is_some()) {
            return Err(CommitError::Conflict);
        }
        if commit.supplier.is_some() {
            let supplier = operation.supplier.clone();
            self.suppliers.insert(supplier.cnpj, supplier);
        }
        let EventRecord {
            id,
            event_type,
            at,
            actor,
            body,
        } = commit.event;
        let version = operation.version;
        let entry = HistoryEntry {
            id,
            version,
            event_type: event_type.into(),
            at,
            actor: actor.into(),
            body,
            operator: commit.operator,
        };
        self.events.push((operation.id, entry));
        self.operations.insert(operation.id, *operation);
        Ok(())
    }
}
