//! What the audit log calls the record of a commit.

use std::borrow::Cow;

use preauth_core::port::{Audited, Commit, Write};

/// The record that the request names, or the one that its commit creates.
pub(super) fn record<'a>(commit: &Commit, audited: &'a Audited) -> Cow<'a, str> {
    let named = Cow::Borrowed(audited.record.as_str());
    if named.contains('/') {
        return named;
    }
    match &commit.write {
        Write::NewOperation(operation) | Write::Operation { operation, .. } => {
            format!("operations/{}", operation.id).into()
        }
        Write::NewOrder { order, .. } | Write::Order(order) => {
            format!("payment-orders/{}", order.id).into()
        }
        Write::NewInvoice(invoice) => format!("invoices/{}", invoice.id).into(),
        Write::EventOnly { .. } => named,
    }
}
