//! One commit: all of it, or a conflict that leaves nothing behind.

mod aggregate;
mod keys;
mod record;

use preauth_core::port::{Commit, Write};
use sqlx::PgConnection;

use super::error::WriteError;
use super::{invoices, payment_orders};

/// Writes everything that a decision changed. The constraints of the schema say whether it may.
pub(super) async fn write(
    connection: &mut PgConnection,
    commit: &Commit,
) -> Result<(), WriteError> {
    let expected = commit.write.expected_version();
    if let Some(reply) = &commit.reply {
        keys::enter(connection, commit.write.head_office(), &reply.key).await?;
    }
    // Before the operation, which refers to it.
    if let Some(supplier) = &commit.supplier {
        record::supplier(connection, supplier, commit.event.at).await?;
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
        Write::NewOrder(order) => payment_orders::insert(connection, order).await?,
        Write::Order(order) => payment_orders::update(connection, order, expected).await?,
        Write::NewInvoice(invoice) => invoices::insert(connection, invoice).await?,
        Write::Nothing { .. } => {}
    }
    record::event(connection, commit).await?;
    for delivery in &commit.deliveries {
        record::delivery(connection, *delivery, &commit.event).await?;
    }
    if let Some(notice) = &commit.notice {
        record::notice(connection, notice, commit).await?;
    }
    if let Write::NewOperation(operation) | Write::Operation { operation, .. } = &commit.write {
        if let Some(reply) = &commit.reply {
            record::reply(connection, reply, operation, commit.event.at).await?;
        }
        if let Some(file) = &commit.file {
            record::file(connection, file, operation.id).await?;
        }
    }
    Ok(())
}
