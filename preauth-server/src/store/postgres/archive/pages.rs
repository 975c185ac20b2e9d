//! One page after the other, each by the index that has its order.

use preauth_core::operation::Operation;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    ExtensionRecord, Holder, Miscount, OtherEvent, Read, Record, StoredEvent, StoredOperation,
    StoredOrder, StoredReply, Subject, Unreadable,
};
use preauth_core::value::{Cnpj, CompanyId, EventId, OperationId, PaymentOrderId};
use sqlx::PgConnection;
use sqlx::postgres::PgRow;
use std::collections::HashMap;
use uuid::Uuid;

use crate::store::archive::RowRead;

use super::super::error::Fault;
use super::super::extensions;
use super::super::operations::{self, select_operations};
use super::super::payment_orders::{self, select_orders};
use super::super::rows::Columns;
use super::children::{Owner, Range, events_of};

/// What is read next, and where its last page ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Operations(Place),
    Orders(Place),
    Others(Uuid),
    Replies(Uuid, String),
    Holders(Uuid, String, String, i64),
    Strays(Uuid),
    Counts,
    End,
}

/// A head office and a number under it.
pub(super) type Place = (Uuid, i64);

type Page = (Vec<Read<Record>>, Stage);

const BEGINNING: Place = (Uuid::nil(), 0);

impl Stage {
    pub(super) const fn first() -> Self {
        Self::Operations(BEGINNING)
    }
}

/// The page at `stage` and the stage after it: the next one when nothing was left of this.
pub(super) async fn page(
    connection: &mut PgConnection,
    stage: &Stage,
    limit: u32,
) -> Result<Page, Fault> {
    match stage {
        Stage::Operations(after) => operations(connection, *after, limit).await,
        Stage::Orders(after) => orders(connection, *after, limit).await,
        Stage::Others(after) => others(connection, *after, limit).await,
        Stage::Replies(head_office, key) => replies(connection, *head_office, key, limit).await,
        Stage::Holders(head_office, supplier, number, id) => {
            let after = (*head_office, supplier.as_str(), number.as_str(), *id);
            holders(connection, after, limit).await
        }
        Stage::Strays(after) => strays(connection, *after, limit).await,
        Stage::Counts => miscounts(connection, limit).await,
        Stage::End => Ok((Vec::new(), Stage::End)),
    }
}

async fn operations(
    connection: &mut PgConnection,
    after: Place,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = sqlx::query(select_operations!(
        "WHERE (o.head_office_id, o.id) > ($1, $2) ORDER BY o.head_office_id, o.id LIMIT $3"
    ))
    .bind(after.0)
    .bind(after.1)
    .bind(i64::from(limit))
    .fetch_all(&mut *connection)
    .await?;
    let Some(last) = rows.last() else {
        return Ok((Vec::new(), Stage::Orders(BEGINNING)));
    };
    let upto = place(Columns::of("operations", last), "listed_head_office_id")?;
    let range = Range { after, upto };
    let mut gathering = events_of(connection, Owner::Operation, range).await?;
    let mut extensions = extensions_of(connection, range).await?;
    let mut records = Vec::with_capacity(rows.len());
    for row in &rows {
        let columns = Columns::of("operations", row);
        let id: i64 = columns.raw("id")?;
        let own = readable(operation(row))?.and_then(|own| {
            let extensions = extensions.remove(&id).unwrap_or_else(|| Ok(Vec::new()))?;
            Ok((own, extensions))
        });
        records.extend(gathering.record(id, operation_subject(id), own, whole_operation));
    }
    records.extend(gathering.unreadable());
    Ok((records, Stage::Operations(upto)))
}

type OwnOperation = ((Operation, CompanyId, Cnpj), Vec<ExtensionRecord>);

fn whole_operation(own: OwnOperation, events: Vec<StoredEvent>) -> Record {
    let ((operation, head_office, supplier_cnpj), extensions) = own;
    Record::Operation(Box::new(StoredOperation {
        operation,
        head_office,
        supplier_cnpj,
        extensions,
        events,
    }))
}

fn operation(row: &PgRow) -> Result<(Operation, CompanyId, Cnpj), Fault> {
    let columns = Columns::of("operations", row);
    Ok((
        operations::operation(row)?,
        CompanyId::new(columns.uuid("listed_head_office_id")?),
        columns.parsed("listed_supplier_cnpj")?,
    ))
}

async fn extensions_of(
    connection: &mut PgConnection,
    range: Range,
) -> Result<HashMap<i64, RowRead<Vec<ExtensionRecord>>>, Fault> {
    let rows = sqlx::query(
        "SELECT x.operation_id, x.id, x.new_due_date, x.total_amount_cents, x.status
         FROM operations o
         JOIN extensions x ON x.operation_id = o.id
         WHERE (o.head_office_id, o.id) > ($1, $2) AND (o.head_office_id, o.id) <= ($3, $4)
         ORDER BY x.operation_id, x.id",
    )
    .bind(range.after.0)
    .bind(range.after.1)
    .bind(range.upto.0)
    .bind(range.upto.1)
    .fetch_all(connection)
    .await?;
    let mut by_operation: HashMap<i64, RowRead<Vec<ExtensionRecord>>> = HashMap::new();
    for row in &rows {
        let operation = Columns::of("extensions", row).raw("operation_id")?;
        let read = readable(extensions::extension(row))?.map(|read| read.record);
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

async fn orders(connection: &mut PgConnection, after: Place, limit: u32) -> Result<Page, Fault> {
    let rows = sqlx::query(select_orders!(
        "WHERE (o.head_office_id, o.id) > ($1, $2) ORDER BY o.head_office_id, o.id LIMIT $3"
    ))
    .bind(after.0)
    .bind(after.1)
    .bind(i64::from(limit))
    .fetch_all(&mut *connection)
    .await?;
    let Some(last) = rows.last() else {
        return Ok((Vec::new(), Stage::Others(Uuid::nil())));
    };
    let upto = place(Columns::of("payment_orders", last), "listed_head_office_id")?;
    let range = Range { after, upto };
    let mut gathering = events_of(connection, Owner::Order, range).await?;
    let mut records = Vec::with_capacity(rows.len());
    for row in &rows {
        let id: i64 = Columns::of("payment_orders", row).raw("id")?;
        let own = readable(order(row))?;
        records.extend(gathering.record(id, order_subject(id), own, whole_order));
    }
    records.extend(gathering.unreadable());
    Ok((records, Stage::Orders(upto)))
}

fn whole_order(own: (PaymentOrder, CompanyId), events: Vec<StoredEvent>) -> Record {
    let (order, head_office) = own;
    Record::Order(Box::new(StoredOrder {
        order,
        head_office,
        events,
    }))
}

fn order(row: &PgRow) -> Result<(PaymentOrder, CompanyId), Fault> {
    let columns = Columns::of("payment_orders", row);
    let head_office = columns.uuid("listed_head_office_id")?;
    Ok((payment_orders::order(row)?, CompanyId::new(head_office)))
}

async fn others(connection: &mut PgConnection, after: Uuid, limit: u32) -> Result<Page, Fault> {
    let rows = sqlx::query(
        "SELECT v.id, v.head_office_id FROM events v
         WHERE v.operation_id IS NULL AND v.payment_order_id IS NULL AND v.id > $1
         ORDER BY v.id LIMIT $2",
    )
    .bind(after)
    .bind(i64::from(limit))
    .fetch_all(&mut *connection)
    .await?;
    let Some(last) = rows.last() else {
        return Ok((Vec::new(), Stage::Replies(Uuid::nil(), String::new())));
    };
    let last = Columns::of("events", last).uuid("id")?;
    let range = Range {
        after: (after, 0),
        upto: (last, 0),
    };
    let mut gathering = events_of(connection, Owner::Nothing, range).await?;
    let mut head_offices = HashMap::new();
    for row in &rows {
        let columns = Columns::of("events", row);
        let head_office = CompanyId::new(columns.uuid("head_office_id")?);
        head_offices.insert(EventId::new(columns.uuid("id")?), head_office);
    }
    let events = gathering.others().into_iter();
    let mut records: Vec<_> = events
        .filter_map(|event| {
            let head_office = head_offices.remove(&event.id)?;
            Some(Ok(Record::Other(OtherEvent { head_office, event })))
        })
        .collect();
    records.extend(gathering.unreadable());
    Ok((records, Stage::Others(last)))
}

async fn replies(
    connection: &mut PgConnection,
    head_office: Uuid,
    key: &str,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = sqlx::query(select_operations!(
        ", r.head_office_id AS reply_head_office_id, r.key, r.body",
        "JOIN idempotency_replies r ON r.operation_id = o.id
         WHERE (r.head_office_id, r.key) > ($1, $2) ORDER BY r.head_office_id, r.key LIMIT $3"
    ))
    .bind(head_office)
    .bind(key)
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?;
    let Some(last) = rows.last() else {
        return Ok((Vec::new(), first_holders()));
    };
    let columns = Columns::of("idempotency_replies", last);
    let next = Stage::Replies(columns.uuid("reply_head_office_id")?, columns.raw("key")?);
    let records = rows.iter().map(|row| {
        let columns = Columns::of("idempotency_replies", row);
        let head_office = CompanyId::new(columns.uuid("reply_head_office_id")?);
        let key = columns.raw("key")?;
        Ok(readable(reply(row))?
            .map(|stored| Record::Reply(Box::new(stored)))
            .map_err(|what| Unreadable {
                subject: Subject::Reply(head_office, key),
                what,
            }))
    });
    Ok((records.collect::<Result<_, Fault>>()?, next))
}

fn reply(row: &PgRow) -> Result<StoredReply, Fault> {
    let columns = Columns::of("idempotency_replies", row);
    Ok(StoredReply {
        head_office: CompanyId::new(columns.uuid("reply_head_office_id")?),
        key: columns.parsed("key")?,
        body: columns.raw("body")?,
        operation: operations::operation(row)?,
    })
}

const fn first_holders() -> Stage {
    Stage::Holders(Uuid::nil(), String::new(), String::new(), 0)
}

async fn holders(
    connection: &mut PgConnection,
    after: (Uuid, &str, &str, i64),
    limit: u32,
) -> Result<Page, Fault> {
    let (head_office, supplier, number, id) = after;
    let rows = sqlx::query(
        "SELECT head_office_id, supplier_cnpj, invoice_number, id FROM operations
         WHERE invoice_number IS NOT NULL AND status NOT IN ('REPROVED', 'CONCLUDED')
           AND (head_office_id, supplier_cnpj, invoice_number, id) > ($1, $2, $3, $4)
         ORDER BY head_office_id, supplier_cnpj, invoice_number, id LIMIT $5",
    )
    .bind(head_office)
    .bind(supplier)
    .bind(number)
    .bind(id)
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?;
    let Some(last) = rows.last() else {
        return Ok((Vec::new(), Stage::Strays(Uuid::nil())));
    };
    let columns = Columns::of("operations", last);
    let next = Stage::Holders(
        columns.uuid("head_office_id")?,
        columns.raw("supplier_cnpj")?,
        columns.raw("invoice_number")?,
        columns.raw("id")?,
    );
    let records = rows.iter().map(|row| {
        let id = Columns::of("operations", row).raw("id")?;
        Ok(readable(holder(row))?
            .map(Record::Holder)
            .map_err(|what| Unreadable {
                subject: operation_subject(id),
                what,
            }))
    });
    Ok((records.collect::<Result<_, Fault>>()?, next))
}

fn holder(row: &PgRow) -> Result<Holder, Fault> {
    let columns = Columns::of("operations", row);
    Ok(Holder {
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        supplier: columns.parsed("supplier_cnpj")?,
        number: columns.parsed("invoice_number")?,
        operation: columns.number("id", OperationId::new)?,
    })
}

async fn strays(connection: &mut PgConnection, after: Uuid, limit: u32) -> Result<Page, Fault> {
    let rows = sqlx::query(
        "SELECT v.id FROM events v
         LEFT JOIN operations o ON o.id = v.operation_id
         LEFT JOIN payment_orders p ON p.id = v.payment_order_id
         WHERE v.id > $1 AND v.head_office_id <> coalesce(o.head_office_id, p.head_office_id)
         ORDER BY v.id LIMIT $2",
    )
    .bind(after)
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?;
    let Some(last) = rows.last() else {
        return Ok((Vec::new(), Stage::Counts));
    };
    let next = Stage::Strays(Columns::of("events", last).uuid("id")?);
    let records = rows.iter().map(|row| {
        let id = Columns::of("events", row).uuid("id")?;
        Ok(Ok(Record::Stray(EventId::new(id))))
    });
    Ok((records.collect::<Result<_, Fault>>()?, next))
}

/// The counts that are wrong, or the first of them.
async fn miscounts(connection: &mut PgConnection, limit: u32) -> Result<Page, Fault> {
    let rows = sqlx::query(
        "SELECT payer_id, status, sum(counted)::BIGINT AS counted, sum(there)::BIGINT AS there
         FROM (SELECT head_office_id, payer_id, status, count AS counted, 0 AS there
               FROM operation_counts
               UNION ALL
               SELECT head_office_id, payer_id, status, 0, count(*)
               FROM operations GROUP BY head_office_id, payer_id, status) AS compared
         GROUP BY head_office_id, payer_id, status
         HAVING sum(counted) <> sum(there)
         ORDER BY payer_id, status LIMIT $1",
    )
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?;
    let records = rows.iter().map(|row| {
        let columns = Columns::of("operation_counts", row);
        let subject = Subject::Payer(CompanyId::new(columns.uuid("payer_id")?));
        Ok(readable(miscount(columns))?
            .map(Record::Miscount)
            .map_err(|what| Unreadable { subject, what }))
    });
    Ok((records.collect::<Result<_, Fault>>()?, Stage::End))
}

fn miscount(columns: Columns<'_>) -> Result<Miscount, Fault> {
    Ok(Miscount {
        payer: CompanyId::new(columns.uuid("payer_id")?),
        status: columns.parsed("status")?,
        counted: columns.raw("counted")?,
        there: columns.whole("there")?,
    })
}

fn place(columns: Columns<'_>, head_office: &'static str) -> Result<Place, Fault> {
    Ok((columns.uuid(head_office)?, columns.raw("id")?))
}

/// Tells what cannot be read from what could not be asked.
pub(super) fn readable<T>(read: Result<T, Fault>) -> Result<RowRead<T>, Fault> {
    match read {
        Ok(value) => Ok(Ok(value)),
        Err(fault @ Fault::Corrupt { .. }) => Ok(Err(fault.to_string())),
        Err(fault) => Err(fault),
    }
}

fn operation_subject(id: i64) -> Subject {
    OperationId::new(id).map_or(Subject::Nameless("an operation"), Subject::Operation)
}

fn order_subject(id: i64) -> Subject {
    PaymentOrderId::new(id).map_or(Subject::Nameless("a payment order"), Subject::Order)
}
