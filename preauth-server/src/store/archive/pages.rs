//! Converts the rows of a page into records.

use std::collections::HashMap;

use preauth_core::payment_order::{OtherOrder, PaymentOrder};
use preauth_core::port::{
    ExtensionRecord, FileBytes, OtherEvent, Read, Record, StoredEvent, StoredOperation,
    StoredOrder, Subject, Unreadable,
};
use preauth_core::value::{CompanyId, EventId, OperationId, PaymentOrderId};
use uuid::Uuid;

use crate::store::rows::{Columns, Corrupt, RawRow, extension, other_order};

use super::gathering::Gathering;
use super::stage::{Page, Stage};
use super::stored::OwnOperation;
use super::{RowRead, read_of, readable, stored, without_key};

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

/// The stage after a page that ends with this event.
pub(in crate::store) fn after_event(row: &impl RawRow) -> Result<Stage, Corrupt> {
    Columns::of("events", row).uuid("id").map(Stage::Events)
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
    let mut earlier_of: HashMap<i64, RowRead<Vec<OtherOrder>>> = HashMap::new();
    for row in earlier {
        let order = Columns::of("payment_orders", row).raw("order_id")?;
        let of_order = earlier_of.entry(order).or_insert_with(|| Ok(Vec::new()));
        match (of_order.as_mut(), readable(other_order(row))) {
            (Ok(orders), Ok(order)) => orders.push(order),
            (_, Err(what)) => *of_order = Err(what),
            (Err(_), Ok(_)) => {}
        }
    }
    let mut records = Vec::with_capacity(rows.len());
    for row in rows {
        let id: i64 = Columns::of("payment_orders", row).raw("id")?;
        let own = readable(stored::order(row)).and_then(|own| {
            let earlier = earlier_of.remove(&id).unwrap_or_else(|| Ok(Vec::new()))?;
            Ok((own, earlier))
        });
        records.extend(gathering.record(id, order_subject(id), own, whole_order));
    }
    records.extend(gathering.unreadable());
    Ok(records)
}

fn whole_order(
    (own, earlier): ((PaymentOrder, CompanyId), Vec<OtherOrder>),
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

/// The events without a numbered subject among the rows, and their head offices; `None` if there are
/// none. Those without a readable id are reported with the events themselves.
pub(in crate::store) fn other_events(
    rows: &[impl RawRow],
) -> Option<HashMap<EventId, RowRead<CompanyId>>> {
    let rows = rows.iter().map(|row| Columns::of("events", row));
    let others = rows.filter(|columns| columns.raw("is_other") == Ok(true));
    let mut others = others.peekable();
    others.peek()?;
    let read = |columns: Columns<'_>| {
        let id = EventId::new(columns.uuid("id").ok()?);
        let head_office = readable(columns.uuid("head_office_id"));
        Some((id, head_office.map(CompanyId::new)))
    };
    Some(others.filter_map(read).collect())
}

/// Events without a numbered subject.
pub(in crate::store) fn others(
    mut head_offices: HashMap<EventId, RowRead<CompanyId>>,
    mut gathering: Gathering,
) -> Vec<Read<Record>> {
    let events = gathering.others().into_iter();
    let mut records: Vec<_> = events
        .filter_map(|event| {
            let subject = Subject::Event(event.id);
            let head_office = head_offices.remove(&event.id)?;
            let other = |head_office| Record::Other(OtherEvent { head_office, event });
            Some(read_of(subject, head_office.map(other)))
        })
        .collect();
    records.extend(gathering.unreadable());
    records
}

/// Stored replies with their operations.
pub(in crate::store) fn replies<R: RawRow>(rows: &[R]) -> Vec<Read<Record>> {
    let record = |row: &R| {
        let columns = Columns::of("idempotency_replies", row);
        let key = columns
            .uuid("reply_head_office_id")
            .and_then(|head_office| Ok((head_office, columns.raw("key")?)));
        let (head_office, key) = key.map_err(|it| without_key("a reply", it))?;
        let subject = Subject::Reply(CompanyId::new(head_office), key);
        let stored = readable(stored::reply(row)).map(|stored| Record::Reply(Box::new(stored)));
        read_of(subject, stored)
    };
    rows.iter().map(record).collect()
}

/// Operations that hold an invoice. The rows begin with the last one of the previous page, so that
/// each pair of neighbours is in one page.
pub(in crate::store) fn holders<R: RawRow>(rows: &[R], stage: &Stage, limit: u32) -> Page {
    let at = |row: &R| {
        let columns = Columns::of("operations", row);
        Ok(Stage::Holders(
            columns.uuid("head_office_id")?,
            columns.raw("supplier_cnpj")?,
            columns.raw("compared_number")?,
            columns.raw("id")?,
        ))
    };
    let (rows, next) = stage.after_rows(rows, limit, at);
    if next == *stage {
        return (Vec::new(), stage.after());
    }
    let record = |row: &R| {
        let id = Columns::of("operations", row).raw("id");
        let subject = operation_subject(id.map_err(|it| without_key("an operation", it))?);
        read_of(subject, readable(stored::holder(row)).map(Record::Holder))
    };
    (rows.iter().map(record).collect(), next)
}

/// The events under another head office than their subject, among the rows.
pub(in crate::store) fn misplaced_events(rows: &[impl RawRow]) -> Vec<Read<Record>> {
    let rows = rows.iter().map(|row| Columns::of("events", row));
    let misplaced = rows.filter(|columns| columns.raw("is_misplaced") == Ok(true));
    let record = |columns: Columns<'_>| {
        let id = columns
            .uuid("id")
            .map_err(|it| without_key("an event", it))?;
        Ok(Record::MisplacedEvent(EventId::new(id)))
    };
    misplaced.map(record).collect()
}

/// The head office whose totals are compared next. Without its id those after it cannot be found.
pub(in crate::store) fn head_office(row: &impl RawRow) -> Result<Uuid, Unreadable> {
    let id = Columns::of("operations", row).uuid("head_office_id");
    id.map_err(|corrupt| without_key("a head office", corrupt))
}

/// Wrong counts.
pub(in crate::store) fn miscounts(rows: &[impl RawRow]) -> Vec<Read<Record>> {
    let records = rows.iter().map(|row| {
        let payer = Columns::of("operation_counts", row).uuid("payer_id");
        let payer = payer.map_err(|it| without_key("a count", it))?;
        let subject = Subject::Payer(CompanyId::new(payer));
        read_of(
            subject,
            readable(stored::miscount(row)).map(Record::Miscount),
        )
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
