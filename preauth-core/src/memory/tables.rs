//! The data that the mutex protects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ReceivedInvoice;
use crate::operation::{Credit, InvoiceFile, Operation};
use crate::payment_order::PaymentOrder;
use crate::port::{
    EventRecord, ExtensionRecord, FeedEntry, HistoryEntry, NewMail, PlatformReply, Reply,
};
use crate::value::{
    Cnpj, CompanyId, CompanyName, Email, EventId, ExtensionId, IdempotencyKey, InvoiceId,
    InvoiceNumber, OperationId, PaymentOrderId,
};

use super::delivery::Deliveries;
use super::records::Company;
use super::sequence::Sequence;

/// One invoice of one supplier within a payer's group, with its number in the form that is compared. At
/// most one operation in progress holds it.
pub(super) type InvoiceSlot = (CompanyId, Cnpj, String);

#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub(super) companies: BTreeMap<CompanyId, Company>,
    pub(super) by_cnpj: BTreeMap<Cnpj, CompanyId>,
    /// Suppliers that head offices invited, and that are not registered.
    pub(super) invited: BTreeMap<CompanyId, Cnpj>,
    /// The name that a head office gave an invited supplier.
    pub(super) invitations: BTreeMap<(CompanyId, CompanyId), CompanyName>,
    pub(super) credits: BTreeMap<CompanyId, Credit>,
    pub(super) blocked: BTreeSet<(CompanyId, Cnpj)>,
    pub(super) operations: BTreeMap<OperationId, Operation>,
    /// The unique index behind the duplicate rule: operations in progress only.
    pub(super) holders: BTreeMap<InvoiceSlot, OperationId>,
    pub(super) histories: BTreeMap<OperationId, Vec<HistoryEntry>>,
    pub(super) extensions: BTreeMap<ExtensionId, (OperationId, ExtensionRecord)>,
    pub(super) files: BTreeMap<OperationId, InvoiceFile>,
    pub(super) replies: BTreeMap<(CompanyId, IdempotencyKey), Reply>,
    pub(super) platform_replies: BTreeMap<IdempotencyKey, PlatformReply>,
    pub(super) orders: BTreeMap<PaymentOrderId, PaymentOrder>,
    /// The newest order of each operation that has one.
    pub(super) current_orders: BTreeMap<OperationId, PaymentOrderId>,
    pub(super) order_histories: BTreeMap<PaymentOrderId, Vec<HistoryEntry>>,
    pub(super) invoices: BTreeMap<InvoiceId, ReceivedInvoice>,
    pub(super) event_ids: BTreeSet<EventId>,
    /// Events without an aggregate, with the head office that they belong to.
    pub(super) announcements: Vec<(CompanyId, Arc<EventRecord>)>,
    /// What head offices read on request, in the order of the commits.
    pub(super) feed: Vec<(FeedEntry, Arc<EventRecord>)>,
    pub(super) mails: Vec<NewMail>,
    /// The addresses of a company for mails about its endpoint.
    pub(super) readers: BTreeMap<CompanyId, Vec<Email>>,
    pub(super) deliveries: Deliveries,
    operation_ids: Sequence,
    order_ids: Sequence,
    extension_ids: Sequence,
}

impl Tables {
    pub(super) fn next_operation(&mut self) -> i64 {
        self.operation_ids.next()
    }

    pub(super) fn next_order(&mut self) -> i64 {
        self.order_ids.next()
    }

    pub(super) fn next_extension(&mut self) -> i64 {
        self.extension_ids.next()
    }

    /// Makes the sequences continue `skipped` numbers after the newest stored id.
    pub(super) fn forget_reserved(&mut self, skipped: i64) {
        let operation = self.operations.keys().last().map(|id| id.get());
        let extension = self.extensions.keys().last().map(|id| id.get());
        let orders = self.orders.keys().map(|id| id.get());
        let order = orders.chain(self.invoices.keys().map(|id| id.get())).max();
        self.operation_ids.forget_reserved(operation, skipped);
        self.extension_ids.forget_reserved(extension, skipped);
        self.order_ids.forget_reserved(order, skipped);
    }

    /// The operation in progress that holds `slot`.
    pub(super) fn holder_of(&self, slot: &InvoiceSlot) -> Option<&Operation> {
        self.operations.get(self.holders.get(slot)?)
    }
}

pub(super) fn slot(head_office: CompanyId, supplier: Cnpj, number: &InvoiceNumber) -> InvoiceSlot {
    (head_office, supplier, number.compared().into_owned())
}

/// The invoice that `operation` holds while it is in progress; one without a number holds none.
pub(super) fn slot_of(operation: &Operation) -> Option<InvoiceSlot> {
    let number = operation.invoice.number.as_ref()?;
    Some(slot(
        operation.payer.head_office,
        operation.supplier.cnpj,
        number,
    ))
}
