//! Converts the rows of a page into records.

use std::collections::HashMap;

use preauth_core::payment_order::{OtherOrder, PaymentOrder};
use preauth_core::port::{
    ExtensionRecord, FileBytes, OtherEvent, Read, Record, StoredEvent, StoredOperation,
    StoredOrder, Subject,
};
use preauth_core::value::{CompanyId, EventId, OperationId, PaymentOrderId};
use uuid::Uuid;

use crate::store::rows::{Columns, Corrupt, RawRow, extension, other_order};

use super::gathering::Gathering;
use super::stage::{Page, Stage};
use super::stored::OwnOperation;
use super::{RowRead, read_of, readable, stored};

/// The last id of a page of operations; `None` when it is empty.
pub(in crate::store) fn last_operation(rows: &[impl RawRow]) -> Result<Option<i64>, Corrupt> {
    let id = |row| Columns::of("operations", row).raw("id");
    rows.last().map(id).transpose()
}

/// The last id of a page of payment orders; `None` when it is empty.
pub(in crate::store) fn last_order(rows: &[impl RawRow]) -> Result<Option<i64>, Corrupt> {
    let id = |row| Columns::of("payment_orders", row).raw("id");
    rows.last().map(id).transpose()
}

/// The last id of a page of events; `None` when it is empty.
pub(in crate::store) fn last_event(rows: &[impl RawRow]) -> Result<Option<Uuid>, Corrupt> {
    let id = |row| Columns::of("events", row).uuid("id");
    rows.last().map(id).transpose()
}

/// Operations with their extensions and events.
pub(in crate::store) fn operations<R: RawRow>(
    rows: &[R],
    extensions: &[R],
    mut gathering: Gathering,
) -> Result<Vec<Read<Record>>, Corrupt> {
    let mut extensions = by_operation(extensions)?;
    let mut records = Vec::with_capacity(rows.len());
    for row in rows {
        let id: i64 = Columns::of("operations", row).raw("id")?;
        let own = readable(stored::operation(row)).and_then(|own| {
            let extensions = extensions.remove(&id).unwrap_or_else(|| Ok(Vec::new()))?;
            Ok((own, extensions))
        });
        records.extend(gathering.record(id, operation_subject(id), own, whole_operation));
    }
    records.extend(gathering.unreadable());
    Ok(records)
}

fn whole_operation(
    (own, extensions): (OwnOperation, Vec<ExtensionRecord>),
    events: Vec<StoredEvent>,
) -> Record {
    Record::Operation(Box::new(StoredOperation {
        operation: own.operation,
        head_office: own.head_office,
        supplier_cnpj: own.supplier_cnpj,
        supplier_is_known: own.supplier_is_known,
        extensions,
        events,
    }))
}

fn by_operation(
    rows: &[impl RawRow],
) -> Result<HashMap<i64, RowRead<Vec<ExtensionRecord>>>, Corrupt> {
    let mut by_operation: HashMap<i64, RowRead<Vec<ExtensionRecord>>> = HashMap::new();
    for row in rows {
        let operation = Columns::of("extensions", row).raw("operation_id")?;
        let read = readable(extension(row)).map(|read| read.record);
        let known = by_operation
            .remove(&operation)
            .unwrap_or_else(|| Ok(Vec::new()));
        let grown = known.and_then(|mut records| {
            records.push(read?);
            Ok(records)
        });
        by_operation.insert(operation, grown);
    }
    Ok(by_operation)
}

/// Payment orders with their events.
pub(in crate::store) fn orders(
    rows: &[impl RawRow],
    earlier: &[impl RawRow],
    mut gathering: Gathering,
) -> Result<Vec<Read<Record>>, Corrupt> {
    let mut earlier_of: HashMap<i64, Vec<OtherOrder>> = HashMap::new();
    for row in earlier {
        let order = Columns::of("payment_orders", row).raw("order_id")?;
        earlier_of.entry(order).or_default().push(other_order(row)?);
    }
    let mut records = Vec::with_capacity(rows.len());
    for row in rows {
        let id: i64 = Columns::of("payment_orders", row).raw("id")?;
        let own = readable(stored::order(row));
        let earlier = earlier_of.remove(&id).unwrap_or_default();
        records.extend(gathering.record(id, order_subject(id), own, |own, events| {
            whole_order(own, earlier, events)
        }));
    }
    records.extend(gathering.unreadable());
    Ok(records)
}

fn whole_order(
    own: (PaymentOrder, CompanyId),
    earlier: Vec<OtherOrder>,
    events: Vec<StoredEvent>,
) -> Record {
    let (order, head_office) = own;
    Record::Order(Box::new(StoredOrder {
        order,
        head_office,
        earlier,
        events,
    }))
}

/// The events without a numbered subject among the rows, and their head offices.
pub(in crate::store) fn other_events(
    rows: &[impl RawRow],
) -> Result<HashMap<EventId, CompanyId>, Corrupt> {
    let mut others = HashMap::new();
    for row in rows {
        let columns = Columns::of("events", row);
        if columns.raw("is_other")? {
            let head_office = CompanyId::new(columns.uuid("head_office_id")?);
            others.insert(EventId::new(columns.uuid("id")?), head_office);
        }
    }
    Ok(others)
}

/// Events without a numbered subject.
pub(in crate::store) fn others(
    mut head_offices: HashMap<EventId, CompanyId>,
    mut gathering: Gathering,
) -> Vec<Read<Record>> {
    let events = gathering.others().into_iter();
    let mut records: Vec<_> = events
        .filter_map(|event| {
            let head_office = head_offices.remove(&event.id)?;
            Some(Ok(Record::Other(OtherEvent { head_office, event })))
        })
        .collect();
    records.extend(gathering.unreadable());
    records
}

/// Stored replies with their operations.
pub(in crate::store) fn replies(rows: &[impl RawRow]) -> Result<Vec<Read<Record>>, Corrupt> {
    let records = rows.iter().map(|row| {
        let columns = Columns::of("idempotency_replies", row);
        let head_office = CompanyId::new(columns.uuid("reply_head_office_id")?);
        let subject = Subject::Reply(head_office, columns.raw("key")?);
        let stored = readable(stored::reply(row)).map(|stored| Record::Reply(Box::new(stored)));
        Ok(read_of(subject, stored))
    });
    records.collect()
}

/// Operations that hold an invoice. The rows begin with the last one of the previous page, so that
/// each pair of neighbours is in one page.
pub(in crate::store) fn holders(rows: &[impl RawRow], stage: &Stage) -> Result<Page, Corrupt> {
    let Some(last) = rows.last() else {
        return Ok((Vec::new(), stage.after()));
    };
    let columns = Columns::of("operations", last);
    let next = Stage::Holders(
        columns.uuid("head_office_id")?,
        columns.raw("supplier_cnpj")?,
        columns.raw("compared_number")?,
        columns.raw("id")?,
    );
    if next == *stage {
        return Ok((Vec::new(), stage.after()));
    }
    let records = rows.iter().map(|row| {
        let subject = operation_subject(Columns::of("operations", row).raw("id")?);
        let holder = readable(stored::holder(row)).map(Record::Holder);
        Ok(read_of(subject, holder))
    });
    Ok((records.collect::<Result<_, _>>()?, next))
}

/// The events under another head office than their subject, among the rows.
pub(in crate::store) fn strays(rows: &[impl RawRow]) -> Result<Vec<Read<Record>>, Corrupt> {
    let mut strays = Vec::new();
    for row in rows {
        let columns = Columns::of("events", row);
        if columns.raw("is_stray")? {
            strays.push(Ok(Record::Stray(EventId::new(columns.uuid("id")?))));
        }
    }
    Ok(strays)
}

/// Wrong counts.
pub(in crate::store) fn miscounts(rows: &[impl RawRow]) -> Result<Vec<Read<Record>>, Corrupt> {
    let records = rows.iter().map(|row| {
        let payer = Columns::of("operation_counts", row).uuid("payer_id")?;
        let subject = Subject::Payer(CompanyId::new(payer));
        let miscount = readable(stored::miscount(row)).map(Record::Miscount);
        Ok(read_of(subject, miscount))
    });
    records.collect()
}

/// The recorded size of a head office's files, if it is wrong.
pub(in crate::store) fn file_bytes(
    head_office: Uuid,
    row: &impl RawRow,
) -> Result<Vec<Read<Record>>, Corrupt> {
    let columns = Columns::of("invoice_file_bytes", row);
    let found = FileBytes {
        head_office: CompanyId::new(head_office),
        counted: columns.raw("counted")?,
        there: columns.raw("there")?,
    };
    let is_right = found.counted == found.there;
    Ok(Vec::from_iter(
        (!is_right).then_some(Ok(Record::FileBytes(found))),
    ))
}

pub(super) fn operation_subject(id: i64) -> Subject {
    OperationId::new(id).map_or(Subject::Nameless("an operation"), Subject::Operation)
}

fn order_subject(id: i64) -> Subject {
    PaymentOrderId::new(id).map_or(Subject::Nameless("a payment order"), Subject::Order)
}
