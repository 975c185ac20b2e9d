//! One commit: written in full, or a conflict that writes nothing.

mod aggregate;
mod deliveries;
mod invoices;
mod orders;
mod record;

use preauth_core::port::{Commit, NewReply, ReplyScope, Write};
use preauth_core::value::OperationId;
use sqlx::SqliteConnection;

use crate::store::error::WriteError;
use crate::store::sql::{audit_log, platform_replies};

pub(super) use deliveries::InsertedDeliveries;

/// Writes all changes of a decision; returns its deliveries. The schema's constraints decide whether it is valid.
pub(super) async fn write(
    connection: &mut SqliteConnection,
    commit: &Commit,
) -> Result<InsertedDeliveries, WriteError> {
    let expected = commit.write.expected_version();
    // Before the operation, which refers to it.
    if let Some(supplier) = &commit.supplier {
        record::invitation(connection, supplier, commit).await?;
    }
    match &commit.write {
        Write::NewOperation(operation) => aggregate::insert(connection, operation).await?,
        Write::Operation {
            operation,
            extension,
        } => {
            aggregate::update(connection, operation, expected).await?;
            if let Some(record) = extension {
                aggregate::write_extension(connection, operation, record).await?;
            }
        }
        Write::NewOrder { order, instead_of } => {
            orders::insert(connection, order, *instead_of).await?;
        }
        Write::Order(order) => orders::update(connection, order, expected).await?,
        Write::NewInvoice(invoice) => invoices::insert(connection, invoice).await?,
        Write::EventOnly { .. } => {}
    }
    record::event(connection, commit).await?;
    if let Some(operator) = &commit.operator {
        record::operator(connection, operator, commit).await?;
        audit_log::of_commit(connection, commit).await?;
    }
    let inserted = deliveries::insert(connection, commit).await?;
    if let Some(mail) = &commit.mail {
        record::mail(connection, mail, commit).await?;
    }
    if let Some(reply) = &commit.reply {
        remember(connection, reply, commit).await?;
    }
    if let (Some(operation), Some(file)) = (operation_of(&commit.write), &commit.file) {
        record::file(connection, file, operation).await?;
    }
    Ok(inserted)
}

async fn remember(
    connection: &mut SqliteConnection,
    reply: &NewReply,
    commit: &Commit,
) -> Result<(), WriteError> {
    let at = commit.event.at;
    match (reply.scope, operation_of(&commit.write)) {
        (ReplyScope::HeadOffice(head_office), Some(operation)) => {
            record::reply(connection, reply, head_office, operation, at).await
        }
        // Only creates of an ERP have a reply for a head office.
        (ReplyScope::HeadOffice(_), None) => Ok(()),
        (ReplyScope::Platform, _) => platform_replies::remember(connection, Some(reply), at).await,
    }
}

fn operation_of(write: &Write) -> Option<OperationId> {
    match write {
        Write::NewOperation(operation) | Write::Operation { operation, .. } => Some(operation.id),
        Write::NewOrder { .. }
        | Write::Order(_)
        | Write::NewInvoice(_)
        | Write::EventOnly { .. } => None,
    }
}
