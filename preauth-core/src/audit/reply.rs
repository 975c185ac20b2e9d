//! Checks stored idempotency replies, and the holders of invoices.

use crate::operation::Operation;
use crate::port::{DecodedReply, Holder, StoredReply, Subject};
use crate::value::{ExternalReference, InvoiceNumber, Origin, Status};

use super::checker::{Checker, Findings};
use super::{Rule, Violation};

impl Checker<'_> {
    /// Checks the stored reply of an idempotency key.
    #[must_use]
    pub fn reply(&self, stored: &StoredReply) -> Vec<Violation> {
        let subject = Subject::Reply(stored.head_office, stored.key.to_string());
        let mut found = Findings::of(subject);
        let operation = &stored.operation;
        let is_own = operation.payer.head_office == stored.head_office
            && operation.origin == Origin::PreAuth;
        found.expect(is_own, Rule::ReplyOfCreation, || {
            let id = operation.id;
            format!("operation {id} was not created by this company's key")
        });
        let decoded = self.decoder.reply(&stored.body);
        let is_repeated = decoded.is_some_and(|decoded| reports_creation(&decoded, operation));
        found.expect(is_repeated, Rule::ReplyOfCreation, || {
            let id = operation.id;
            format!("its body does not show operation {id} as it was created")
        });
        found.violations
    }

    /// Checks two adjacent entries of a list of holders that is sorted by the invoice held.
    #[must_use]
    pub fn holders(&self, one: &Holder, next: &Holder) -> Vec<Violation> {
        let mut found = Findings::of(Subject::Operation(next.operation));
        let are_same = (one.head_office, one.supplier, &one.number)
            == (next.head_office, next.supplier, &next.number);
        found.expect(!are_same, Rule::OneHolder, || {
            let (other, number) = (one.operation, &next.number);
            format!("invoice {number} is held by operation {other} too")
        });
        found.violations
    }
}

fn reports_creation(decoded: &DecodedReply, operation: &Operation) -> bool {
    let invoice = &operation.invoice;
    *decoded
        == DecodedReply {
            id: operation.id,
            status: Status::InPreAuth,
            amount: invoice.amounts.amount(),
            withheld_tax: invoice.amounts.withheld_tax(),
            due_date: invoice.due_date,
            number: owned(invoice.number.as_ref().map(InvoiceNumber::as_str)),
            payer: operation.payer.cnpj,
            supplier: operation.supplier.cnpj,
            external_reference: owned(
                operation
                    .external_reference
                    .as_ref()
                    .map(ExternalReference::as_str),
            ),
            expires_at: operation.expires_at,
            created_at: operation.created_at,
        }
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(ToOwned::to_owned)
}
