//! Lists of events: the numbers of each head office, and what is in no list.

use std::collections::HashSet;

use preauth_core::port::{
    ListEnd, ListedEvent, MissingNumbers, Read, Record, Subject, UnlistedEvent, VersionedRecord,
};
use preauth_core::value::{CompanyId, EventId, OperationId, PaymentOrderId, Version};
use uuid::Uuid;

use crate::store::rows::{Columns, Corrupt, RawRow};

use super::{read_of, readable, without_key};

/// The numbers of a head office's list, whose events were removed up to one of them.
pub(in crate::store) fn list(
    head_office: Uuid,
    removed_upto: i64,
    rows: &[impl RawRow],
) -> Result<Vec<Read<Record>>, Corrupt> {
    let head_office = CompanyId::new(head_office);
    let mut records = Vec::with_capacity(rows.len());
    for row in rows {
        let columns = Columns::of("event_feed", row);
        let number: i64 = columns.raw("number")?;
        let subject = Subject::ListedNumber(head_office, number);
        if columns.raw("is_missing")? {
            records.push(Ok(Record::Orphan(subject, "event".to_owned())));
            continue;
        }
        let listed = listed(&columns).map(|listed| {
            Record::Listed(ListedEvent {
                head_office,
                removed_upto,
                ..listed
            })
        });
        records.push(read_of(subject, readable(listed)));
    }
    Ok(records)
}

pub(in crate::store) fn list_end(head_office: Uuid, removed_upto: i64) -> Record {
    Record::ListEnd(ListEnd {
        head_office: CompanyId::new(head_office),
        removed_upto,
    })
}

/// All but what the rows of a list have in common.
fn listed(columns: &Columns<'_>) -> Result<ListedEvent, Corrupt> {
    let operation: Option<i64> = columns.raw("operation_id")?;
    let order: Option<i64> = columns.raw("payment_order_id")?;
    let record = if operation.is_some() {
        let id = columns.number("operation_id", OperationId::new)?;
        Some(VersionedRecord::Operation(id))
    } else if order.is_some() {
        let id = columns.number("payment_order_id", PaymentOrderId::new)?;
        Some(VersionedRecord::Order(id))
    } else {
        None
    };
    let version = |record| Ok((record, columns.number("version", Version::new)?));
    Ok(ListedEvent {
        head_office: CompanyId::new(Uuid::nil()),
        number: columns.raw("number")?,
        event: EventId::new(columns.uuid("event_id")?),
        record: record.map(version).transpose()?,
        is_for_reader: columns.raw("is_for_reader")?,
        has_next: columns.raw("has_next")?,
        removed_upto: 0,
    })
}

/// An event that must be in the lists of its parties.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct DueEvent {
    event: Uuid,
    payer: Uuid,
    /// The head office of the supplier, and the supplier, in whose own list it is if the supplier became a
    /// branch since.
    supplier: Option<(Uuid, Uuid)>,
}

impl DueEvent {
    pub(in crate::store) fn read(row: &impl RawRow) -> Result<Self, Corrupt> {
        let columns = Columns::of("events", row);
        let supplier: Option<Uuid> = columns.raw("supplier_id")?;
        let of_supplier = |supplier| Ok((columns.uuid("supplier_head_office_id")?, supplier));
        Ok(Self {
            event: columns.uuid("id")?,
            payer: columns.uuid("head_office_id")?,
            supplier: supplier.map(of_supplier).transpose()?,
        })
    }
}

/// The lists that lack an event, by the rows of all lists, each with its head office and its event.
pub(in crate::store) fn unlisted(due: &[DueEvent], rows: &[impl RawRow]) -> Vec<Read<Record>> {
    let mut listed = HashSet::with_capacity(rows.len());
    let mut records = Vec::new();
    for row in rows {
        let columns = Columns::of("event_feed", row);
        let read = columns
            .uuid("head_office_id")
            .and_then(|head_office| Ok((head_office, columns.uuid("event_id")?)));
        match read {
            Ok(row) => drop(listed.insert(row)),
            Err(corrupt) => records.push(Err(without_key("a list of events", corrupt))),
        }
    }
    for it in due {
        let mut expect = |lists: &[Uuid]| {
            let is_listed = lists.iter().any(|list| listed.contains(&(*list, it.event)));
            if let (false, [head_office, ..]) = (is_listed, lists) {
                records.push(Ok(Record::Unlisted(UnlistedEvent {
                    event: EventId::new(it.event),
                    head_office: CompanyId::new(*head_office),
                })));
            }
        };
        expect(&[it.payer]);
        if let Some((head_office, supplier)) = it.supplier {
            expect(&[head_office, supplier]);
        }
    }
    records
}

/// Numbers that are in no list, from the first to the last.
pub(in crate::store) const fn missing_numbers(first: i64, last: i64) -> Record {
    Record::MissingNumbers(MissingNumbers { first, last })
}
