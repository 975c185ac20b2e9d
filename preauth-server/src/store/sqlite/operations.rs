//! Operations as rows: reading, and look-ups.

use std::collections::HashMap;

use preauth_core::operation::Operation;
use preauth_core::value::{Cnpj, CompanyId, InvoiceNumber, OperationId, Timestamp};
use sqlx::SqliteConnection;

use crate::store::error::Fault;
use crate::store::rows::{Corrupt, operation, readable_operations, select_operations};

use super::rows::Columns;

/// The operations with these ids, in their order.
pub(super) async fn by_ids(
    connection: &mut SqliteConnection,
    ids: &[OperationId],
) -> Result<Vec<Result<Option<Operation>, Fault>>, Fault> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.get()).collect();
    let rows = sqlx::query(select_operations!(
        "WHERE o.id IN (SELECT value FROM json_each(?1))"
    ))
    .bind(format!("{numbers:?}"))
    .fetch_all(connection)
    .await?;
    let mut found = HashMap::with_capacity(rows.len());
    for row in &rows {
        let id = Columns::of("operations", row).number("id", OperationId::new)?;
        found.insert(id, row);
    }
    let answer = |id| {
        let row = found.get(id).copied();
        Ok(row.map(operation).transpose()?)
    };
    Ok(ids.iter().map(answer).collect())
}

/// The operation in progress that holds an invoice in a group, except `except`.
pub(super) async fn holder(
    connection: &mut SqliteConnection,
    head_office: CompanyId,
    supplier: Cnpj,
    number: Option<&InvoiceNumber>,
    except: OperationId,
) -> Result<Option<Operation>, Fault> {
    let Some(number) = number else {
        return Ok(None);
    };
    for form in number.held_as() {
        // The condition on number and status repeats that of the unique index verbatim: otherwise
        // SQLite does not use the index.
        let row = sqlx::query(select_operations!(
            "WHERE o.head_office_id = ?1 AND o.supplier_cnpj = ?2
               AND coalesce(o.invoice_number_nfc, o.invoice_number) = ?3
               AND o.invoice_number IS NOT NULL AND o.status NOT IN ('REPROVED', 'CONCLUDED')
               AND o.id <> ?4"
        ))
        .bind(head_office.as_uuid().as_bytes().as_slice())
        .bind(supplier.as_str())
        .bind(form)
        .bind(except.get())
        .fetch_optional(&mut *connection)
        .await?;
        if let Some(row) = row {
            return Ok(Some(operation(&row)?));
        }
    }
    Ok(None)
}

/// Overdue offers, the longest overdue first, and the errors of unreadable ones; those in
/// `left_out` are skipped.
pub(super) async fn overdue(
    connection: &mut SqliteConnection,
    now: Timestamp,
    limit: u32,
    left_out: &[i64],
) -> Result<(Vec<Operation>, Vec<(OperationId, Corrupt)>), Fault> {
    // As JSON the numbers are a single bound value.
    let rows = sqlx::query(select_operations!(
        "WHERE o.status = 'IN_PRE_AUTH' AND o.expires_at < ?1
           AND o.id NOT IN (SELECT value FROM json_each(?3))
         ORDER BY o.expires_at, o.id LIMIT ?2"
    ))
    .bind(now.unix_millis())
    .bind(limit)
    .bind(format!("{left_out:?}"))
    .fetch_all(connection)
    .await?;
    Ok(readable_operations(&rows)?)
}
