//! Records that refer to what does not exist: their tables have no foreign keys on PostgreSQL.

use preauth_core::port::{Read, Record, Subject};
use preauth_core::value::{CompanyId, DeliveryId, EventId};

use crate::store::rows::{Columns, Corrupt, RawRow};

use super::stage::{Page, Stage};

/// The events whose operation or payment order does not exist, among the rows.
pub(in crate::store) fn orphans_of_events(
    rows: &[impl RawRow],
) -> Result<Vec<Read<Record>>, Corrupt> {
    orphans(rows, |row| {
        let id = Columns::of("events", row).uuid("id")?;
        Ok(Subject::Event(EventId::new(id)))
    })
}

/// The deliveries whose event or endpoint does not exist, among the rows.
pub(in crate::store) fn deliveries(rows: &[impl RawRow], stage: &Stage) -> Result<Page, Corrupt> {
    let Some(last) = rows.last() else {
        return Ok((Vec::new(), stage.after()));
    };
    let next = Stage::Deliveries(Columns::of("deliveries", last).uuid("id")?);
    let records = orphans(rows, |row| {
        let id = Columns::of("deliveries", row).uuid("id")?;
        Ok(Subject::Delivery(DeliveryId::new(id)))
    })?;
    Ok((records, next))
}

/// The replies whose operation does not exist, among the rows.
pub(in crate::store) fn orphans_of_replies(
    rows: &[impl RawRow],
    stage: &Stage,
) -> Result<Page, Corrupt> {
    let Some(last) = rows.last() else {
        return Ok((Vec::new(), stage.after()));
    };
    let columns = Columns::of("idempotency_replies", last);
    let next = Stage::Replies(columns.uuid("head_office_id")?, columns.raw("key")?);
    let records = orphans(rows, |row| {
        let columns = Columns::of("idempotency_replies", row);
        let head_office = CompanyId::new(columns.uuid("head_office_id")?);
        Ok(Subject::Reply(head_office, columns.raw("key")?))
    })?;
    Ok((records, next))
}

/// Those with a value in the column `missing`.
fn orphans<R: RawRow>(
    rows: &[R],
    subject: impl Fn(&R) -> Result<Subject, Corrupt>,
) -> Result<Vec<Read<Record>>, Corrupt> {
    let mut orphans = Vec::new();
    for row in rows {
        let missing: Option<String> = Columns::of("the audit", row).raw("missing")?;
        if let Some(missing) = missing {
            orphans.push(Ok(Record::Orphan(subject(row)?, missing)));
        }
    }
    Ok(orphans)
}
