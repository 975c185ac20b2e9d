//! What is logged from more than one room: changes of operations, and errors with their causes.

use std::error::Error;

use preauth_core::operation::{Action, Operation};
use preauth_core::payment_order::PaymentOrder;
use preauth_core::service::CommandOutcome;
use preauth_core::value::{EventType, Origin};

/// An operation began.
pub fn began(operation: &Operation) {
    let action = match operation.origin {
        Origin::PreAuth => Action::Offer,
        Origin::Direct => Action::AdvanceDirectly,
    };
    changed(operation, action.transition().event);
}

/// A command was carried out; silent when nothing had to change.
pub fn moved(done: &CommandOutcome) {
    if let Some(event) = done.event {
        changed(&done.operation, event);
    }
}

/// A payment order was generated or changed.
pub fn ordered(order: &PaymentOrder) {
    tracing::info!(
        target: "payment_order",
        payment_order = order.id.get(),
        status = order.status.as_str(),
        "changed"
    );
}

fn changed(operation: &Operation, event: EventType) {
    tracing::info!(
        target: "operation",
        operation = operation.id.get(),
        status = operation.status().as_str(),
        event = event.as_str(),
        "changed"
    );
}

/// An error with all its causes, each once: the form in which the log and the command line tell it.
#[must_use]
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let told = cause.to_string();
        // Some errors end with their cause already.
        if !text.ends_with(&told) {
            text.push_str(": ");
            text.push_str(&told);
        }
        next = cause.source();
    }
    text
}
