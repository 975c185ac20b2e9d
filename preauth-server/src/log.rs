//! What happened to operations, one line per fact; the sandbox prints the same lines.

use preauth_core::operation::Operation;
use preauth_core::service::Commanded;

/// An operation began.
pub fn began(operation: &Operation) {
    tracing::info!(
        target: "operation",
        operation = operation.id.get(),
        status = operation.status().as_str(),
        origin = operation.origin.as_str(),
        "began"
    );
}

/// A command was carried out; silent when nothing had to change.
pub fn moved(done: &Commanded) {
    if let Some(event) = done.event {
        tracing::info!(
            target: "operation",
            operation = done.operation.id.get(),
            status = done.operation.status().as_str(),
            event = event.as_str(),
            "moved"
        );
    }
}
