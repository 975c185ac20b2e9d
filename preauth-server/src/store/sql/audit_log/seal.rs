//! Seals of the audit log: a chain of hashes over its rows.
//!
//! The hash of a seal is SHA-256 over the hash of the seal before it (32 bytes; zeros for the first), and
//! each of its rows by number: a JSON array of the row's columns, on a line of its own. Every column but
//! the seal's number is covered.

use preauth_core::port::{Record, SealMark, StoredSeal, Subject, Unreadable, UnsealedRow};
use preauth_core::value::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::directory::Sealing;
use crate::store::archive::{Page, Stage};
use crate::store::error::{Fault, WriteError};
use crate::store::rows::{Columns, Corrupt};

use super::super::{Row, Session, query, sql};

/// Maximum number of rows of a seal.
const MAX_ROWS: u32 = 500;

/// The columns that a hash covers, and the seal.
macro_rules! select_rows {
    ($rest:literal) => {
        concat!(
            "SELECT id, request_id, at, operator_id, operator_name, role, address, action, outcome,
                 record, company_id, changes, seal
             FROM audit_log ",
            $rest
        )
    };
}

/// The outcome, unless a row waits for a seal.
pub(super) async fn without_write(
    session: &mut dyn Session,
    known: Option<SealMark>,
) -> Result<Option<Sealing>, Fault> {
    if let Some(broken) = unlike(session, known).await? {
        return Ok(Some(broken));
    }
    let row = query("SELECT id FROM audit_log WHERE seal IS NULL ORDER BY seal, id LIMIT 1");
    if row.fetch_optional(session).await?.is_some() {
        return Ok(None);
    }
    let newest = newest(session).await?;
    Ok(Some(Sealing::Nothing(newest.map(|(mark, _)| mark))))
}

/// The outcome when the chain has no longer the seal that was known.
async fn unlike(
    session: &mut dyn Session,
    known: Option<SealMark>,
) -> Result<Option<Sealing>, Fault> {
    let Some(known) = known else {
        return Ok(None);
    };
    let is_there = hash_of(session, known.number).await? == Some(known.hash);
    let number = known.number;
    Ok((!is_there).then_some(Sealing::Broken { number }))
}

async fn hash_of(session: &mut dyn Session, number: i64) -> Result<Option<[u8; 32]>, Fault> {
    let found = query("SELECT hash FROM audit_seals WHERE number = $1").bind(number);
    let found = found.fetch_optional(session).await?;
    let hash = found.map(|row| Columns::of("audit_seals", &row).bytes("hash"));
    Ok(hash.transpose()?)
}

/// The newest seal, and the number of its rows.
async fn newest(session: &mut dyn Session) -> Result<Option<(SealMark, i64)>, Fault> {
    let row = query("SELECT number, row_count, hash FROM audit_seals ORDER BY number DESC LIMIT 1");
    let Some(row) = row.fetch_optional(session).await? else {
        return Ok(None);
    };
    let columns = Columns::of("audit_seals", &row);
    let mark = SealMark {
        number: columns.raw("number")?,
        hash: columns.bytes("hash")?,
    };
    Ok(Some((mark, columns.raw("row_count")?)))
}

/// Whether a seal's hash is that of its rows and of the seal before it.
async fn covers_its_rows(
    session: &mut dyn Session,
    (mark, row_count): (SealMark, i64),
) -> Result<bool, Fault> {
    let before = match mark.number {
        1 => Some([0; 32]),
        number => hash_of(session, number.saturating_sub(1)).await?,
    };
    let Some(before) = before else {
        return Ok(false);
    };
    let rows = query(select_rows!("WHERE seal = $1 ORDER BY seal, id LIMIT $2"))
        .bind(mark.number)
        .bind(MAX_ROWS.saturating_add(1))
        .fetch_all(session)
        .await?;
    Ok(i64::try_from(rows.len()) == Ok(row_count) && hash(before, &rows)? == mark.hash)
}

/// Seals the oldest rows without a seal.
///
/// Instances that do so at the same moment take the same number, and only one of them gets it. Rows that
/// become visible meanwhile are left for the next seal.
pub(super) async fn seal(
    session: &mut dyn Session,
    now: Timestamp,
    known: Option<SealMark>,
) -> Result<Sealing, WriteError> {
    if let Some(broken) = unlike(session, known).await? {
        return Ok(broken);
    }
    let newest = newest(session).await?;
    if let Some(newest) = newest
        && !covers_its_rows(session, newest).await?
    {
        let number = newest.0.number;
        return Ok(Sealing::Broken { number });
    }
    let last = newest.map(|(mark, _)| mark);
    let (number, before) = last.map_or((0, [0; 32]), |last| (last.number, last.hash));
    let rows = query(select_rows!(
        "WHERE seal IS NULL ORDER BY seal, id LIMIT $1"
    ))
    .bind(MAX_ROWS)
    .fetch_all(session)
    .await?;
    if rows.is_empty() {
        return Ok(Sealing::Nothing(last));
    }
    let seal = SealMark {
        number: number.saturating_add(1),
        hash: hash(before, &rows)?,
    };
    let row_count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let is_new = query(
        "INSERT INTO audit_seals (number, sealed_at, row_count, hash) VALUES ($1, $2, $3, $4)
         ON CONFLICT (number) DO NOTHING",
    )
    .bind(seal.number)
    .bind(now.unix_millis())
    .bind(row_count)
    .bind(seal.hash.as_slice())
    .execute(session)
    .await?;
    if is_new == 0 {
        return Ok(Sealing::Nothing(last));
    }
    let ids = rows
        .iter()
        .map(|row| Columns::of("audit_log", row).raw("id").map(Some));
    query(sql!(
        "UPDATE audit_log SET seal = $1 WHERE id "
        {
            sqlite: "IN (SELECT value FROM json_each($2))",
            postgres: "= ANY ($2)"
        }
    ))
    .bind(seal.number)
    .bind(ids.collect::<Result<Vec<Option<i64>>, _>>()?)
    .execute(session)
    .await?;
    let rows = rows.len();
    Ok(Sealing::Sealed { seal, rows })
}

/// The next seals for an audit, each with the comparison of its rows: one at least, otherwise those of
/// about `limit` rows. After the last one, the oldest row without a seal.
pub(in crate::store::sql) async fn page(
    session: &mut dyn Session,
    stage: &Stage,
    (after, before): (i64, [u8; 32]),
    limit: u32,
) -> Result<Page, Fault> {
    let max_seals = limit.checked_div(MAX_ROWS).unwrap_or(0).max(1);
    // No build seals more. With one more row, a seal that has too many is found.
    let max_rows = max_seals.saturating_mul(MAX_ROWS).saturating_add(1);
    let seals = query(
        "SELECT number, row_count, hash FROM audit_seals WHERE number > $1 ORDER BY number LIMIT $2",
    )
    .bind(after)
    .bind(max_seals)
    .fetch_all(session)
    .await?;
    let numbers: Vec<i64> = seals
        .iter()
        .map(|row| Columns::of("audit_seals", row).raw("number"))
        .collect::<Result<_, _>>()?;
    let is_last = u32::try_from(numbers.len()).is_ok_and(|seals| seals < max_seals);
    let last = numbers.last().copied().filter(|_| !is_last);
    let rows = query(select_rows!(
        "WHERE seal > $1 AND seal <= $2 ORDER BY seal, id LIMIT $3"
    ))
    .bind(after)
    .bind(last.unwrap_or(i64::MAX))
    .bind(max_rows)
    .fetch_all(session)
    .await?;
    let mut records = Vec::with_capacity(seals.len());
    let (mut before, mut rest) = (before, rows.as_slice());
    for (seal, number) in seals.iter().zip(numbers) {
        // Rows of a number that no seal has come before those of the next one.
        let strange = leading(rest, |of| of < number)?;
        records.extend(strange.iter().map(without_seal));
        rest = rest.get(strange.len()..).unwrap_or_default();
        let own = leading(rest, |of| of == number)?;
        rest = rest.get(own.len()..).unwrap_or_default();
        let columns = Columns::of("audit_seals", seal);
        let stored: [u8; 32] = columns.bytes("hash")?;
        let row_count: i64 = columns.raw("row_count")?;
        records.push(Ok(Record::Seal(StoredSeal {
            mark: SealMark {
                number,
                hash: stored,
            },
            is_whole: i64::try_from(own.len()) == Ok(row_count) && hash(before, own)? == stored,
        })));
        before = stored;
    }
    records.extend(rest.iter().map(without_seal));
    if let Some(last) = last {
        return Ok((records, Stage::Seals(last, before)));
    }
    let unsealed = query(select_rows!("WHERE seal IS NULL ORDER BY seal, id LIMIT 1"));
    if let Some(row) = unsealed.fetch_optional(session).await? {
        records.push(unsealed_row(&row));
    }
    Ok((records, stage.after()))
}

/// The first rows, as long as their seal is such a one.
fn leading(rows: &[Row], is_such: impl Fn(i64) -> bool) -> Result<&[Row], Corrupt> {
    let mut count = 0_usize;
    for row in rows {
        if !is_such(Columns::of("audit_log", row).raw("seal")?) {
            break;
        }
        count = count.saturating_add(1);
    }
    Ok(rows.get(..count).unwrap_or(rows))
}

/// A row whose seal does not exist.
fn without_seal(row: &Row) -> Result<Record, Unreadable> {
    let id = Columns::of("audit_log", row).raw("id");
    let id = id.map_err(|corrupt: Corrupt| Unreadable {
        subject: Subject::Nameless("a row of the audit log"),
        what: corrupt.to_string(),
    })?;
    Ok(Record::Orphan(Subject::AuditRow(id), "seal".to_owned()))
}

fn unsealed_row(row: &Row) -> Result<Record, Unreadable> {
    let columns = Columns::of("audit_log", row);
    let read = || {
        Ok::<_, Corrupt>(UnsealedRow {
            id: columns.raw("id")?,
            at: columns.timestamp("at")?,
        })
    };
    read().map(Record::Unsealed).map_err(|corrupt| Unreadable {
        subject: Subject::Nameless("a row of the audit log"),
        what: corrupt.to_string(),
    })
}

fn hash(before: [u8; 32], rows: &[Row]) -> Result<[u8; 32], Corrupt> {
    let mut hash = Sha256::new_with_prefix(before);
    for row in rows {
        hash.update(line(row)?.to_string());
        hash.update("\n");
    }
    Ok(hash.finalize().into())
}

fn line(row: &Row) -> Result<Value, Corrupt> {
    let columns = Columns::of("audit_log", row);
    let text = |column| columns.raw::<&str>(column);
    let id = |column| {
        Ok::<_, Corrupt>(
            columns
                .raw::<Option<Uuid>>(column)?
                .map(|id| id.to_string()),
        )
    };
    Ok(json!([
        columns.raw::<i64>("id")?,
        id("request_id")?,
        columns.raw::<i64>("at")?,
        id("operator_id")?,
        text("operator_name")?,
        text("role")?,
        text("address")?,
        text("action")?,
        text("outcome")?,
        text("record")?,
        id("company_id")?,
        columns.raw::<Option<&str>>("changes")?,
    ]))
}
