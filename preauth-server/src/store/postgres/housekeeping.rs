//! Removes records after their retention, in small batches.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::{Outbox, Unavailable};
use preauth_core::value::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::store::error::WriteError;
use crate::store::sql::planner::read_in_index_order;
use crate::store::sql::reports::{Counts, FAILED_DELIVERY};
use crate::store::sql::{mails, personal_data};
use crate::store::{Housekeeping, OldFiles, SETTLE_BATCH_SIZE};

use super::front::{Front, Look};
use super::rows::clamped;
use super::{PostgresStore, feed, settle};

/// Minimum number of rows of one count that are summed up; fewer are read as fast as one.
const MANY_COUNTS: i64 = 64;
/// How long counts are kept after their key's next generation began: longer than any statement that
/// may have read them as the newest.
const OUTDATED_COUNTS_KEPT: TimeDelta = TimeDelta::minutes(10);

#[async_trait]
impl Housekeeping for PostgresStore {
    async fn settle_endpoints(&self, limit: u32) -> Result<u64, Unavailable> {
        let walk = self.fronts.removed.begin();
        let settled = self
            .write_relaxed((limit, walk.is_some()), |connection, input| {
                Box::pin(settle::settle(connection, input))
            })
            .await?;
        match walk {
            Some(began) if settled.ended == 0 => self.fronts.removed.note(began),
            Some(_) => self.fronts.removed.repeat(),
            None => {}
        }
        if settled.made_due > 0 {
            // The deliveries are due as of the resumption, which may be before deliveries sent
            // since.
            self.cursors.look_everywhere();
            self.wake.all();
        }
        Ok(settled.ended.saturating_add(settled.made_due))
    }

    fn endpoints_unsettled(&self) -> Arc<Notify> {
        Arc::clone(&self.unsettled)
    }

    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        let deliveries = Outbox::bring_forward(self, now, limit).await?;
        let mails = self.write_relaxed((now, limit), |connection, input| {
            Box::pin(mails::bring_forward(connection, input))
        });
        let mails = mails.await?;
        if mails > 0 {
            self.due_mails.look_everywhere();
        }
        Ok(deliveries.saturating_add(mails))
    }

    async fn notify_of_failing(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        let changed = self.write_relaxed((now, limit), |connection, input| {
            Box::pin(mails::notify_of_failing(connection, input))
        });
        let changed = changed.await?;
        if changed > 0 {
            self.due_mails.look_everywhere();
        }
        Ok(changed)
    }

    async fn forget_expired_replies(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        let look = self.fronts.replies.look();
        let forgotten = self.write_relaxed((now, limit, look.from), |connection, input| {
            Box::pin(forget_replies(connection, input))
        });
        Ok(note(&self.fronts.replies, look, forgotten.await?))
    }

    async fn forget_rate_windows(
        &self,
        now: Timestamp,
        unused_since: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        let look = self.fronts.rate_counts.look();
        let input = (now, unused_since, limit, look.from);
        let forgotten = self.write_relaxed(input, |connection, input| {
            Box::pin(forget_windows(connection, input))
        });
        Ok(note(&self.fronts.rate_counts, look, forgotten.await?))
    }

    async fn forget_ended_deliveries(
        &self,
        ended_before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        let look = self.fronts.ended_deliveries.look();
        let forgotten = self
            .write_relaxed((ended_before, limit, look.from), |connection, input| {
                Box::pin(forget_deliveries(connection, input))
            });
        Ok(note(&self.fronts.ended_deliveries, look, forgotten.await?))
    }

    async fn forget_ended_mails(
        &self,
        ended_before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        let look = self.fronts.ended_mails.look();
        let forgotten = self
            .write_relaxed((ended_before, limit, look.from), |connection, input| {
                Box::pin(forget_mails(connection, input))
            });
        Ok(note(&self.fronts.ended_mails, look, forgotten.await?))
    }

    async fn forget_old_files(
        &self,
        now: Timestamp,
        ended_before: Timestamp,
        after: i64,
        limit: u32,
    ) -> Result<OldFiles, Unavailable> {
        self.write_relaxed((now, ended_before, after, limit), |connection, input| {
            Box::pin(personal_data::forget_old_files(connection, input))
        })
        .await
    }

    async fn forget_event_numbers(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        self.write_relaxed((before, limit), |connection, input| {
            Box::pin(feed::forget(connection, input))
        })
        .await
    }

    async fn sum_up_counts(&self, limit: u32) -> Result<u64, Unavailable> {
        self.write_relaxed(limit, |connection, limit| {
            Box::pin(sum_up_counts(connection, *limit))
        })
        .await
    }
}

impl PostgresStore {
    /// Settles one batch before the caller gets its answer; the janitor does the rest, also when
    /// this fails.
    pub(super) async fn settle_first_batch(&self) {
        self.fronts.removed.repeat();
        let settled = self.settle_endpoints(SETTLE_BATCH_SIZE).await;
        if !settled.is_ok_and(|settled| settled < u64::from(SETTLE_BATCH_SIZE)) {
            self.unsettled.notify_one();
        }
    }
}

/// The number of removed records, and the time of the last one.
type Forgotten = (u64, Option<i64>);

/// The remaining records come after the removed ones.
fn note(front: &Front, look: Look, (count, last): Forgotten) -> u64 {
    front.note(look, last);
    count
}

fn forgotten(row: &PgRow) -> Result<Forgotten, WriteError> {
    let count: i64 = row.try_get(0)?;
    Ok((count.unsigned_abs(), row.try_get(1)?))
}

async fn forget_replies(
    connection: &mut PgConnection,
    (now, limit, from): &(Timestamp, u32, i64),
) -> Result<Forgotten, WriteError> {
    let row = sqlx::query(
        "WITH gone AS (
             DELETE FROM idempotency_replies r
             USING (SELECT head_office_id, key FROM idempotency_replies
                    WHERE expires_at >= $3 AND expires_at <= $1
                    ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS expired
             WHERE r.head_office_id = ANY (ARRAY[expired.head_office_id])
               AND r.key = expired.key
             RETURNING r.expires_at
         )
         SELECT count(*), max(expires_at) FROM gone",
    )
    .bind(now.unix_millis())
    .bind(i64::from(*limit))
    .bind(from)
    .fetch_one(&mut *connection)
    .await?;
    let (count, last) = forgotten(&row)?;
    let rest = clamped(u64::from(*limit).saturating_sub(count));
    let of_platform = sqlx::query(
        "DELETE FROM platform_replies WHERE key = ANY (ARRAY(
             SELECT key FROM platform_replies WHERE expires_at <= $1
             ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
    )
    .bind(now.unix_millis())
    .bind(rest)
    .execute(connection)
    .await?;
    Ok((count.saturating_add(of_platform.rows_affected()), last))
}

/// Removes superseded generations, and the last ones of invalid keys with the windows that earlier
/// builds counted in.
async fn forget_windows(
    connection: &mut PgConnection,
    (now, unused_since, limit, from): &(Timestamp, Timestamp, u32, i64),
) -> Result<Forgotten, WriteError> {
    let outdated = now.saturating_sub(OUTDATED_COUNTS_KEPT);
    let row = sqlx::query(
        "WITH gone AS (
             DELETE FROM rate_counts r
             USING (SELECT c.api_key_id, c.generation FROM rate_counts c
                    WHERE c.begun_at >= $3 AND c.begun_at < $1
                      AND (SELECT 1 FROM rate_counts n WHERE n.api_key_id = c.api_key_id
                             AND n.generation > c.generation LIMIT 1) IS NOT NULL
                    ORDER BY c.begun_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS outdated
             WHERE r.api_key_id = ANY (ARRAY[outdated.api_key_id])
               AND r.generation = outdated.generation
             RETURNING r.begun_at
         )
         SELECT count(*), max(begun_at) FROM gone",
    )
    .bind(outdated.unix_millis())
    .bind(i64::from(*limit))
    .bind(from)
    .fetch_one(&mut *connection)
    .await?;
    let (count, last) = forgotten(&row)?;
    let rest = clamped(u64::from(*limit).saturating_sub(count));
    let of_dead_keys = sqlx::query(
        "WITH gone AS (
             DELETE FROM rate_counts WHERE api_key_id = ANY (ARRAY(
                 SELECT c.api_key_id FROM rate_counts c JOIN api_keys k ON k.id = ANY (ARRAY[c.api_key_id])
                 WHERE c.last_used_at < $2 AND (k.revoked_at IS NOT NULL OR k.expires_at <= $1)
                   AND (SELECT 1 FROM rate_counts n WHERE n.api_key_id = c.api_key_id
                        AND n.generation > c.generation LIMIT 1) IS NULL
                   AND (SELECT count(*) FROM rate_windows w WHERE w.api_key_id = c.api_key_id)
                       = (SELECT count(*) FROM (
                              SELECT 1 FROM rate_windows w WHERE w.api_key_id = c.api_key_id
                              FOR UPDATE SKIP LOCKED) AS free)
                 ORDER BY c.last_used_at LIMIT $3 FOR UPDATE OF c SKIP LOCKED))
             RETURNING api_key_id
         ),
         of_builds_before AS (
             DELETE FROM rate_windows WHERE api_key_id = ANY (ARRAY(SELECT api_key_id FROM gone))
         )
         SELECT count(*) FROM gone",
    )
    .bind(now.unix_millis())
    .bind(unused_since.unix_millis())
    .bind(rest)
    .fetch_one(connection)
    .await?;
    let of_dead_keys: i64 = of_dead_keys.try_get(0)?;
    Ok((count.saturating_add(of_dead_keys.unsigned_abs()), last))
}

/// The foreign key deletes the attempts as well. It would wait for a locked one, so a delivery of
/// which an attempt is locked is skipped like a locked delivery. Those that were given up stay in reports.
async fn forget_deliveries(
    connection: &mut PgConnection,
    (ended_before, limit, from): &(Timestamp, u32, i64),
) -> Result<Forgotten, WriteError> {
    read_in_index_order(connection).await?;
    let row = sqlx::query(
        "WITH gone AS (
             DELETE FROM deliveries WHERE id = ANY (ARRAY(
                 SELECT d.id FROM deliveries d
                 WHERE d.ended_at IS NOT NULL AND d.ended_at >= $3 AND d.ended_at < $1
                   AND (SELECT count(*) FROM attempts a WHERE a.delivery_id = d.id)
                       = (SELECT count(*) FROM (
                              SELECT 1 FROM attempts a WHERE a.delivery_id = d.id
                              FOR UPDATE SKIP LOCKED) AS free)
                 ORDER BY d.ended_at, d.id LIMIT $2 FOR UPDATE OF d SKIP LOCKED))
             RETURNING ended_at, head_office_id, created_at,
                 status = 'FAILED' AND event_type <> 'webhook.test' AS is_reported
         )
         SELECT count(*), max(ended_at),
             coalesce(array_agg(head_office_id) FILTER (WHERE is_reported), '{}') AS offices,
             coalesce(array_agg(created_at) FILTER (WHERE is_reported), '{}') AS moments
         FROM gone",
    )
    .bind(ended_before.unix_millis())
    .bind(i64::from(*limit))
    .bind(from)
    .fetch_one(&mut *connection)
    .await?;
    let offices: Vec<Uuid> = row.try_get("offices")?;
    let moments: Vec<i64> = row.try_get("moments")?;
    let mut counts = Counts::default();
    for (office, at) in offices.into_iter().zip(moments) {
        if let Some(at) = Timestamp::from_unix_millis(at) {
            counts.add_one(office, at, FAILED_DELIVERY);
        }
    }
    counts.write(connection).await?;
    forgotten(&row)
}

async fn forget_mails(
    connection: &mut PgConnection,
    (ended_before, limit, from): &(Timestamp, u32, i64),
) -> Result<Forgotten, WriteError> {
    let row = sqlx::query(
        "WITH gone AS (
             DELETE FROM notices WHERE id = ANY (ARRAY(
                 SELECT id FROM notices
                 WHERE ended_at IS NOT NULL AND ended_at >= $3 AND ended_at < $1
                 ORDER BY ended_at, id LIMIT $2 FOR UPDATE SKIP LOCKED))
             RETURNING ended_at
         )
         SELECT count(*), max(ended_at) FROM gone",
    )
    .bind(ended_before.unix_millis())
    .bind(i64::from(*limit))
    .bind(from)
    .fetch_one(connection)
    .await?;
    forgotten(&row)
}

/// Maximum number of counts that one write sums up: together they have at least `limit` rows.
fn max_groups(limit: u32) -> i64 {
    i64::from(limit)
        .checked_div(MANY_COUNTS)
        .unwrap_or(0)
        .max(1)
}

/// Replaces many rows by one. The sum is the same for every reader; rows that another instance sums
/// up at this moment are skipped.
async fn sum_up_counts(connection: &mut PgConnection, limit: u32) -> Result<u64, WriteError> {
    let done = sqlx::query(
        "WITH many AS (
             SELECT head_office_id, payer_id, status FROM operation_counts
             GROUP BY head_office_id, payer_id, status HAVING count(*) >= $2
             ORDER BY count(*) DESC LIMIT $3
         ),
         taken AS (
             SELECT c.head_office_id, c.payer_id, c.status, c.slot
             FROM operation_counts c
             JOIN many m ON m.head_office_id = c.head_office_id AND m.payer_id = c.payer_id
                        AND m.status = c.status
             LIMIT $1 FOR UPDATE OF c SKIP LOCKED
         ),
         gone AS (
             DELETE FROM operation_counts c USING taken t
             WHERE c.head_office_id = ANY (ARRAY[t.head_office_id])
               AND c.payer_id = t.payer_id AND c.status = t.status AND c.slot = t.slot
             RETURNING c.head_office_id, c.payer_id, c.status, c.count
         ),
         summed AS (
             INSERT INTO operation_counts AS c (head_office_id, payer_id, status, slot, count)
             SELECT s.head_office_id, s.payer_id, s.status, nextval('operation_count_slots'), s.total
             FROM (SELECT head_office_id, payer_id, status, sum(count) AS total
                   FROM gone GROUP BY head_office_id, payer_id, status) AS s
             ON CONFLICT (head_office_id, payer_id, status, slot)
                 DO UPDATE SET count = c.count + excluded.count
         )
         SELECT count(*) FROM gone",
    )
    .bind(i64::from(limit))
    .bind(MANY_COUNTS)
    .bind(max_groups(limit))
    .fetch_one(&mut *connection)
    .await?;
    let rows: i64 = done.try_get(0)?;
    let of_files = sum_up_file_bytes(connection, limit).await?;
    Ok(rows.unsigned_abs().saturating_add(of_files))
}

/// The same for the sizes of invoice files.
async fn sum_up_file_bytes(connection: &mut PgConnection, limit: u32) -> Result<u64, WriteError> {
    let done = sqlx::query(
        "WITH many AS (
             SELECT head_office_id FROM invoice_file_bytes
             GROUP BY head_office_id HAVING count(*) >= $2
             ORDER BY count(*) DESC LIMIT $3
         ),
         taken AS (
             SELECT b.head_office_id, b.slot
             FROM invoice_file_bytes b JOIN many m ON m.head_office_id = b.head_office_id
             LIMIT $1 FOR UPDATE OF b SKIP LOCKED
         ),
         gone AS (
             DELETE FROM invoice_file_bytes b USING taken t
             WHERE b.head_office_id = ANY (ARRAY[t.head_office_id]) AND b.slot = t.slot
             RETURNING b.head_office_id, b.bytes
         ),
         summed AS (
             INSERT INTO invoice_file_bytes AS b (head_office_id, slot, bytes)
             SELECT s.head_office_id, nextval('invoice_file_bytes_slots'), s.total
             FROM (SELECT head_office_id, sum(bytes) AS total FROM gone GROUP BY head_office_id) AS s
             ON CONFLICT (head_office_id, slot) DO UPDATE SET bytes = b.bytes + excluded.bytes
         )
         SELECT count(*) FROM gone",
    )
    .bind(i64::from(limit))
    .bind(MANY_COUNTS)
    .bind(max_groups(limit))
    .fetch_one(connection)
    .await?;
    let rows: i64 = done.try_get(0)?;
    Ok(rows.unsigned_abs())
}
