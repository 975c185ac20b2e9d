//! An operation in one line.

use std::fmt::Write;

use preauth_core::operation::{Operation, State};

use crate::printable::reais;

/// The summary of an operation for the user.
pub(super) fn summary(operation: &Operation) -> String {
    let Operation {
        id,
        supplier,
        invoice,
        ..
    } = operation;
    let mut line = format!("operation {id} is {}: ", operation.status());
    if let Some(number) = &invoice.number {
        let _ = write!(line, "{number}, ");
    }
    let amount = reais(invoice.amounts.amount());
    let _ = write!(
        line,
        "{amount} due {} to {}",
        invoice.due_date, supplier.name
    );
    if let Some(net) = operation.net_amount {
        let _ = write!(line, ", net {}", reais(net));
    }
    if let Some(reference) = &operation.external_reference {
        let _ = write!(line, ", reference {reference}");
    }
    match (&operation.state, operation.expires_at) {
        (State::InPreAuth, Some(end)) => {
            let _ = write!(line, ", stands until {end}");
        }
        (State::Reproved(closing), _) => {
            let _ = write!(line, ", {}", closing.reason());
        }
        _ => {}
    }
    line
}
