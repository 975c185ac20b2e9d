//! What the audit log calls the record of a commit.

use std::borrow::Cow;

use preauth_core::port::{Audited, Commit, Write};

/// The record that the request names, in the form of its id, or the one that its commit creates.
pub(super) fn record<'a>(commit: &Commit, audited: &'a Audited) -> Cow<'a, str> {
    let named = audited.record.as_str();
    let written = match &commit.write {
        Write::NewOperation(operation) | Write::Operation { operation, .. } => {
            format!("operations/{}", operation.id)
        }
        Write::NewOrder { order, .. } | Write::Order(order) => {
            format!("payment-orders/{}", order.id)
        }
        Write::NewInvoice(invoice) => format!("invoices/{}", invoice.id),
        Write::EventOnly { .. } => return named.into(),
    };
    // A path may have leading zeros.
    let kind_of = |record: &str| record.split_once('/').map(|(kind, _)| kind.to_owned());
    if kind_of(named).is_some_and(|kind| kind_of(&written) != Some(kind)) {
        return named.into();
    }
    written.into()
}
