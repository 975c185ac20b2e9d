//! Rows of PostgreSQL's driver.

use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::store::rows::{Corrupt, raw_row};

pub(super) use crate::store::rows::{Columns, clamped};

raw_row!(PgRow, |row: &PgRow, column: &str| row.try_get(column));

/// The element of `answers` that a row belongs to, where `WITH ORDINALITY` counts from one.
pub(super) fn place<'a, T>(
    columns: Columns<'_>,
    column: &'static str,
    answers: &'a mut [T],
) -> Result<Option<&'a mut T>, Corrupt> {
    let n: usize = columns.raw(column)?;
    Ok(n.checked_sub(1).and_then(|n| answers.get_mut(n)))
}
