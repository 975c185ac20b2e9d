//! An operation in one line.

use preauth_core::operation::{Operation, State};

use crate::language::Language;
use crate::printable::reais;
use crate::sandbox::words;

/// The summary of an operation for the user.
pub(super) fn summary(operation: &Operation, language: Language) -> String {
    let Operation {
        id,
        supplier,
        invoice,
        ..
    } = operation;
    let status = operation.status().as_str();
    let mut line = words::is(language, id, status) + ": ";
    if let Some(number) = &invoice.number {
        line.push_str(number.as_str());
        line.push_str(", ");
    }
    let amount = reais(invoice.amounts.amount());
    let due_date = invoice.due_date.to_string();
    line.push_str(&words::due_to(
        language,
        &amount,
        &due_date,
        supplier.name.as_str(),
    ));
    if let Some(net) = operation.net_amount {
        line.push_str(&words::net(language, &reais(net)));
    }
    if let Some(reference) = &operation.external_reference {
        line.push_str(&words::reference(language, reference.as_str()));
    }
    match (&operation.state, operation.expires_at) {
        (State::InPreAuth, Some(end)) => line.push_str(&words::open_until(language, end)),
        (State::Reproved(closing), _) => {
            line.push_str(", ");
            line.push_str(closing.reason());
        }
        _ => {}
    }
    line
}
