//! Log events of several modules: changes of operations, and errors with their causes.

use std::error::Error;

use preauth_core::operation::{Action, Operation};
use preauth_core::payment_order::PaymentOrder;
use preauth_core::service::CommandOutcome;
use preauth_core::value::{EventType, OperatorName, Origin};

/// An operation began, at the hands of `operator` if it was one of the platform's.
pub fn began(operation: &Operation, operator: Option<&OperatorName>) {
    let action = match operation.origin {
        Origin::PreAuth => Action::Offer,
        Origin::Direct => Action::AdvanceDirectly,
    };
    changed(operation, action.transition().event, operator);
}

/// A command was executed, by `operator` if it was one of the platform's; logs nothing when nothing
/// changed.
pub fn moved(done: &CommandOutcome, operator: Option<&OperatorName>) {
    if let Some(event) = done.event {
        changed(&done.operation, event, operator);
    }
}

/// A payment order was generated or changed by `operator`.
pub fn ordered(order: &PaymentOrder, operator: &OperatorName) {
    tracing::info!(
        target: "payment_order",
        payment_order = order.id.get(),
        status = order.status.as_str(),
        operator = operator.as_str(),
        "changed"
    );
}

fn changed(operation: &Operation, event: EventType, operator: Option<&OperatorName>) {
    tracing::info!(
        target: "operation",
        operation = operation.id.get(),
        status = operation.status().as_str(),
        event = event.as_str(),
        operator = operator.map(OperatorName::as_str),
        "changed"
    );
}

/// An error with all its causes, each once: the form in the log and on the command line.
#[must_use]
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        // The texts of some errors already end with their cause.
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}
