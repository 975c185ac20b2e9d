//! Invoices of commits.

use preauth_core::ReceivedInvoice;
use sqlx::SqliteConnection;

use crate::store::error::WriteError;

/// Inserts an invoice. A conflict when its id is taken.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    invoice: &ReceivedInvoice,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO invoices (id, head_office_id, payer_id, supplier_id, amount_cents, due_date,
             number, received_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )
    .bind(invoice.id.get())
    .bind(invoice.payer.head_office.as_uuid().as_bytes().as_slice())
    .bind(invoice.payer.company.as_uuid().as_bytes().as_slice())
    .bind(invoice.supplier.company.as_uuid().as_bytes().as_slice())
    .bind(invoice.amount.cents())
    .bind(invoice.due_date.to_string())
    .bind(invoice.number.as_str())
    .bind(invoice.received_at.unix_millis())
    .execute(connection)
    .await?;
    Ok(())
}
