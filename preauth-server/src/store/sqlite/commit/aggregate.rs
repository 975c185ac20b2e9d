//! The operation of a commit, and its extension.

use preauth_core::operation::{ExtensionStatus, Operation};
use preauth_core::port::ExtensionRecord;
use preauth_core::value::{ExternalReference, InvoiceNumber, Money, Timestamp, Version};
use sqlx::query_builder::{QueryBuilder, Separated};
use sqlx::{Sqlite, SqliteConnection};

use crate::store::rows::{StateColumns, compared_number};

use crate::store::error::{WriteError, one_row_or};

use super::chunks::chunks;

/// Inserts new operations. A conflict when an id is taken, or another operation holds an invoice.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    operations: &[&Operation],
) -> Result<(), WriteError> {
    for chunk in chunks(operations) {
        let mut query = QueryBuilder::new(
            "INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj,
                 version, origin, status, amount_cents, withheld_tax_cents, net_amount_cents,
                 due_date, invoice_number, invoice_number_nfc, external_reference, expires_at,
                 created_at, closing_action, closing_reason, boleto_due_date) ",
        );
        query.push_values(chunk, |row, operation| values(row, operation));
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

fn values(mut row: Separated<'_, Sqlite, &'static str>, operation: &Operation) {
    let invoice = &operation.invoice;
    let state = StateColumns::of(&operation.state);
    let reference = operation.external_reference.as_ref();
    row.push_bind(operation.id.get())
        .push_bind(operation.payer.head_office.as_uuid().as_bytes().as_slice())
        .push_bind(operation.payer.company.as_uuid().as_bytes().as_slice())
        .push_bind(operation.supplier.company.as_uuid().as_bytes().as_slice())
        .push_bind(operation.supplier.cnpj.as_str())
        .push_bind(operation.version.get())
        .push_bind(operation.origin.as_str())
        .push_bind(operation.status().as_str())
        .push_bind(invoice.amounts.amount().cents())
        .push_bind(invoice.amounts.withheld_tax().cents())
        .push_bind(operation.net_amount.map(Money::cents))
        .push_bind(invoice.due_date.to_string())
        .push_bind(invoice.number.as_ref().map(InvoiceNumber::as_str))
        .push_bind(compared_number(invoice))
        .push_bind(reference.map(ExternalReference::as_str))
        .push_bind(operation.expires_at.map(Timestamp::unix_millis))
        .push_bind(operation.created_at.unix_millis())
        .push_bind(state.closing_action())
        .push_bind(state.closing_reason())
        .push_bind(state.boleto_due_date());
}

/// Updates an operation from the version `expected`: only the columns that may change. Also a
/// conflict when it takes an invoice that another operation holds.
pub(super) async fn update(
    connection: &mut SqliteConnection,
    operation: &Operation,
    expected: Option<Version>,
) -> Result<(), WriteError> {
    let state = StateColumns::of(&operation.state);
    let done = sqlx::query(
        "UPDATE operations
         SET version = ?1, status = ?2, net_amount_cents = ?3, closing_action = ?4,
             closing_reason = ?5, boleto_due_date = ?6
         WHERE id = ?7 AND version = ?8",
    )
    .bind(operation.version.get())
    .bind(operation.status().as_str())
    .bind(operation.net_amount.map(Money::cents))
    .bind(state.closing_action())
    .bind(state.closing_reason())
    .bind(state.boleto_due_date())
    .bind(operation.id.get())
    .bind(expected.map(Version::get))
    .execute(connection)
    .await?;
    one_row_or(done.rows_affected(), WriteError::Conflict)
}

/// Writes an extension in its state after the commit: a new row when it opens, else its new status.
pub(super) async fn write_extension(
    connection: &mut SqliteConnection,
    operation: &Operation,
    record: &ExtensionRecord,
) -> Result<(), WriteError> {
    let extension = &record.extension;
    let done = match record.status {
        ExtensionStatus::Open => {
            sqlx::query(
                "INSERT INTO extensions (id, head_office_id, operation_id, new_due_date,
                     total_amount_cents, status)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )
            .bind(extension.id.get())
            .bind(operation.payer.head_office.as_uuid().as_bytes().as_slice())
            .bind(operation.id.get())
            .bind(extension.new_due_date.to_string())
            .bind(extension.total_amount.cents())
            .bind(record.status.as_str())
            .execute(connection)
            .await?
        }
        ExtensionStatus::Concluded | ExtensionStatus::Canceled => {
            sqlx::query(
                "UPDATE extensions SET status = ?1
                 WHERE id = ?2 AND operation_id = ?3 AND status = 'OPEN'",
            )
            .bind(record.status.as_str())
            .bind(extension.id.get())
            .bind(operation.id.get())
            .execute(connection)
            .await?
        }
    };
    one_row_or(done.rows_affected(), WriteError::Conflict)
}
