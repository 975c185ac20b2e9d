//! The operation of a commit, and its extension.

use preauth_core::operation::{ExtensionStatus, Operation};
use preauth_core::port::ExtensionRecord;
use preauth_core::value::{ExternalReference, InvoiceNumber, Money, Timestamp, Version};
use sqlx::SqliteConnection;

use crate::store::rows::{StateColumns, compared_number};

use crate::store::error::{WriteError, one_row_or};

/// Inserts a new operation. A conflict when its id is taken, or another operation holds its
/// invoice.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    operation: &Operation,
) -> Result<(), WriteError> {
    let invoice = &operation.invoice;
    let state = StateColumns::of(&operation.state);
    sqlx::query(
        "INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version,
             origin, status, amount_cents, withheld_tax_cents, net_amount_cents, due_date,
             invoice_number, invoice_number_nfc, external_reference, expires_at, created_at,
             closing_action, closing_reason, boleto_due_date)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
             ?19, ?20)",
    )
    .bind(operation.id.get())
    .bind(operation.payer.head_office.as_uuid().as_bytes().as_slice())
    .bind(operation.payer.company.as_uuid().as_bytes().as_slice())
    .bind(operation.supplier.company.as_uuid().as_bytes().as_slice())
    .bind(operation.supplier.cnpj.as_str())
    .bind(operation.version.get())
    .bind(operation.origin.as_str())
    .bind(operation.status().as_str())
    .bind(invoice.amounts.amount().cents())
    .bind(invoice.amounts.withheld_tax().cents())
    .bind(operation.net_amount.map(Money::cents))
    .bind(invoice.due_date.to_string())
    .bind(invoice.number.as_ref().map(InvoiceNumber::as_str))
    .bind(compared_number(invoice))
    .bind(
        operation
            .external_reference
            .as_ref()
            .map(ExternalReference::as_str),
    )
    .bind(operation.expires_at.map(Timestamp::unix_millis))
    .bind(operation.created_at.unix_millis())
    .bind(state.closing_action())
    .bind(state.closing_reason())
    .bind(state.boleto_due_date())
    .execute(connection)
    .await?;
    Ok(())
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
