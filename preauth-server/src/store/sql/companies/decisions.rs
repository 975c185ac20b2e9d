//! Credit analyses and block lists of head offices.

use preauth_core::operation::Credit;
use preauth_core::value::{Cnpj, CompanyId, Timestamp};

use crate::store::error::{Fault, WriteError, one_row_or};
use crate::store::rows;
use crate::store::rows::{Columns, Corrupt};

use super::super::{Row, Session, query, sql};

/// Sets or replaces a credit analysis; not found unless the company is a head office.
pub(super) async fn set_credit(
    session: &mut dyn Session,
    (company, credit, at): &(CompanyId, Credit, Timestamp),
) -> Result<(), WriteError> {
    let done = query(
        "INSERT INTO credit_analyses (head_office_id, max_term_days, max_invoice_amount_cents,
             analysed_at)
         SELECT id, $2, $3, $4 FROM companies WHERE id = $1 AND head_office_id = id
         ON CONFLICT (head_office_id) DO UPDATE
         SET max_term_days = excluded.max_term_days,
             max_invoice_amount_cents = excluded.max_invoice_amount_cents,
             analysed_at = excluded.analysed_at",
    )
    .bind(company.as_uuid())
    .bind(credit.max_term_days)
    .bind(credit.max_invoice_amount.cents())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    one_row_or(done, WriteError::NotFound)
}

pub(super) async fn credit(
    session: &mut dyn Session,
    company: CompanyId,
) -> Result<Option<Credit>, Fault> {
    let row = query(
        "SELECT max_term_days, max_invoice_amount_cents FROM credit_analyses
         WHERE head_office_id = $1",
    )
    .bind(company.as_uuid())
    .fetch_optional(session)
    .await?;
    let credit = row.map(|row| rows::credit(Columns::of("credit_analyses", &row)));
    Ok(credit.transpose()?)
}

/// Blocks a supplier; the first entry's time stays. Not found unless the company is a head office.
pub(super) async fn block(
    session: &mut dyn Session,
    (company, supplier, at): &(CompanyId, Cnpj, Timestamp),
) -> Result<(), WriteError> {
    let done = query(
        "INSERT INTO blocked_suppliers (head_office_id, supplier_cnpj, blocked_at)
         SELECT id, $2, $3 FROM companies WHERE id = $1 AND head_office_id = id
         ON CONFLICT (head_office_id, supplier_cnpj) DO UPDATE
         SET blocked_at = blocked_suppliers.blocked_at",
    )
    .bind(company.as_uuid())
    .bind(supplier.as_str())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    one_row_or(done, WriteError::NotFound)
}

/// Removes every entry of a supplier's legal entity from the block list; not found when there is
/// none.
pub(super) async fn unblock(
    session: &mut dyn Session,
    (company, supplier): &(CompanyId, Cnpj),
) -> Result<(), WriteError> {
    let done = query(
        "DELETE FROM blocked_suppliers
         WHERE head_office_id = $1 AND substr(supplier_cnpj, 1, 8) = $2",
    )
    .bind(company.as_uuid())
    .bind(supplier.root().as_str())
    .execute(session)
    .await?;
    one_row_or(done.min(1), WriteError::NotFound)
}

pub(super) async fn blocked(
    session: &mut dyn Session,
    company: CompanyId,
) -> Result<Vec<Row>, Fault> {
    let rows = query(sql!(
        "SELECT supplier_cnpj AS id, supplier_cnpj FROM blocked_suppliers WHERE head_office_id = $1
         ORDER BY supplier_cnpj" BYTEWISE
    ))
    .bind(company.as_uuid())
    .fetch_all(session)
    .await?;
    Ok(rows)
}

/// The tax id of a row of [`blocked`].
pub(super) fn blocked_supplier(row: &Row) -> Result<Cnpj, Corrupt> {
    Columns::of("blocked_suppliers", row).parsed("supplier_cnpj")
}
