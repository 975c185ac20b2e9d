//! Removes the descriptions of invoice files. The files themselves are announced as if they had been stored long ago,
//! so that the janitor's sweep removes what no other operation names.

use chrono::TimeDelta;
use preauth_core::value::Timestamp;

use crate::store::OldFiles;
use crate::store::error::WriteError;
use crate::store::rows::{Columns, content_hash};

use super::super::planner::find_by_keys;
use super::super::{Session, query, sql};

/// Before every upload, by whichever clock: the content goes at once.
pub(super) const LONG_AGO: i64 = 0;
/// How long the content of an old file stays: a backup that runs meanwhile still copies it.
const KEPT_FOR_BACKUPS: TimeDelta = TimeDelta::days(1);

/// Removes the file of each of these operations, its content as one that was announced at this time; returns how many
/// had one.
pub(super) async fn remove(
    session: &mut dyn Session,
    operations: impl IntoIterator<Item = i64>,
    announced_at: i64,
) -> Result<u64, WriteError> {
    let mut removed = 0_u64;
    find_by_keys(session).await?;
    for operation in operations {
        let row = query("DELETE FROM invoice_files WHERE operation_id = $1 RETURNING sha256");
        let Some(row) = row.bind(operation).fetch_optional(session).await? else {
            continue;
        };
        query(
            "INSERT INTO announced_files (sha256, announced_at) VALUES ($1, $2)
             ON CONFLICT (sha256) DO NOTHING",
        )
        .bind(content_hash(&row)?.as_bytes().as_slice())
        .bind(announced_at)
        .execute(session)
        .await?;
        removed = removed.saturating_add(1);
    }
    Ok(removed)
}

/// Removes the files of the next operations with one, if they were concluded or reproved before `ended_before`, up to
/// the first operation that is younger.
pub(in crate::store) async fn forget_old(
    session: &mut dyn Session,
    (now, ended_before, after, limit): &(Timestamp, Timestamp, i64, u32),
) -> Result<OldFiles, WriteError> {
    let rows = query(sql!(
        "SELECT f.operation_id, o.created_at < $1 AS is_old,
                o.created_at < $1 AND o.status IN ('CONCLUDED', 'REPROVED')
                    AND coalesce((SELECT v.at FROM events v
                                  WHERE v.head_office_id = o.head_office_id AND v.operation_id = o.id
                                    AND v.operation_id IS NOT NULL AND v.version = o.version) < $1, FALSE)
                    AS is_over
         FROM (SELECT operation_id FROM invoice_files WHERE operation_id > $2
               ORDER BY operation_id LIMIT $3) AS f
         JOIN operations o ON o.id" (found_by "f.operation_id") "
         ORDER BY f.operation_id"
    ))
    .bind(ended_before.unix_millis())
    .bind(*after)
    .bind(*limit)
    .fetch_all(session)
    .await?;
    let mut over = Vec::new();
    // Operations have their ids in about the order of their creation.
    let mut next = None;
    for row in &rows {
        let columns = Columns::of("invoice_files", row);
        let operation: i64 = columns.raw("operation_id")?;
        if columns.raw("is_over")? {
            over.push(operation);
        }
        next = columns.raw::<bool>("is_old")?.then_some(operation);
    }
    if u32::try_from(rows.len()).is_ok_and(|read| read < *limit) {
        next = None;
    }
    let removed = remove(
        session,
        over,
        now.saturating_add(KEPT_FOR_BACKUPS).unix_millis(),
    )
    .await?;
    Ok(OldFiles { removed, next })
}
