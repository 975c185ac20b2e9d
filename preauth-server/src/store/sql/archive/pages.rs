//! Reads one page after the other, each by the index in its order.

use uuid::Uuid;

use crate::store::archive::{self, Page, Range, Stage};
use crate::store::error::Fault;
use crate::store::rows::{select_operations, select_orders, select_other_orders};

use super::super::{Session, audit_log, query};
use super::children::{events_of, extensions_of};
use super::{lists, mails, totals};

/// The page at `stage` and the stage after it. A page reads at most `limit` rows of its table, of which
/// it may return few, and the next page continues after the last row read: a statement that searches
/// for rare rows would read the whole table. A page that is not full ends its kind of records: reading
/// on while servers write might never end.
pub(in crate::store) async fn page(
    session: &mut dyn Session,
    stage: &Stage,
    limit: u32,
) -> Result<Page, Fault> {
    match stage {
        Stage::Operations(after) => operations(session, stage, *after, limit).await,
        Stage::Orders(after) => orders(session, stage, *after, limit).await,
        Stage::Events(after) => events(session, stage, *after, limit).await,
        Stage::Deliveries(after) => deliveries(session, stage, *after, limit).await,
        Stage::NextList(after) => lists::next_list(session, stage, *after).await,
        Stage::List(head_office, after) => {
            lists::list(session, stage, (*head_office, *after), limit).await
        }
        Stage::Numbers(after) => lists::numbers(session, stage, *after, limit).await,
        Stage::Sent(mailbox, at, id) => {
            let after = (mailbox.as_str(), *at, *id);
            mails::sent(session, stage, after, limit).await
        }
        Stage::OffersWithoutMail(after) => {
            mails::offers_without_mail(session, stage, *after, limit).await
        }
        Stage::Counts(after) => totals::miscounts(session, stage, *after, limit).await,
        Stage::FileBytes(after) => totals::next_files(session, stage, *after).await,
        Stage::FilesOf(sum) => totals::files(session, stage, *sum, limit).await,
        Stage::Seals(after, before) => {
            audit_log::seals(session, stage, (*after, *before), limit).await
        }
        Stage::End => Ok((Vec::new(), Stage::End)),
        Stage::Replies(head_office, key) => {
            replies(session, stage, (*head_office, key), limit).await
        }
        Stage::Holders(head_office, supplier, number, id) => {
            let after = (*head_office, supplier.as_str(), number.as_str(), *id);
            holders(session, stage, after, limit).await
        }
        Stage::Mails(after) => mails::mails(session, stage, *after, limit).await,
    }
}

async fn operations(
    session: &mut dyn Session,
    stage: &Stage,
    after: i64,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(select_operations!("WHERE o.id > $1 ORDER BY o.id LIMIT $2"))
        .bind(after)
        .bind(limit)
        .fetch_all(session)
        .await?;
    let Some(upto) = archive::last_operation(&rows)? else {
        return Ok((Vec::new(), stage.after()));
    };
    let gathering = events_of(session, Range::Operations(after, upto)).await?;
    let extensions = extensions_of(session, after, upto).await?;
    let records = archive::operations(&rows, &extensions, gathering)?;
    let next = stage.next(rows.len(), limit, Stage::Operations(upto));
    Ok((records, next))
}

async fn orders(
    session: &mut dyn Session,
    stage: &Stage,
    after: i64,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(select_orders!("WHERE o.id > $1 ORDER BY o.id LIMIT $2"))
        .bind(after)
        .bind(limit)
        .fetch_all(session)
        .await?;
    let Some(upto) = archive::last_order(&rows)? else {
        return Ok((Vec::new(), stage.after()));
    };
    let gathering = events_of(session, Range::Orders(after, upto)).await?;
    let earlier = query(select_other_orders!(
        "n.id AS order_id,",
        "JOIN payment_orders n ON n.operation_id = o.operation_id AND n.id > o.id
         WHERE n.id > $1 AND n.id <= $2
           AND o.status NOT IN ('CANCELED', 'REPROVED')
         ORDER BY n.id, o.id"
    ))
    .bind(after)
    .bind(upto)
    .fetch_all(session)
    .await?;
    let records = archive::orders(&rows, &earlier, gathering)?;
    let next = stage.next(rows.len(), limit, Stage::Orders(upto));
    Ok((records, next))
}

/// Events without an operation or payment order, and events under another head office than their
/// subject's. No index finds either; both are selected from the next events.
async fn events(
    session: &mut dyn Session,
    stage: &Stage,
    after: Uuid,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(
        "SELECT v.id, v.head_office_id,
                v.operation_id IS NULL AND v.payment_order_id IS NULL AS is_other,
                coalesce(v.head_office_id <> coalesce(o.head_office_id, p.head_office_id), FALSE)
                    AS is_misplaced,
                CASE WHEN v.operation_id IS NOT NULL AND o.id IS NULL THEN 'operation'
                     WHEN v.payment_order_id IS NOT NULL AND p.id IS NULL THEN 'payment order'
                     WHEN h.id IS NULL THEN 'head office' END AS missing
         FROM (SELECT id, head_office_id, operation_id, payment_order_id FROM events
               WHERE id > $1 ORDER BY id LIMIT $2) AS v
         LEFT JOIN operations o ON o.id = v.operation_id
         LEFT JOIN payment_orders p ON p.id = v.payment_order_id
         LEFT JOIN companies h ON h.id = v.head_office_id
         ORDER BY v.id",
    )
    .bind(after)
    .bind(limit)
    .fetch_all(session)
    .await?;
    let (rows, next) = stage.after_rows(&rows, limit, archive::after_event);
    let mut records = archive::misplaced_events(rows);
    records.extend(archive::orphans_of_events(rows));
    if let Some(others) = archive::other_events(rows) {
        let upto = match next {
            Stage::Events(upto) => upto,
            _ => Uuid::max(),
        };
        let gathering = events_of(session, Range::Nothing(after, upto)).await?;
        records.extend(archive::others(others, gathering));
    }
    Ok((records, next))
}

async fn replies(
    session: &mut dyn Session,
    stage: &Stage,
    (head_office, key): (Uuid, &str),
    limit: u32,
) -> Result<Page, Fault> {
    let all = query(
        "SELECT r.head_office_id, r.key, CASE WHEN o.id IS NULL THEN 'operation' END AS missing
         FROM (SELECT head_office_id, key, operation_id FROM idempotency_replies
               WHERE (head_office_id, key) > ($1, $2) ORDER BY head_office_id, key LIMIT $3) AS r
         LEFT JOIN operations o ON o.id = r.operation_id
         ORDER BY r.head_office_id, r.key",
    );
    let all = all.bind(head_office).bind(key).bind(limit);
    let all = all.fetch_all(session).await?;
    let (all, next) = stage.after_rows(&all, limit, archive::after_reply);
    let mut records = archive::orphans_of_replies(all);
    let (last_head_office, last_key) = match &next {
        Stage::Replies(head_office, key) => (*head_office, key.as_str()),
        _ => (Uuid::max(), ""),
    };
    let rows = query(select_operations!(
        ", r.head_office_id AS reply_head_office_id, r.key, r.body",
        "JOIN idempotency_replies r ON r.operation_id = o.id
         WHERE (r.head_office_id, r.key) > ($1, $2) AND (r.head_office_id, r.key) <= ($3, $4)
         ORDER BY r.head_office_id, r.key LIMIT $5"
    ));
    let rows = rows.bind(head_office).bind(key).bind(last_head_office);
    let rows = rows.bind(last_key).bind(limit).fetch_all(session).await?;
    records.extend(archive::replies(&rows));
    Ok((records, next))
}

/// Deliveries whose event or endpoint does not exist, among the next deliveries. All others are read
/// with their events.
async fn deliveries(
    session: &mut dyn Session,
    stage: &Stage,
    after: Uuid,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(
        "SELECT d.id,
                CASE WHEN v.id IS NULL THEN 'event' WHEN e.id IS NULL THEN 'endpoint' END
                    AS missing
         FROM (SELECT id, event_id, endpoint_id FROM deliveries
               WHERE id > $1 ORDER BY id LIMIT $2) AS d
         LEFT JOIN events v ON v.id = d.event_id
         LEFT JOIN endpoints e ON e.id = d.endpoint_id
         ORDER BY d.id",
    );
    let rows = rows.bind(after).bind(limit).fetch_all(session).await?;
    let (rows, next) = stage.after_rows(&rows, limit, archive::after_delivery);
    Ok((archive::orphans_of_deliveries(rows), next))
}

/// The first operations that hold an invoice within a range.
macro_rules! holders {
    ($range:literal) => {
        concat!(
            "SELECT * FROM (
                 SELECT head_office_id, supplier_cnpj, invoice_number,
                        coalesce(invoice_number_nfc, invoice_number) AS compared_number, id
                 FROM operations
                 WHERE invoice_number IS NOT NULL AND status NOT IN ('REPROVED', 'CONCLUDED')
                   AND ",
            $range,
            " ORDER BY head_office_id, supplier_cnpj, coalesce(invoice_number_nfc, invoice_number)
                 LIMIT $5) AS first"
        )
    };
}

/// Reads one range of an index for each column in which a row may be greater than the last row.
async fn holders(
    session: &mut dyn Session,
    stage: &Stage,
    (head_office, supplier, number, id): (Uuid, &str, &str, i64),
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(concat!(
        "SELECT head_office_id, supplier_cnpj, invoice_number, compared_number, id FROM (",
        holders!(
            "head_office_id = $1 AND supplier_cnpj = $2
             AND coalesce(invoice_number_nfc, invoice_number) >= $3
             AND (coalesce(invoice_number_nfc, invoice_number) > $3 OR id >= $4)"
        ),
        " UNION ALL ",
        holders!("head_office_id = $1 AND supplier_cnpj > $2"),
        " UNION ALL ",
        holders!("head_office_id > $1"),
        ") AS either
         ORDER BY head_office_id, supplier_cnpj, compared_number, id LIMIT $5"
    ))
    .bind(head_office)
    .bind(supplier)
    .bind(number)
    .bind(id)
    // The last row of the previous page, and one more.
    .bind(i64::from(limit.max(2)))
    .fetch_all(session)
    .await?;
    Ok(archive::holders(&rows, stage, limit))
}
