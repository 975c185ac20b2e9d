//! Compares the totals that the database keeps with its records.

use uuid::Uuid;

use crate::store::archive::{self, FileSum, Page, Stage};
use crate::store::error::Fault;
use crate::store::rows::Columns;

use super::super::{Row, Session, query};

/// The statement that finds the next head office with operations or with a row of this table.
macro_rules! next_head_office {
    ($totals:literal) => {
        query(concat!(
            "SELECT head_office_id FROM (
                 SELECT * FROM (SELECT head_office_id FROM operations WHERE head_office_id > $1
                                ORDER BY head_office_id LIMIT 1) AS stored
                 UNION ALL
                 SELECT * FROM (SELECT head_office_id FROM ",
            $totals,
            " WHERE head_office_id > $1
                                ORDER BY head_office_id LIMIT 1) AS counted) AS either
             ORDER BY head_office_id LIMIT 1"
        ))
    };
}

/// The next head office's wrong counts, or the first of them: its operations are counted in the
/// same snapshot in which its counts are read, because an operation changes its status at any time.
pub(super) async fn miscounts(
    session: &mut dyn Session,
    stage: &Stage,
    after: Uuid,
    limit: u32,
) -> Result<Page, Fault> {
    let next = next_head_office!("operation_counts").bind(after);
    let Some(next) = next.fetch_optional(session).await? else {
        return Ok((Vec::new(), stage.after()));
    };
    let head_office = match archive::head_office(&next) {
        Ok(head_office) => head_office,
        Err(unreadable) => return Ok((vec![Err(unreadable)], stage.after())),
    };
    let rows = query(
        "SELECT payer_id, status, CAST(sum(counted) AS BIGINT) AS counted, CAST(sum(there) AS BIGINT) AS there
         FROM (SELECT payer_id, status, count AS counted, 0 AS there
               FROM operation_counts WHERE head_office_id = $1
               UNION ALL
               SELECT payer_id, status, 0, count(*)
               FROM operations WHERE head_office_id = $1 GROUP BY payer_id, status) AS compared
         GROUP BY payer_id, status
         HAVING sum(counted) <> sum(there)
         ORDER BY payer_id, status LIMIT $2",
    )
    .bind(head_office)
    .bind(limit)
    .fetch_all(session)
    .await?;
    Ok((archive::miscounts(&rows), Stage::Counts(head_office)))
}

/// The beginning of the next head office's files.
pub(super) async fn next_files(
    session: &mut dyn Session,
    stage: &Stage,
    after: Uuid,
) -> Result<Page, Fault> {
    let next = next_head_office!("invoice_file_bytes").bind(after);
    let Some(next) = next.fetch_optional(session).await? else {
        return Ok((Vec::new(), stage.after()));
    };
    Ok(match archive::head_office(&next) {
        Ok(head_office) => {
            let beginning = FileSum {
                head_office,
                operation: 0,
                bytes: 0,
            };
            (Vec::new(), Stage::FilesOf(beginning))
        }
        Err(unreadable) => (vec![Err(unreadable)], stage.after()),
    })
}

/// Adds the files of the next operations of a head office. After the last ones, the sum is compared
/// with the one that was recorded at that moment.
///
/// A file is added with its operation, and never changes. So a sum over pages of several moments equals
/// the sum at the last one, unless an operation was committed after others with higher ids were read.
/// If the sums differ, one statement sums up all files again, and its result decides.
pub(super) async fn files(
    session: &mut dyn Session,
    stage: &Stage,
    before: FileSum,
    limit: u32,
) -> Result<Page, Fault> {
    let head_office = before.head_office;
    let row = query(
        "SELECT count(*) AS operations, max(o.id) AS last,
                CAST(coalesce(sum(f.size_bytes), 0) AS BIGINT) AS bytes
         FROM (SELECT id FROM operations WHERE head_office_id = $1 AND id > $2
               ORDER BY id LIMIT $3) AS o
         LEFT JOIN invoice_files f ON f.operation_id = o.id",
    )
    .bind(head_office)
    .bind(before.operation)
    .bind(limit)
    .fetch_one(session)
    .await?;
    let columns = Columns::of("invoice_files", &row);
    let last: Option<i64> = columns.raw("last")?;
    let added: i64 = columns.raw("bytes")?;
    let sum = FileSum {
        head_office,
        operation: last.unwrap_or(before.operation),
        bytes: before.bytes.saturating_add(added),
    };
    let next = stage.next(columns.raw("operations")?, limit, Stage::FilesOf(sum));
    if next == Stage::FilesOf(sum) || recorded_bytes(session, head_office).await? == sum.bytes {
        return Ok((Vec::new(), next));
    }
    let row = file_bytes(session, head_office).await?;
    Ok((archive::file_bytes(head_office, &row)?, next))
}

async fn recorded_bytes(session: &mut dyn Session, head_office: Uuid) -> Result<i64, Fault> {
    let row = query(
        "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) AS counted FROM invoice_file_bytes
         WHERE head_office_id = $1",
    )
    .bind(head_office)
    .fetch_one(session)
    .await?;
    Ok(Columns::of("invoice_file_bytes", &row).raw("counted")?)
}

/// The sum of a head office's files and the recorded sum, both at the same moment.
async fn file_bytes(session: &mut dyn Session, head_office: Uuid) -> Result<Row, Fault> {
    let row = query(
        "SELECT (SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM invoice_file_bytes
                 WHERE head_office_id = $1) AS counted,
                (SELECT CAST(coalesce(sum(f.size_bytes), 0) AS BIGINT)
                 FROM operations o JOIN invoice_files f ON f.operation_id = o.id
                 WHERE o.head_office_id = $1) AS there",
    )
    .bind(head_office)
    .fetch_one(session)
    .await?;
    Ok(row)
}
