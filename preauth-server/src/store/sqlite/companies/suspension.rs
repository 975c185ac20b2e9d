//! Suspensions of companies.

use preauth_core::value::CompanyId;
use sqlx::SqliteConnection;

use crate::directory::{Company, Suspension};
use crate::store::rows::company;

use crate::store::error::WriteError;

/// Suspends a company; the first suspension's time stays.
pub(super) async fn begin(
    connection: &mut SqliteConnection,
    (id, suspension): &(CompanyId, Suspension),
) -> Result<Company, WriteError> {
    let row = sqlx::query(
        "UPDATE companies
         SET suspension_reason = CASE WHEN suspended_at IS NULL THEN ?3
                                      ELSE suspension_reason END,
             suspended_at = coalesce(suspended_at, ?2)
         WHERE id = ?1
         RETURNING id, cnpj, name, kind, head_office_id, contact_name, contact_email, contact_phone,
                   created_at, is_invited, suspended_at, suspension_reason",
    )
    .bind(id.as_uuid().as_bytes().as_slice())
    .bind(suspension.since.unix_millis())
    .bind(suspension.reason.as_str())
    .fetch_optional(connection)
    .await?;
    Ok(company(row.as_ref().ok_or(WriteError::NotFound)?)?)
}

/// Ends a suspension, if there is one.
pub(super) async fn end(
    connection: &mut SqliteConnection,
    id: CompanyId,
) -> Result<Company, WriteError> {
    let row = sqlx::query(
        "UPDATE companies SET suspended_at = NULL, suspension_reason = NULL
         WHERE id = ?1
         RETURNING id, cnpj, name, kind, head_office_id, contact_name, contact_email, contact_phone,
                   created_at, is_invited, suspended_at, suspension_reason",
    )
    .bind(id.as_uuid().as_bytes().as_slice())
    .fetch_optional(connection)
    .await?;
    Ok(company(row.as_ref().ok_or(WriteError::NotFound)?)?)
}
