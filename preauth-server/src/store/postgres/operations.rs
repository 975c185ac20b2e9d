//! Operations as rows: reading, and look-ups of one.

use preauth_core::operation::Operation;
use preauth_core::value::{Cnpj, CompanyId, InvoiceNumber, OperationId, Timestamp};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::store::error::Fault;
use crate::store::rows::{Corrupt, operation, readable_operations, select_operations};
use crate::store::sql::operations::by_id;

use super::rows::{Columns, place};

/// Which overdue offers are loaded.
#[derive(Debug)]
pub(super) struct OverdueSearch {
    pub(super) now: Timestamp,
    pub(super) limit: u32,
    /// Offers that expired earlier are skipped.
    pub(super) from: i64,
    /// Offers that are skipped.
    pub(super) left_out: Vec<i64>,
    /// Head offices whose offers are skipped.
    pub(super) held: Vec<Uuid>,
}

/// The operations with these ids, in their order.
///
/// A subquery with a limit has only one plan (see `offers`).
pub(super) async fn by_ids(
    connection: &mut PgConnection,
    ids: &[OperationId],
) -> Result<Vec<Result<Option<Operation>, Fault>>, Fault> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.get()).collect();
    let rows = sqlx::query(concat!(
        "SELECT o.*, t.n
         FROM unnest($1::BIGINT[]) WITH ORDINALITY AS t (id, n)
         CROSS JOIN LATERAL (",
        select_operations!("WHERE o.id = t.id LIMIT 1"),
        ") AS o"
    ))
    .bind(numbers)
    .fetch_all(connection)
    .await?;
    let mut answers: Vec<_> = ids.iter().map(|_| Ok(None)).collect();
    for row in &rows {
        if let Some(answer) = place(Columns::of("operations", row), "n", &mut answers)? {
            *answer = operation(row).map(Some).map_err(Fault::from);
        }
    }
    Ok(answers)
}

/// The condition of the unique index `operations_number_in_progress`, by which the holder of an invoice's number is found.
///
/// Where one supplier is expected to have hardly any operations, the index of all that suppliers have looks as good, and is
/// preferred while it has a level less: then everything that the supplier ever had is read. So the planner is to count
/// this condition as dear: it costs half of a list's elements for each row that is found otherwise, and nothing by the index
/// that implies it. Longer lists the planner does not compare with an index's condition.
macro_rules! in_progress_with_a_number {
    () => {
        "o.invoice_number IS NOT NULL
               AND o.status <> ALL (array_fill('REPROVED'::TEXT, ARRAY[100]))
               AND o.status <> ALL (array_fill('CONCLUDED'::TEXT, ARRAY[100]))"
    };
}
pub(super) use in_progress_with_a_number;

/// The operation in progress that holds an invoice in a group, except `except`.
pub(super) async fn holder(
    connection: &mut PgConnection,
    head_office: CompanyId,
    supplier: Cnpj,
    number: Option<&InvoiceNumber>,
    except: OperationId,
) -> Result<Option<Operation>, Fault> {
    let Some(number) = number else {
        return Ok(None);
    };
    // A subquery with a limit has only one plan (see `offers`).
    let found: Option<i64> = sqlx::query_scalar(concat!(
        "SELECT o.id
         FROM unnest($3::TEXT[]) AS f (number)
         CROSS JOIN LATERAL (
             SELECT o.id FROM operations o
             WHERE o.head_office_id = $1 AND o.supplier_cnpj = $2
               AND coalesce(o.invoice_number_nfc, o.invoice_number) = f.number
               AND ",
        in_progress_with_a_number!(),
        "
               AND o.id <> $4 LIMIT 1) AS o
         LIMIT 1",
    ))
    .bind(head_office.as_uuid())
    .bind(supplier.as_str())
    .bind(number.held_as())
    .bind(except.get())
    .fetch_optional(&mut *connection)
    .await?;
    let Some(id) = found.and_then(OperationId::new) else {
        return Ok(None);
    };
    by_id(connection, id).await
}

/// Overdue offers, the longest overdue first, and the errors of unreadable ones.
pub(super) async fn overdue(
    connection: &mut PgConnection,
    search: &OverdueSearch,
) -> Result<(Vec<Operation>, Vec<(OperationId, Corrupt)>), Fault> {
    let rows = sqlx::query(select_operations!(
        "WHERE o.status = 'IN_PRE_AUTH' AND o.expires_at >= $4 AND o.expires_at < $1
           AND o.id <> ALL($3) AND o.head_office_id <> ALL($5)
         ORDER BY o.expires_at, o.id LIMIT $2"
    ))
    .bind(search.now.unix_millis())
    .bind(i64::from(search.limit))
    .bind(&search.left_out)
    .bind(search.from)
    .bind(&search.held)
    .fetch_all(connection)
    .await?;
    Ok(readable_operations(&rows)?)
}
