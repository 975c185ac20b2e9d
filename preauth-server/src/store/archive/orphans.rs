//! Records that refer to what does not exist: their tables have no foreign keys on PostgreSQL.

use preauth_core::port::{Read, Record, Subject};
use preauth_core::value::{CompanyId, DeliveryId, EventId};
use uuid::Uuid;

use crate::store::rows::{Columns, Corrupt, RawRow};

use super::stage::Stage;
use super::without_key;

/// The events whose operation or payment order does not exist, among the rows.
pub(in crate::store) fn orphans_of_events(rows: &[impl RawRow]) -> Vec<Read<Record>> {
    orphans(rows, "an event", |row| {
        let id = Columns::of("events", row).uuid("id")?;
        Ok(Subject::Event(EventId::new(id)))
    })
}

/// The deliveries whose event or endpoint does not exist, among the rows.
pub(in crate::store) fn orphans_of_deliveries(rows: &[impl RawRow]) -> Vec<Read<Record>> {
    orphans(rows, "a delivery", |row| {
        let id = Columns::of("deliveries", row).uuid("id")?;
        Ok(Subject::Delivery(DeliveryId::new(id)))
    })
}

/// The replies whose operation does not exist, among the rows.
pub(in crate::store) fn orphans_of_replies(rows: &[impl RawRow]) -> Vec<Read<Record>> {
    orphans(rows, "a reply", |row| {
        let (head_office, key) = reply_key(row)?;
        Ok(Subject::Reply(CompanyId::new(head_office), key))
    })
}

/// The stage after a page that ends with this delivery.
pub(in crate::store) fn after_delivery(row: &impl RawRow) -> Result<Stage, Corrupt> {
    Columns::of("deliveries", row)
        .uuid("id")
        .map(Stage::Deliveries)
}

/// The stage after a page that ends with this reply.
pub(in crate::store) fn after_reply(row: &impl RawRow) -> Result<Stage, Corrupt> {
    reply_key(row).map(|(head_office, key)| Stage::Replies(head_office, key))
}

fn reply_key(row: &impl RawRow) -> Result<(Uuid, String), Corrupt> {
    let columns = Columns::of("idempotency_replies", row);
    Ok((columns.uuid("head_office_id")?, columns.raw("key")?))
}

/// The rows with a value in the column `missing`.
fn orphans<R: RawRow>(
    rows: &[R],
    what: &'static str,
    subject: impl Fn(&R) -> Result<Subject, Corrupt>,
) -> Vec<Read<Record>> {
    let orphan = |row| {
        let missing: Option<String> = Columns::of("the audit", row).raw("missing").ok()?;
        let subject = subject(row).map_err(|corrupt| without_key(what, corrupt));
        missing.map(|missing| Ok(Record::Orphan(subject?, missing)))
    };
    rows.iter().filter_map(orphan).collect()
}
