//! Reads one page after the other, each by the index in its order.

use uuid::Uuid;

use crate::store::archive::{self, Owner, Page, Place, Range, Stage};
use crate::store::error::Fault;
use crate::store::rows::{Columns, select_operations, select_orders, select_other_orders};

use super::super::{Session, query};
use super::children::{events_of, extensions_of};
use super::mails;

/// The page at `stage` and the stage after it. A page that is not full ends its kind of records:
/// reading on while others write might never end.
pub(in crate::store) async fn page(
    session: &mut dyn Session,
    stage: &Stage,
    limit: u32,
) -> Result<Page, Fault> {
    let (records, next) = match stage {
        Stage::Operations(after) => return operations(session, stage, *after, limit).await,
        Stage::Orders(after) => return orders(session, stage, *after, limit).await,
        Stage::Others(after) => return others(session, stage, *after, limit).await,
        Stage::Counts(after) => return miscounts(session, stage, *after, limit).await,
        Stage::FileBytes(after) => return file_bytes(session, stage, *after).await,
        Stage::End => return Ok((Vec::new(), Stage::End)),
        Stage::Replies(head_office, key) => {
            replies(session, stage, (*head_office, key), limit).await?
        }
        Stage::Holders(head_office, supplier, number, id) => {
            let after = (*head_office, supplier.as_str(), number.as_str(), *id);
            holders(session, stage, after, limit).await?
        }
        Stage::Strays(after) => strays(session, stage, *after, limit).await?,
        Stage::Mails(after) => mails::mails(session, stage, *after, limit).await?,
        Stage::Sent(address, at, id) => {
            let after = (address.as_str(), *at, *id);
            mails::sent(session, stage, after, limit).await?
        }
        Stage::OffersWithoutMail(after) => {
            mails::offers_without_mail(session, stage, *after, limit).await?
        }
    };
    let next = stage.next(records.len(), limit, next);
    Ok((records, next))
}

async fn operations(
    session: &mut dyn Session,
    stage: &Stage,
    after: Place,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(select_operations!(
        "WHERE (o.head_office_id, o.id) > ($1, $2) ORDER BY o.head_office_id, o.id LIMIT $3"
    ))
    .bind(after.0)
    .bind(after.1)
    .bind(limit)
    .fetch_all(session)
    .await?;
    let Some(upto) = archive::last_operation(&rows)? else {
        return Ok((Vec::new(), stage.after()));
    };
    let range = Range { after, upto };
    let gathering = events_of(session, Owner::Operation, range).await?;
    let extensions = extensions_of(session, range).await?;
    let records = archive::operations(&rows, &extensions, gathering)?;
    let next = stage.next(rows.len(), limit, Stage::Operations(upto));
    Ok((records, next))
}

async fn orders(
    session: &mut dyn Session,
    stage: &Stage,
    after: Place,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(select_orders!(
        "WHERE (o.head_office_id, o.id) > ($1, $2) ORDER BY o.head_office_id, o.id LIMIT $3"
    ))
    .bind(after.0)
    .bind(after.1)
    .bind(limit)
    .fetch_all(session)
    .await?;
    let Some(upto) = archive::last_order(&rows)? else {
        return Ok((Vec::new(), stage.after()));
    };
    let gathering = events_of(session, Owner::Order, Range { after, upto }).await?;
    let earlier = query(select_other_orders!(
        "n.id AS order_id,",
        "JOIN payment_orders n ON n.operation_id = o.operation_id AND n.id > o.id
         WHERE (n.head_office_id, n.id) > ($1, $2) AND (n.head_office_id, n.id) <= ($3, $4)
           AND o.status NOT IN ('CANCELED', 'REPROVED')
         ORDER BY n.id, o.id"
    ))
    .bind(after.0)
    .bind(after.1)
    .bind(upto.0)
    .bind(upto.1)
    .fetch_all(session)
    .await?;
    let records = archive::orders(&rows, &earlier, gathering)?;
    let next = stage.next(rows.len(), limit, Stage::Orders(upto));
    Ok((records, next))
}

async fn others(
    session: &mut dyn Session,
    stage: &Stage,
    after: Uuid,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(
        "SELECT v.id, v.head_office_id FROM events v
         WHERE v.operation_id IS NULL AND v.payment_order_id IS NULL AND v.id > $1
         ORDER BY v.id LIMIT $2",
    )
    .bind(after)
    .bind(limit)
    .fetch_all(session)
    .await?;
    let Some(upto) = archive::last_other(&rows)? else {
        return Ok((Vec::new(), stage.after()));
    };
    let range = Range {
        after: (after, 0),
        upto: (upto, 0),
    };
    let gathering = events_of(session, Owner::Nothing, range).await?;
    let next = stage.next(rows.len(), limit, Stage::Others(upto));
    Ok((archive::others(&rows, gathering)?, next))
}

async fn replies(
    session: &mut dyn Session,
    stage: &Stage,
    (head_office, key): (Uuid, &str),
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(select_operations!(
        ", r.head_office_id AS reply_head_office_id, r.key, r.body",
        "JOIN idempotency_replies r ON r.operation_id = o.id
         WHERE (r.head_office_id, r.key) > ($1, $2) ORDER BY r.head_office_id, r.key LIMIT $3"
    ))
    .bind(head_office)
    .bind(key)
    .bind(limit)
    .fetch_all(session)
    .await?;
    Ok(archive::replies(&rows, stage)?)
}

async fn holders(
    session: &mut dyn Session,
    stage: &Stage,
    (head_office, supplier, number, id): (Uuid, &str, &str, i64),
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(
        "SELECT head_office_id, supplier_cnpj, invoice_number,
                coalesce(invoice_number_nfc, invoice_number) AS compared_number, id
         FROM operations
         WHERE invoice_number IS NOT NULL AND status NOT IN ('REPROVED', 'CONCLUDED')
           AND (head_office_id, supplier_cnpj, coalesce(invoice_number_nfc, invoice_number), id)
               >= ($1, $2, $3, $4)
         ORDER BY head_office_id, supplier_cnpj, coalesce(invoice_number_nfc, invoice_number), id
         LIMIT $5",
    )
    .bind(head_office)
    .bind(supplier)
    .bind(number)
    .bind(id)
    // The last row of the previous page, and one more.
    .bind(i64::from(limit.max(2)))
    .fetch_all(session)
    .await?;
    Ok(archive::holders(&rows, stage)?)
}

async fn strays(
    session: &mut dyn Session,
    stage: &Stage,
    after: Uuid,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(
        "SELECT v.id FROM events v
         LEFT JOIN operations o ON o.id = v.operation_id
         LEFT JOIN payment_orders p ON p.id = v.payment_order_id
         WHERE v.id > $1 AND v.head_office_id <> coalesce(o.head_office_id, p.head_office_id)
         ORDER BY v.id LIMIT $2",
    )
    .bind(after)
    .bind(limit)
    .fetch_all(session)
    .await?;
    Ok(archive::strays(&rows, stage)?)
}

/// The next head office's wrong counts, or the first of them: its operations are counted in the
/// same snapshot in which its counts are read.
async fn miscounts(
    session: &mut dyn Session,
    stage: &Stage,
    after: Uuid,
    limit: u32,
) -> Result<Page, Fault> {
    let next = query(
        "SELECT head_office_id FROM (
             SELECT * FROM (SELECT head_office_id FROM operations WHERE head_office_id > $1
                            ORDER BY head_office_id LIMIT 1) AS stored
             UNION ALL
             SELECT * FROM (SELECT head_office_id FROM operation_counts WHERE head_office_id > $1
                            ORDER BY head_office_id LIMIT 1) AS counted) AS either
         ORDER BY head_office_id LIMIT 1",
    )
    .bind(after)
    .fetch_optional(session)
    .await?;
    let Some(next) = next else {
        return Ok((Vec::new(), stage.after()));
    };
    let head_office = Columns::of("operations", &next).uuid("head_office_id")?;
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
    Ok((archive::miscounts(&rows)?, Stage::Counts(head_office)))
}

/// The next head office's recorded size of files, if it is wrong.
async fn file_bytes(session: &mut dyn Session, stage: &Stage, after: Uuid) -> Result<Page, Fault> {
    let next = query(
        "SELECT head_office_id FROM (
             SELECT * FROM (SELECT head_office_id FROM operations WHERE head_office_id > $1
                            ORDER BY head_office_id LIMIT 1) AS stored
             UNION ALL
             SELECT * FROM (SELECT head_office_id FROM invoice_file_bytes WHERE head_office_id > $1
                            ORDER BY head_office_id LIMIT 1) AS counted) AS either
         ORDER BY head_office_id LIMIT 1",
    )
    .bind(after)
    .fetch_optional(session)
    .await?;
    let Some(next) = next else {
        return Ok((Vec::new(), stage.after()));
    };
    let head_office = Columns::of("operations", &next).uuid("head_office_id")?;
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
    let records = archive::file_bytes(head_office, &row)?;
    Ok((records, Stage::FileBytes(head_office)))
}
