//! Counts waiting work from indexes, up to a limit.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use sqlx::PgConnection;

use super::waiting::waiting;
use crate::fair::Refusals;
use crate::store::error::Fault;
use crate::store::sql::deadlines::deadlines;
use crate::store::watch::{COUNT_LIMIT, Deadlines, Usage, Waiting, Watch};

use super::PostgresStore;
use super::rows::Columns;

#[async_trait]
impl Watch for PostgresStore {
    async fn waiting(&self, now: Timestamp) -> Result<Waiting, Unavailable> {
        let input = (now, self.due_mails.begins_at());
        let waiting = self.read(&input, |connection, (now, mails_from)| {
            Box::pin(waiting(connection, *now, *mails_from))
        });
        Ok(waiting.await?)
    }

    async fn deadlines(&self, now: Timestamp) -> Result<Deadlines, Unavailable> {
        let found = self.read(&now, |connection, now| {
            Box::pin(deadlines(connection, *now))
        });
        Ok(found.await?)
    }

    async fn offices_with_files_of(&self, bytes: u64) -> Result<u32, Unavailable> {
        let found = self.read(&bytes, |connection, bytes| {
            Box::pin(offices_with_files_of(connection, *bytes))
        });
        Ok(found.await?)
    }

    fn usage(&self) -> Usage {
        let refusals = [
            self.writer.refusals(),
            self.bulk_writer.refusals(),
            self.offers.refusals(),
            self.operations.refusals(),
            self.lookups.refusals(),
            self.finisher.refusals(),
            self.mail_finisher.refusals(),
        ];
        let refusals = refusals
            .into_iter()
            .fold(self.room.refusals(), Refusals::and)
            .and(self.room_to_write.refusals());
        Usage {
            switches: Some(*self.primary.switches().borrow()),
            ..Usage::of("postgresql", self.connections.stack(), None, refusals)
        }
    }

    fn set_aside(&self) -> Vec<(&'static str, u64)> {
        self.set_aside.counts()
    }
}

/// One step of `waiting` per endpoint with pending deliveries, however many they have; the limits
/// within keep the planner to the index of each.
async fn waiting(
    connection: &mut PgConnection,
    now: Timestamp,
    mails_from: i64,
) -> Result<Waiting, Fault> {
    let row = sqlx::query(concat!(
        "WITH RECURSIVE ",
        waiting!(),
        ",
         known (endpoint_id, is_paused) AS MATERIALIZED (
             SELECT e.id, e.is_paused
             FROM waiting w CROSS JOIN LATERAL (
                 SELECT e.id, e.paused_at IS NOT NULL AS is_paused, e.deleted_at FROM endpoints e
                 WHERE e.id = w.endpoint_id LIMIT 1) AS e
             WHERE e.deleted_at IS NULL
         )
         SELECT
             (SELECT count(*) FROM (
                  SELECT 1 FROM known k CROSS JOIN LATERAL (
                      SELECT 1 FROM deliveries d
                      WHERE d.status = 'PENDING' AND d.endpoint_id = k.endpoint_id
                        AND d.next_attempt_at <= $1
                      ORDER BY d.next_attempt_at LIMIT $2) AS one
                  WHERE NOT k.is_paused LIMIT $2) AS counted) AS due_deliveries,
             (SELECT count(*) FROM (
                  SELECT 1 FROM known k CROSS JOIN LATERAL (
                      SELECT 1 FROM deliveries d
                      WHERE d.status = 'PENDING' AND d.endpoint_id = k.endpoint_id
                      ORDER BY d.next_attempt_at LIMIT $2) AS one
                  WHERE k.is_paused LIMIT $2) AS counted) AS paused_deliveries,
             (SELECT count(*) FROM (
                  SELECT 1 FROM deliveries WHERE status = 'PENDING' AND attempts_made > 0
                  LIMIT $2) AS counted) AS retried_deliveries,
             (SELECT min(created_at) FROM deliveries
              WHERE status = 'PENDING' AND attempts_made > 0) AS oldest_retried_at,
             (SELECT count(*) FROM known WHERE is_paused) AS paused_endpoints,
             (SELECT count(*) FROM (
                  SELECT 1 FROM endpoints
                  WHERE failing_since IS NOT NULL AND paused_at IS NULL AND deleted_at IS NULL
                  LIMIT $2) AS counted) AS failing_endpoints,
             (SELECT count(*) FROM (
                  SELECT 1 FROM notices WHERE status = 'PENDING' AND next_attempt_at >= $3
                  ORDER BY next_attempt_at LIMIT $2) AS counted) AS staged_mails"
    ))
    .bind(now.unix_millis())
    .bind(i64::from(COUNT_LIMIT))
    .bind(mails_from)
    .fetch_one(connection)
    .await?;
    let columns = Columns::of("deliveries", &row);
    Ok(Waiting {
        due_deliveries: columns.raw("due_deliveries")?,
        paused_deliveries: columns.raw("paused_deliveries")?,
        retried_deliveries: columns.raw("retried_deliveries")?,
        oldest_retried_at: columns.optional_timestamp("oldest_retried_at")?,
        paused_endpoints: columns.raw("paused_endpoints")?,
        failing_endpoints: columns.raw("failing_endpoints")?,
        staged_mails: columns.raw("staged_mails")?,
    })
}

async fn offices_with_files_of(connection: &mut PgConnection, bytes: u64) -> Result<u32, Fault> {
    let row = sqlx::query(
        "SELECT count(*) AS offices FROM (
             SELECT 1 FROM invoice_file_bytes GROUP BY head_office_id
             HAVING sum(bytes) >= $1 LIMIT $2) AS counted",
    )
    .bind(i64::try_from(bytes).unwrap_or(i64::MAX))
    .bind(i64::from(COUNT_LIMIT))
    .fetch_one(connection)
    .await?;
    Ok(Columns::of("invoice_file_bytes", &row).raw("offices")?)
}
