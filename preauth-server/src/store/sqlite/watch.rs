//! Counts waiting work from indexes, up to a limit.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;

use super::waiting::waiting;
use crate::store::error::Fault;
use crate::store::sql::deadlines::deadlines;
use crate::store::watch::{COUNT_LIMIT, Deadlines, Usage, Waiting, Watch};

use super::SqliteStore;
use super::rows::Columns;

#[async_trait]
impl Watch for SqliteStore {
    async fn waiting(&self, now: Timestamp) -> Result<Waiting, Unavailable> {
        let mut reader = self.reader().await?;
        // One step of `waiting` per endpoint with pending deliveries, however many they have.
        let row = sqlx::query(concat!(
            "WITH RECURSIVE ",
            waiting!(),
            ",
             known (endpoint_id, is_paused) AS MATERIALIZED (
                 SELECT e.id, e.paused_at IS NOT NULL
                 FROM waiting w JOIN endpoints e ON e.id = w.endpoint_id
                 WHERE e.deleted_at IS NULL
             )
             SELECT
                 (SELECT count(*) FROM (
                      SELECT 1 FROM known k CROSS JOIN deliveries d
                      WHERE NOT k.is_paused AND d.endpoint_id = k.endpoint_id
                        AND d.status = 'PENDING' AND d.next_attempt_at <= ?1
                      LIMIT ?2)) AS due_deliveries,
                 (SELECT count(*) FROM (
                      SELECT 1 FROM known k CROSS JOIN deliveries d
                      WHERE k.is_paused AND d.endpoint_id = k.endpoint_id
                        AND d.status = 'PENDING'
                      LIMIT ?2)) AS paused_deliveries,
             (SELECT count(*) FROM (
                  SELECT 1 FROM deliveries WHERE status = 'PENDING' AND attempts_made > 0
                  LIMIT ?2)) AS retried_deliveries,
             (SELECT min(created_at) FROM deliveries
              WHERE status = 'PENDING' AND attempts_made > 0) AS oldest_retried_at,
             (SELECT count(*) FROM known WHERE is_paused) AS paused_endpoints,
             (SELECT count(*) FROM (
                  SELECT 1 FROM endpoints
                  WHERE failing_since IS NOT NULL AND paused_at IS NULL AND deleted_at IS NULL
                  LIMIT ?2) AS counted) AS failing_endpoints,
                 (SELECT count(*) FROM (
                      SELECT 1 FROM notices WHERE status = 'PENDING' LIMIT ?2)) AS staged_mails"
        ))
        .bind(now.unix_millis())
        .bind(COUNT_LIMIT)
        .fetch_one(&mut *reader)
        .await
        .map_err(Fault::from)?;
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

    async fn deadlines(&self, now: Timestamp) -> Result<Deadlines, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(deadlines(&mut *reader, now).await?)
    }

    async fn offices_with_files_of(&self, bytes: u64) -> Result<u32, Unavailable> {
        let mut reader = self.reader().await?;
        let row = sqlx::query(
            "SELECT count(*) AS offices FROM (
                 SELECT 1 FROM invoice_file_bytes WHERE bytes >= ?1 LIMIT ?2)",
        )
        .bind(i64::try_from(bytes).unwrap_or(i64::MAX))
        .bind(COUNT_LIMIT)
        .fetch_one(&mut *reader)
        .await
        .map_err(Fault::from)?;
        Ok(Columns::of("invoice_file_bytes", &row)
            .raw("offices")
            .map_err(Fault::from)?)
    }

    fn usage(&self) -> Usage {
        let shared = self.offers.refusals().and(self.operations.refusals());
        let own = self.reads.refusals().and(self.writer.refusals());
        let refusals = own.and(shared);
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        Usage {
            log_bytes: Some(std::fs::metadata(log).map_or(0, |file| file.len())),
            ..Usage::of("sqlite", &self.readers, Some(self.writer.queue()), refusals)
        }
    }

    fn set_aside(&self) -> Vec<(&'static str, u64)> {
        self.set_aside.counts()
    }
}
