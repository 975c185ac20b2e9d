//! Numbers events for those who read them on request, and removes old numbers.
//!
//! A batch is one statement. It takes the events that are visible to it and were not to the batch before:
//! those of later transactions, and of earlier ones that were still in progress then. So an event that is
//! committed late gets a later number, and no transaction, ours or not, delays the events of others. Batches
//! that run at the same moment take the same number, and only one of them gets it.
//!
//! The statement that writes a version of an operation begins after the version before was committed. So the
//! order of transactions is that of versions.
//!
//! What a dump brought keeps the numbers of another cluster's transactions, which this one may reach later. Such a
//! row was written by another transaction than the one it remembers, so only [`RECOVER`] takes it. Nothing updates
//! a row of `events`, which would look the same.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, Timestamp};
use sqlx::{PgConnection, Row};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::feed::{EventNumbers, Look, Numbered};
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::sql::planner::{find_by_keys, read_in_index_order};

use super::PostgresStore;
use super::session::{Failure, autocommit};

/// Events of one batch, and a few more: a transaction is never divided.
const BATCH_SIZE: i64 = 2_000;
/// Maximum time from the moment of an event to its commit, by the clocks of two instances. A commit takes seconds, and an
/// instance whose clock is off by more than 30 s writes nothing.
const MAX_COMMIT_DELAY_MS: i64 = 600_000;
/// Maximum number of batches that a call tries to write beside those of other instances.
const MAX_ROUNDS: u32 = 3;
/// Maximum number of batches that one call reports.
const MAX_REPORTED: i64 = 1_000;

/// What identifies this database and a transaction in it, see the column `place`.
macro_rules! place {
    ($xid:literal) => {
        concat!(
            "(SELECT d.oid::TEXT FROM pg_database d WHERE d.datname = current_database())
                 || '/' || 'event_batches'::REGCLASS::OID::TEXT || '/' || ",
            $xid
        )
    };
}

/// Whether an event was written here by the transaction that it remembers. Freezing keeps `xmin`.
macro_rules! is_native {
    () => {
        "e.xmin::TEXT = (e.xid % 4294967296)::TEXT"
    };
}

/// The batch before, with whether its row was written in this very database, and the snapshot.
macro_rules! last_batch {
    () => {
        concat!(
            "WITH last AS MATERIALIZED (
                 SELECT b.number, b.last_event, b.next_xid, b.pending, b.place = ",
            place!("b.xmin::TEXT"),
            " AS is_native
                 FROM event_batches b ORDER BY b.number DESC LIMIT 1
             ),
             now AS MATERIALIZED (SELECT txid_current_snapshot() AS snapshot), "
        )
    };
}

/// What a batch needs of an event; the body only where nothing else names the record.
macro_rules! columns {
    () => {
        " e.id, e.xid, e.head_office_id, e.operation_id, e.payment_order_id, e.version, e.type, e.at,
          CASE WHEN e.type = 'invoice.received' THEN e.body END AS body"
    };
}

/// The rest of a batch, after the parts `fresh` (its events) and `following` (where the next one begins, and
/// what the row says about itself).
macro_rules! write_batch {
    () => {
        concat!(
            " placed AS MATERIALIZED (
                 SELECT f.id, f.head_office_id, f.type, f.operation_id,
                     coalesce(r.payer_id, f.head_office_id) AS payer_id,
                     coalesce(r.supplier_id, f.head_office_id) AS supplier_id,
                     (SELECT last_event FROM last)
                         + row_number() OVER (ORDER BY f.is_native, f.xid, f.at, f.version, f.id)
                         AS number
                 FROM fresh f
                 LEFT JOIN LATERAL (
                     (SELECT o.payer_id, o.supplier_id FROM operations o
                      WHERE o.id = f.operation_id LIMIT 1)
                     UNION ALL
                     (SELECT p.payer_id, p.supplier_id FROM payment_orders p
                      WHERE p.id = f.payment_order_id LIMIT 1)
                     UNION ALL
                     (SELECT i.payer_id, i.supplier_id FROM invoices i
                      WHERE i.id = substring(f.body FROM '\"invoiceId\":([0-9]{1,18})')::BIGINT
                      LIMIT 1)) AS r ON TRUE
                 WHERE f.type <> 'webhook.test'
             ),
             entry AS MATERIALIZED (
                 SELECT number, head_office_id, id, type, payer_id, supplier_id FROM placed
                 UNION ALL
                 SELECT p.number, s.head_office_id, p.id, p.type, p.payer_id, p.supplier_id
                 FROM placed p CROSS JOIN LATERAL (
                     SELECT c.head_office_id FROM companies c WHERE c.id = p.supplier_id LIMIT 1) AS s
                 WHERE p.operation_id IS NOT NULL AND s.head_office_id <> p.head_office_id
             ),
             batch AS (
                 INSERT INTO event_batches (number, numbered_at, after_event, last_event, next_xid,
                     pending, head_offices, place)
                 SELECT l.number + 1, $2, l.last_event,
                     coalesce((SELECT max(number) FROM placed), l.last_event), n.xid,
                     ARRAY(SELECT p.xid FROM now, txid_snapshot_xip(now.snapshot) AS p (xid)
                           WHERE p.xid < n.xid),
                     ARRAY(SELECT DISTINCT head_office_id FROM entry),
                     CASE WHEN n.is_native THEN ",
            place!("(txid_current() % 4294967296)::TEXT"),
            " ELSE 'elsewhere' END
                 FROM last l, following n
                 WHERE n.is_recovery OR n.is_partial OR (SELECT count(*) FROM fresh) > 0
                 ON CONFLICT (number) DO NOTHING
                 RETURNING number
             ),
             numbered AS (
                 INSERT INTO event_feed (head_office_id, number, event_id, type, payer_id, supplier_id)
                 SELECT e.head_office_id, e.number, e.id, e.type, e.payer_id, e.supplier_id
                 FROM entry e, batch
             )
             SELECT l.is_native, coalesce((SELECT n.is_partial FROM following n), FALSE) AS is_partial,
                 EXISTS (SELECT 1 FROM following n
                         WHERE n.is_recovery OR n.is_partial OR (SELECT count(*) FROM fresh) > 0)
                     AND NOT EXISTS (SELECT 1 FROM batch) AS is_anothers
             FROM last l"
        )
    };
}

/// The next batch: up to the transaction of the event that fills it. What a dump brought fills it as well, so that
/// it reads few rows.
const NUMBER: &str = concat!(
    last_batch!(),
    "following AS MATERIALIZED (
         SELECT TRUE AS is_native, FALSE AS is_recovery, f.xid IS NOT NULL AS is_partial,
             coalesce(f.xid, txid_snapshot_xmax(now.snapshot)) AS xid
         FROM last l CROSS JOIN now LEFT JOIN LATERAL (
             SELECT e.xid + 1 AS xid FROM events e
             WHERE e.xid >= l.next_xid AND e.xid < txid_snapshot_xmax(now.snapshot)
             ORDER BY e.xid OFFSET $1 LIMIT 1) AS f ON TRUE
         WHERE l.is_native
     ),
     fresh AS MATERIALIZED (
         SELECT e.*, TRUE AS is_native FROM last l, following n CROSS JOIN LATERAL (
             SELECT",
    columns!(),
    " FROM unnest(l.pending) AS p (xid) CROSS JOIN LATERAL (
                 SELECT * FROM events e WHERE e.xid = p.xid AND ",
    is_native!(),
    " ORDER BY e.xid OFFSET 0) AS e
             UNION ALL
             SELECT",
    columns!(),
    " FROM events e WHERE e.xid >= l.next_xid AND e.xid < n.xid AND ",
    is_native!(),
    ") AS e
     ),",
    write_batch!()
);

/// Events with these ids that may lack a number, see [`RECOVER`]. The sign keeps the planner from reading all of the index
/// on transactions instead.
macro_rules! candidates {
    ($range:literal) => {
        concat!(
            "SELECT",
            columns!(),
            ", ",
            is_native!(),
            " AS is_native
             FROM events e
             WHERE ",
            $range,
            " AND e.at >= s.at AND +e.xid IS NOT NULL
               AND (e.operation_id IS NOT NULL OR e.payment_order_id IS NOT NULL
                    OR e.type = 'invoice.received')"
        )
    };
}

/// A batch in a database that was restored from a dump: numbers of transactions before mean nothing here, so
/// it compares the latest events that are kept with the latest numbers. No statement compares all of them in time.
///
/// Events without a number were committed after those of the last batch of the dump, so none happened long before these
/// (`since.at`). The others of that age have numbers of batches that are not much older (`since.number`). Ids are in the
/// order of time, but for those of tests, which count from zero. Without a batch before, all are compared.
const RECOVER: &str = concat!(
    last_batch!(),
    "since AS MATERIALIZED (
         SELECT s.at, s.id,
             coalesce((SELECT b.last_event FROM event_batches b WHERE b.numbered_at < s.at - $4
                       ORDER BY b.number DESC LIMIT 1), 0) AS number
         FROM (
             SELECT greatest($3, b.at - $4) AS at,
                 rpad(CASE WHEN b.number > 0 THEN lpad(to_hex(greatest($3, b.at - $4, 0)), 12, '0')
                           ELSE '0' END, 32, '0')::UUID AS id
             FROM (
                 SELECT b.number, least(b.numbered_at, (
                     SELECT min(e.at) FROM unnest(b.head_offices) AS h (id)
                     CROSS JOIN LATERAL (
                         SELECT f.event_id FROM event_feed f
                         WHERE f.head_office_id = h.id AND f.number > b.after_event
                           AND f.number <= b.last_event OFFSET 0) AS f
                     CROSS JOIN LATERAL (
                         SELECT e.at FROM events e WHERE e.id = f.event_id LIMIT 1) AS e)) AS at
                 FROM event_batches b WHERE b.place <> 'elsewhere'
                 ORDER BY b.number DESC LIMIT 1) AS b) AS s
     ),
     candidate AS MATERIALIZED (
         SELECT e.* FROM since s CROSS JOIN LATERAL (",
    candidates!("e.id >= s.id"),
    " UNION ALL ",
    candidates!("e.id < least(s.id, '01000000-0000-0000-0000-000000000000'::UUID)"),
    ") AS e
     ),
     known AS MATERIALIZED (
         SELECT f.event_id, f.head_office_id
         FROM since s CROSS JOIN (SELECT DISTINCT c.head_office_id AS id FROM candidate c) AS h
         CROSS JOIN LATERAL (
             SELECT f.event_id, f.head_office_id FROM event_feed f
             WHERE f.head_office_id = h.id AND f.number > s.number OFFSET 0) AS f
     ),
     fresh AS MATERIALIZED (
         SELECT c.* FROM candidate c
         WHERE NOT EXISTS (SELECT 1 FROM known k
                           WHERE k.event_id = c.id AND k.head_office_id = c.head_office_id)
         ORDER BY c.is_native, c.xid LIMIT $1
     ),
     following AS MATERIALIZED (
         SELECT f.taken < $1 AS is_native, TRUE AS is_recovery, f.taken >= $1 AS is_partial,
             txid_snapshot_xmax(now.snapshot) AS xid
         FROM last l, now, (SELECT count(*) AS taken FROM fresh) AS f WHERE NOT l.is_native
     ),",
    write_batch!()
);

/// What became of a batch.
struct Written {
    /// Whether the database is the one in which the batch before was written.
    is_native: bool,
    /// Whether it left events to the next one.
    is_partial: bool,
    /// Whether another instance wrote a batch of this number, and this one wrote none.
    is_anothers: bool,
}

#[async_trait]
impl EventNumbers for PostgresStore {
    async fn number(&self, look: Look) -> Result<Numbered, Unavailable> {
        let is_partial = self.number_batch(look).await?;
        let reported = self.read(&look.since, |connection, since| {
            Box::pin(report(connection, *since))
        });
        let reported = reported.await?;
        Ok(Numbered {
            has_more: reported.has_more || is_partial,
            ..reported
        })
    }

    fn committed(&self) -> Arc<Notify> {
        self.wake.committed()
    }
}

impl PostgresStore {
    /// Writes a batch, if there are new events; returns whether it left some to the next one.
    ///
    /// When another instance wrote the batch of that number, it may have begun before what was committed before this
    /// call, so the next one is tried.
    async fn number_batch(&self, look: Look) -> Result<bool, Unavailable> {
        let _room = self.room.acquire(1).await.map_err(Fault::from)?;
        for _ in 0..MAX_ROUNDS {
            let mut written = self.write_batch(&(NUMBER, look)).await?;
            if !written.is_native {
                tracing::info!(
                    "the database was restored; events are compared with those that were numbered"
                );
                written = self.write_batch(&(RECOVER, look)).await?;
                if written.is_native {
                    // Another instance has just recovered it, and this one did nothing.
                    continue;
                }
            }
            if !written.is_anothers {
                return Ok(written.is_partial);
            }
        }
        Ok(true)
    }

    async fn write_batch(&self, input: &(&'static str, Look)) -> Result<Written, Unavailable> {
        let written = autocommit(&self.connections, input, |connection, (statement, look)| {
            Box::pin(write_batch(connection, statement, *look))
        });
        written.await.map_err(|failure| {
            unavailable(match failure {
                Failure::OfSome(error) | Failure::OfAll(error) => error,
                Failure::Locked => WriteError::Conflict,
            })
        })
    }
}

async fn write_batch(
    connection: &mut PgConnection,
    statement: &'static str,
    look: Look,
) -> Result<Written, sqlx::Error> {
    let query = sqlx::query(statement)
        .bind(BATCH_SIZE)
        .bind(look.now.unix_millis());
    let query = if statement == RECOVER {
        let kept_since = look.kept_since.unix_millis();
        query.bind(kept_since).bind(MAX_COMMIT_DELAY_MS)
    } else {
        query
    };
    let row = query.fetch_one(connection).await?;
    Ok(Written {
        is_native: row.try_get("is_native")?,
        is_partial: row.try_get("is_partial")?,
        is_anothers: row.try_get("is_anothers")?,
    })
}

/// The head offices with numbers in the batches after `since`; without it, the number of the latest batch.
async fn report(connection: &mut PgConnection, since: Option<i64>) -> Result<Numbered, Fault> {
    let Some(since) = since else {
        let latest: i64 = sqlx::query_scalar("SELECT coalesce(max(number), 0) FROM event_batches")
            .fetch_one(connection)
            .await?;
        return Ok(Numbered {
            upto: latest,
            ..Numbered::default()
        });
    };
    let rows = sqlx::query(
        "SELECT number, head_offices FROM event_batches WHERE number > $1 ORDER BY number LIMIT $2",
    )
    .bind(since)
    .bind(MAX_REPORTED)
    .fetch_all(connection)
    .await?;
    let mut numbered = Numbered {
        upto: since,
        has_more: i64::try_from(rows.len()).is_ok_and(|batches| batches >= MAX_REPORTED),
        ..Numbered::default()
    };
    for row in rows {
        numbered.upto = row.try_get("number")?;
        let ids: Vec<Uuid> = row.try_get("head_offices")?;
        let head_offices = ids.into_iter().map(CompanyId::new);
        numbered.head_offices.extend(head_offices);
    }
    Ok(numbered)
}

/// Removes the numbers of batches that were written before `before`, `limit` events and a few more. The latest
/// batch stays: the next one goes on from it.
pub(super) async fn forget(
    connection: &mut PgConnection,
    (before, limit): &(Timestamp, u32),
) -> Result<u64, WriteError> {
    find_by_keys(connection).await?;
    read_in_index_order(connection).await?;
    let row = sqlx::query(
        "WITH old AS MATERIALIZED (
             SELECT b.number, b.after_event, b.last_event, b.head_offices FROM event_batches b
             WHERE b.number > 0 AND b.number < (
                 -- All batches after it are newer, and are not read.
                 SELECT kept.number FROM event_batches kept
                 WHERE kept.number > 0 AND (
                     kept.numbered_at >= $1
                     OR kept.after_event >= (SELECT first.after_event + $2 FROM event_batches first
                                             WHERE first.number > 0 ORDER BY first.number LIMIT 1)
                     OR kept.number = (SELECT max(number) FROM event_batches))
                 ORDER BY kept.number LIMIT 1)
             ORDER BY b.number LIMIT $2
         ),
         chosen AS MATERIALIZED (
             SELECT f.head_office_id, f.number
             FROM old o CROSS JOIN LATERAL unnest(o.head_offices) AS h (id) CROSS JOIN LATERAL (
                 SELECT f.head_office_id, f.number FROM event_feed f
                 WHERE f.head_office_id = h.id AND f.number > o.after_event AND f.number <= o.last_event
                 ORDER BY f.number OFFSET 0) AS f
         ),
         removed AS (
             DELETE FROM event_feed f USING chosen c
             WHERE f.head_office_id = c.head_office_id AND f.number = c.number
             RETURNING f.head_office_id, f.number, f.event_id, f.payer_id, f.supplier_id
         ),
         ended AS (
             INSERT INTO event_feed_ends (head_office_id, company_id, number, event_id)
             SELECT DISTINCT ON (r.head_office_id, c.id) r.head_office_id, c.id, r.number, r.event_id
             FROM removed r CROSS JOIN LATERAL (
                 SELECT c.id, c.head_office_id FROM companies c
                 WHERE c.id = ANY (ARRAY[r.payer_id, r.supplier_id]) OFFSET 0) AS c
             WHERE c.head_office_id = r.head_office_id
             ORDER BY r.head_office_id, c.id, r.number DESC
             ON CONFLICT (head_office_id, company_id) DO UPDATE
             SET number = excluded.number, event_id = excluded.event_id
             WHERE event_feed_ends.number < excluded.number
         ),
         gone AS (DELETE FROM event_batches b USING old o WHERE b.number = o.number)
         SELECT (SELECT count(*) FROM removed) + (SELECT count(*) FROM old) AS removed",
    )
    .bind(before.unix_millis())
    .bind(i64::from(*limit))
    .fetch_one(connection)
    .await?;
    let removed: i64 = row.try_get("removed")?;
    Ok(removed.unsigned_abs())
}
