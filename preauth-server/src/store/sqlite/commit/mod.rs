//! Commits: each written in full, or a conflict that writes nothing.

mod aggregate;
mod chunks;
mod deliveries;
mod invoices;
mod orders;
mod record;

use preauth_core::operation::Operation;
use preauth_core::port::{Commit, ReplyScope, Write};
use preauth_core::value::OperationId;
use sqlx::SqliteConnection;

use crate::store::error::WriteError;
use crate::store::sql::{audit_log, platform_replies};

pub(super) use deliveries::InsertedDeliveries;
use record::ErpReply;

/// Writes all changes of a decision; returns its deliveries. The schema's constraints decide whether it is valid.
pub(super) async fn write(
    connection: &mut SqliteConnection,
    commit: &Commit,
) -> Result<InsertedDeliveries, WriteError> {
    let inserted = write_all(connection, &[commit]).await?;
    Ok(inserted.into_iter().next().unwrap_or_default())
}

/// Writes all changes of several decisions, or a conflict if any of them is one; returns the deliveries of
/// each. Rows of the same table are written together, however many decisions they come from.
pub(super) async fn write_all(
    connection: &mut SqliteConnection,
    commits: &[&Commit],
) -> Result<Vec<InsertedDeliveries>, WriteError> {
    // Before the operations, which refer to them.
    for commit in commits {
        if let Some(supplier) = &commit.supplier {
            record::invitation(connection, supplier, commit).await?;
        }
    }
    aggregates(connection, commits).await?;
    record::events(connection, commits).await?;
    record::feed(connection, commits).await?;
    for commit in commits {
        if let Some(operator) = &commit.operator {
            record::operator(connection, operator, commit).await?;
            audit_log::of_commit(connection, commit).await?;
        }
    }
    let inserted = deliveries::insert(connection, commits).await?;
    record::mails(connection, commits).await?;
    replies(connection, commits).await?;
    for commit in commits {
        if let (Some(operation), Some(file)) = (operation_of(&commit.write), &commit.file) {
            record::file(connection, file, operation).await?;
        }
    }
    Ok(inserted)
}

async fn aggregates(
    connection: &mut SqliteConnection,
    commits: &[&Commit],
) -> Result<(), WriteError> {
    let mut new: Vec<&Operation> = Vec::new();
    for commit in commits {
        let expected = commit.write.expected_version();
        match &commit.write {
            Write::NewOperation(operation) => new.push(operation),
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
    }
    aggregate::insert(connection, &new).await
}

async fn replies(connection: &mut SqliteConnection, commits: &[&Commit]) -> Result<(), WriteError> {
    let mut of_erps = Vec::new();
    for commit in commits {
        let Some(reply) = &commit.reply else {
            continue;
        };
        let at = commit.event.at;
        match (reply.scope, operation_of(&commit.write)) {
            (ReplyScope::HeadOffice(head_office), Some(operation)) => of_erps.push(ErpReply {
                reply,
                head_office,
                operation,
                at,
            }),
            // Only creates of an ERP have a reply for a head office.
            (ReplyScope::HeadOffice(_), None) => {}
            (ReplyScope::Platform, _) => {
                platform_replies::remember(connection, Some(reply), at).await?;
            }
        }
    }
    record::replies(connection, &of_erps).await
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
