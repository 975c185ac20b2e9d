//! Suspensions of companies.

use preauth_core::value::CompanyId;

use crate::directory::{Company, Suspension};
use crate::store::error::WriteError;
use crate::store::rows::company;

use super::super::{Session, query};

/// Suspends a company; the first suspension's time stays.
pub(super) async fn begin(
    session: &mut dyn Session,
    (id, suspension): &(CompanyId, Suspension),
) -> Result<Company, WriteError> {
    let row = query(concat!(
        "UPDATE companies
         SET suspension_reason = CASE WHEN suspended_at IS NULL THEN $3
                                      ELSE suspension_reason END,
             suspended_at = coalesce(suspended_at, $2)
         WHERE id = $1
         RETURNING ",
        columns!()
    ))
    .bind(id.as_uuid())
    .bind(suspension.since.unix_millis())
    .bind(suspension.reason.as_str())
    .fetch_optional(session)
    .await?;
    Ok(company(row.as_ref().ok_or(WriteError::NotFound)?)?)
}

/// Ends a suspension, if there is one.
pub(super) async fn end(session: &mut dyn Session, id: CompanyId) -> Result<Company, WriteError> {
    let row = query(concat!(
        "UPDATE companies SET suspended_at = NULL, suspension_reason = NULL
         WHERE id = $1
         RETURNING ",
        columns!()
    ))
    .bind(id.as_uuid())
    .fetch_optional(session)
    .await?;
    Ok(company(row.as_ref().ok_or(WriteError::NotFound)?)?)
}
