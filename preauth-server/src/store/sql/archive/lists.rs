//! Lists of events: what each head office reads, and the numbers by which it does.
//!
//! No index finds the number of an event. So the lists are read as they are by their readers, and each event
//! is found by its id. That none is missing is proved by how a database assigns numbers: SQLite one after the
//! other, PostgreSQL in batches, of which each knows the transactions whose events it took.

use preauth_core::port::{Read, Record};
use uuid::Uuid;

use crate::store::archive::{self, DueEvent, Page, Stage};
use crate::store::error::Fault;
use crate::store::rows::{Columns, Corrupt};

use super::super::{Dialect, Row, Session, query, sql};

/// The beginning of the next head office's list.
pub(super) async fn next_list(
    session: &mut dyn Session,
    stage: &Stage,
    after: Uuid,
) -> Result<Page, Fault> {
    let next = query(
        "SELECT head_office_id FROM event_feed WHERE head_office_id > $1
         ORDER BY head_office_id LIMIT 1",
    );
    let Some(next) = next.bind(after).fetch_optional(session).await? else {
        return Ok((Vec::new(), stage.after()));
    };
    Ok(match archive::head_office(&next) {
        Ok(head_office) => (Vec::new(), Stage::List(head_office, 0)),
        Err(unreadable) => (vec![Err(unreadable)], stage.after()),
    })
}

/// The next numbers of a head office's list. On PostgreSQL the next version's event must be in it if the
/// latest batch has taken it; what a dump restored, or another database wrote, no batch has taken here.
pub(super) async fn list(
    session: &mut dyn Session,
    stage: &Stage,
    (head_office, after): (Uuid, i64),
    limit: u32,
) -> Result<Page, Fault> {
    let removed = query(
        "SELECT coalesce(max(number), 0) AS removed FROM event_feed_ends WHERE head_office_id = $1",
    );
    let removed = removed.bind(head_office).fetch_one(session).await?;
    let removed = Columns::of("event_feed_ends", &removed).raw("removed")?;
    let rows = query(sql!(
        "SELECT f.number, f.event_id, e.id IS NULL AS is_missing, e.operation_id, e.payment_order_id,
             e.version,
             coalesce(e.type <> 'webhook.test'
                      AND (e.head_office_id = $1 OR o.supplier_id = $1 OR c.head_office_id = $1), FALSE)
                 AS is_for_reader,
             coalesce((e.head_office_id = $1 OR c.head_office_id = $1)
                      AND (EXISTS (SELECT 1 FROM events n
                                   WHERE n.head_office_id = e.head_office_id
                                     AND n.operation_id = e.operation_id AND n.operation_id IS NOT NULL
                                     AND n.version = e.version + 1 " IS_TAKEN ")
                           OR EXISTS (SELECT 1 FROM events n
                                      WHERE n.head_office_id = e.head_office_id
                                        AND n.payment_order_id = e.payment_order_id
                                        AND n.payment_order_id IS NOT NULL
                                        AND n.version = e.version + 1 " IS_TAKEN ")), FALSE) AS has_next
         FROM (SELECT number, event_id FROM event_feed
               WHERE head_office_id = $1 AND number > $2 ORDER BY number LIMIT $3) AS f"
        { sqlite: "", postgres: " CROSS JOIN (
             SELECT next_xid, pending, split_part(place, '/', 3) = xmin::TEXT AS is_native
             FROM event_batches ORDER BY number DESC LIMIT 1) AS latest" }
        " LEFT JOIN events e ON e.id = f.event_id
         LEFT JOIN operations o ON o.id = e.operation_id
         LEFT JOIN companies c ON c.id = o.supplier_id
         ORDER BY f.number"
    ));
    let rows = rows.bind(head_office).bind(after).bind(limit);
    let rows = rows.fetch_all(session).await?;
    let mut records = archive::list(head_office, removed, &rows)?;
    let last = match rows.last() {
        Some(row) => Columns::of("event_feed", row).raw("number")?,
        None => after,
    };
    let next = stage.next(rows.len(), limit, Stage::List(head_office, last));
    if next == stage.after() {
        records.push(Ok(archive::list_end(head_office, removed)));
    }
    Ok((records, next))
}

/// What is in no list although it must be.
pub(super) async fn numbers(
    session: &mut dyn Session,
    stage: &Stage,
    after: i64,
    limit: u32,
) -> Result<Page, Fault> {
    match session.dialect() {
        Dialect::Sqlite => gaps(session, stage, after, limit).await,
        Dialect::Postgres => batches(session, stage, after, limit).await,
    }
}

/// Every number was assigned by a commit, so only retention makes gaps, at the beginning.
async fn gaps(
    session: &mut dyn Session,
    stage: &Stage,
    after: i64,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query("SELECT number FROM event_feed WHERE number > $1 ORDER BY number LIMIT $2");
    let rows = rows.bind(after).bind(limit).fetch_all(session).await?;
    let mut last = after;
    let mut gaps = Vec::new();
    for row in &rows {
        let number: i64 = Columns::of("event_feed", row).raw("number")?;
        if number > last.saturating_add(1) {
            gaps.push((last.saturating_add(1), number.saturating_sub(1)));
        }
        last = number;
    }
    let next = stage.next(rows.len(), limit, Stage::Numbers(last));
    if next == stage.after() {
        let assigned = query("SELECT seq FROM sqlite_sequence WHERE name = 'event_feed'");
        let assigned = assigned.fetch_optional(session).await?;
        let assigned = assigned.map_or(Ok(last), |row| {
            Columns::of("sqlite_sequence", &row).raw("seq")
        })?;
        if assigned > last {
            gaps.push((last.saturating_add(1), assigned));
        }
    }
    if gaps.is_empty() {
        return Ok((Vec::new(), next));
    }
    let kept = match removed(session).await? {
        0 => 1,
        // The last removed event may have a second number, of a company that became a branch since.
        removed => removed.saturating_add(2),
    };
    let missing = gaps.into_iter().filter_map(|(first, last)| {
        let first = first.max(kept);
        (first <= last).then(|| Ok(archive::missing_numbers(first, last)))
    });
    Ok((missing.collect(), next))
}

/// The last number that was removed after its retention.
async fn removed(session: &mut dyn Session) -> Result<i64, Fault> {
    let removed = query("SELECT coalesce(max(number), 0) AS removed FROM event_feed_ends");
    let removed = removed.fetch_one(session).await?;
    Ok(Columns::of("event_feed_ends", &removed).raw("removed")?)
}

/// A batch of numbers.
#[derive(Clone, Copy, Debug)]
struct Batch {
    number: i64,
    after_event: i64,
    last_event: i64,
    next_xid: i64,
    /// Whether its transactions are those of this database.
    is_native: bool,
}

impl Batch {
    fn read(row: &Row) -> Result<Self, Corrupt> {
        let columns = Columns::of("event_batches", row);
        Ok(Self {
            number: columns.raw("number")?,
            after_event: columns.raw("after_event")?,
            last_event: columns.raw("last_event")?,
            next_xid: columns.raw("next_xid")?,
            is_native: columns.raw("is_native")?,
        })
    }

    /// Whether it took what the batch before had left.
    const fn follows(&self, before: &Self) -> bool {
        self.is_native
            && before.is_native
            && self.number == before.number.saturating_add(1)
            && self.next_xid >= before.next_xid
    }
}

/// The events that the next batches must have taken: of the transactions that the last of them left to no later
/// one, and the batch before them did.
async fn batches(
    session: &mut dyn Session,
    stage: &Stage,
    after: i64,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(
        "SELECT number, after_event, last_event, next_xid,
             split_part(place, '/', 3) = xmin::TEXT AS is_native
         FROM event_batches WHERE number >= $1 ORDER BY number LIMIT $2",
    );
    let rows = rows.bind(after).bind(i64::from(limit).saturating_add(1));
    let rows = rows.fetch_all(session).await?;
    let batches = rows.iter().map(Batch::read);
    let batches = batches.collect::<Result<Vec<_>, _>>()?;
    let mut records = Vec::new();
    let [base, rest @ ..] = &*batches else {
        return Ok((records, stage.after()));
    };
    let Some(following) = rest.first() else {
        return Ok((records, stage.after()));
    };
    // The batch with number 0 has no events and stays for good; the others are removed from the first one on.
    if base.number == 0 && following.number > 1 {
        let removed = removed(session).await?;
        if following.after_event > removed {
            let first = removed.saturating_add(1);
            records.push(Ok(archive::missing_numbers(first, following.after_event)));
        }
    }
    let mut last = *base;
    for batch in rest {
        let events = batch.last_event.saturating_sub(base.last_event);
        let is_too_much = last.number > base.number && events > i64::from(limit);
        if is_too_much || !batch.follows(&last) {
            break;
        }
        last = *batch;
    }
    if last.number > base.number {
        records.extend(left_out(session, base, &last).await?);
    } else {
        last = *following;
    }
    Ok((records, Stage::Numbers(last.number)))
}

/// The events after one batch, up to another, that are not in the lists of all their parties.
async fn left_out(
    session: &mut dyn Session,
    base: &Batch,
    last: &Batch,
) -> Result<Vec<Read<Record>>, Fault> {
    let due = query(
        "SELECT e.id, e.head_office_id, o.supplier_id, c.head_office_id AS supplier_head_office_id
         FROM event_batches a CROSS JOIN event_batches z CROSS JOIN LATERAL (
             SELECT v.id, v.head_office_id, v.operation_id, v.type, v.xid, v.xmin::TEXT AS writer
             FROM events v WHERE v.xid >= a.next_xid AND v.xid < z.next_xid
             UNION ALL
             SELECT v.* FROM unnest(a.pending) AS p (xid) CROSS JOIN LATERAL (
                 SELECT w.id, w.head_office_id, w.operation_id, w.type, w.xid, w.xmin::TEXT AS writer
                 FROM events w WHERE w.xid = p.xid) AS v) AS e
         LEFT JOIN operations o ON o.id = e.operation_id
         LEFT JOIN companies c ON c.id = o.supplier_id
         WHERE a.number = $1 AND z.number = $2 AND e.type <> 'webhook.test'
           AND e.xid <> ALL (z.pending) AND e.writer = (e.xid % 4294967296)::TEXT",
    );
    let due = due.bind(base.number).bind(last.number);
    let due = due.fetch_all(session).await?;
    let due = due.iter().map(DueEvent::read);
    let due = due.collect::<Result<Vec<_>, _>>()?;
    let rows = query(
        "SELECT f.head_office_id, f.event_id
         FROM (SELECT DISTINCT h.id FROM event_batches b CROSS JOIN unnest(b.head_offices) AS h (id)
               WHERE b.number > $1 AND b.number <= $2) AS h
         CROSS JOIN LATERAL (
             SELECT head_office_id, event_id FROM event_feed
             WHERE head_office_id = h.id AND number > $3 AND number <= $4) AS f",
    );
    let rows = rows.bind(base.number).bind(last.number);
    let rows = rows.bind(base.last_event).bind(last.last_event);
    Ok(archive::unlisted(&due, &rows.fetch_all(session).await?))
}
