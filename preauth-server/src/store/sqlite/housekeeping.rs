//! Removes records after their retention, in small batches.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{Outbox, Unavailable};
use preauth_core::value::Timestamp;
use sqlx::{Row, SqliteConnection};
use tokio::sync::Notify;

use crate::store::error::{WriteError, unavailable};
use crate::store::sql::reports::{Counts, FAILED_DELIVERY};
use crate::store::sql::{mails, personal_data};
use crate::store::{Housekeeping, OldFiles, SETTLE_BATCH_SIZE};

use super::rows::clamped;
use super::{SqliteStore, feed, settle, statistics};

#[async_trait]
impl Housekeeping for SqliteStore {
    async fn settle_endpoints(&self, limit: u32) -> Result<u64, Unavailable> {
        let settled = self
            .writer
            .write_relaxed(limit, |connection, limit| {
                Box::pin(settle::settle(connection, limit))
            })
            .await
            .map_err(unavailable)?;
        if settled.made_due > 0 {
            self.waiting.notify_one();
        }
        Ok(settled.ended.saturating_add(settled.made_due))
    }

    fn endpoints_unsettled(&self) -> Arc<Notify> {
        Arc::clone(&self.unsettled)
    }

    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        let deliveries = Outbox::bring_forward(self, now, limit).await?;
        let mails = self
            .writer
            .write_relaxed((now, limit), |connection, input| {
                Box::pin(mails::bring_forward(connection, input))
            })
            .await
            .map_err(unavailable)?;
        Ok(deliveries.saturating_add(mails))
    }

    async fn notify_of_failing(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        self.writer
            .write_relaxed((now, limit), |connection, input| {
                Box::pin(mails::notify_of_failing(connection, input))
            })
            .await
            .map_err(unavailable)
    }

    async fn forget_expired_replies(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        self.writer
            .write_relaxed((now, limit), |connection, input| {
                Box::pin(forget_replies(connection, input))
            })
            .await
            .map_err(unavailable)
    }

    async fn forget_rate_windows(
        &self,
        now: Timestamp,
        unused_since: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        self.windows.save(&self.writer).await.map_err(unavailable)?;
        self.writer
            .write_relaxed((now, unused_since, limit), |connection, input| {
                Box::pin(forget_windows(connection, input))
            })
            .await
            .map_err(unavailable)
    }

    async fn forget_ended_deliveries(
        &self,
        ended_before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        self.writer
            .write_relaxed((ended_before, limit), |connection, input| {
                Box::pin(forget_deliveries(connection, input))
            })
            .await
            .map_err(unavailable)
    }

    async fn forget_ended_mails(
        &self,
        ended_before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        self.writer
            .write_relaxed((ended_before, limit), |connection, input| {
                Box::pin(forget_mails(connection, input))
            })
            .await
            .map_err(unavailable)
    }

    async fn forget_old_files(
        &self,
        now: Timestamp,
        ended_before: Timestamp,
        after: i64,
        limit: u32,
    ) -> Result<OldFiles, Unavailable> {
        self.writer
            .write_relaxed((now, ended_before, after, limit), |connection, input| {
                Box::pin(personal_data::forget_old_files(connection, input))
            })
            .await
            .map_err(unavailable)
    }

    async fn forget_event_numbers(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        self.writer
            .write_relaxed((before, limit), |connection, input| {
                Box::pin(feed::forget(connection, input))
            })
            .await
            .map_err(unavailable)
    }

    /// Here each count is one row. Counts that another program made for the planner are removed.
    async fn sum_up_counts(&self, _limit: u32) -> Result<u64, Unavailable> {
        let dropped = self.writer.write_relaxed((), |connection, ()| {
            Box::pin(async move { Ok(statistics::drop_all(connection).await?) })
        });
        dropped.await.map_err(unavailable)?;
        Ok(0)
    }
}

impl SqliteStore {
    /// Settles one batch before the caller gets its answer; the janitor does the rest, also when
    /// this fails.
    pub(super) async fn settle_first_batch(&self) {
        let settled = self.settle_endpoints(SETTLE_BATCH_SIZE).await;
        if !settled.is_ok_and(|settled| settled < u64::from(SETTLE_BATCH_SIZE)) {
            self.unsettled.notify_one();
        }
    }
}

async fn forget_replies(
    connection: &mut SqliteConnection,
    (now, limit): &(Timestamp, u32),
) -> Result<u64, WriteError> {
    let done = sqlx::query(
        "DELETE FROM idempotency_replies WHERE rowid IN (
             SELECT rowid FROM idempotency_replies WHERE expires_at <= ?1
             ORDER BY expires_at LIMIT ?2)",
    )
    .bind(now.unix_millis())
    .bind(limit)
    .execute(&mut *connection)
    .await?;
    let rest = clamped(u64::from(*limit).saturating_sub(done.rows_affected()));
    let of_platform = sqlx::query(
        "DELETE FROM platform_replies WHERE rowid IN (
             SELECT rowid FROM platform_replies WHERE expires_at <= ?1
             ORDER BY expires_at LIMIT ?2)",
    )
    .bind(now.unix_millis())
    .bind(rest)
    .execute(connection)
    .await?;
    Ok(done
        .rows_affected()
        .saturating_add(of_platform.rows_affected()))
}

async fn forget_windows(
    connection: &mut SqliteConnection,
    (now, unused_since, limit): &(Timestamp, Timestamp, u32),
) -> Result<u64, WriteError> {
    let done = sqlx::query(
        "DELETE FROM rate_windows WHERE api_key_id IN (
             SELECT w.api_key_id FROM rate_windows w JOIN api_keys k ON k.id = w.api_key_id
             WHERE w.last_used_at < ?2 AND (k.revoked_at IS NOT NULL OR k.expires_at <= ?1)
             ORDER BY w.last_used_at LIMIT ?3)",
    )
    .bind(now.unix_millis())
    .bind(unused_since.unix_millis())
    .bind(limit)
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// The foreign key deletes the attempts as well. Those that were given up stay in reports.
async fn forget_deliveries(
    connection: &mut SqliteConnection,
    (ended_before, limit): &(Timestamp, u32),
) -> Result<u64, WriteError> {
    let gone = sqlx::query(
        "DELETE FROM deliveries WHERE id IN (
             SELECT id FROM deliveries WHERE ended_at IS NOT NULL AND ended_at < ?1
             ORDER BY ended_at, id LIMIT ?2)
         RETURNING head_office_id, created_at,
             status = 'FAILED' AND event_type <> 'webhook.test' AS is_reported",
    )
    .bind(ended_before.unix_millis())
    .bind(limit)
    .fetch_all(&mut *connection)
    .await?;
    let mut counts = Counts::default();
    for row in &gone {
        let at = Timestamp::from_unix_millis(row.try_get("created_at")?);
        if let (true, Some(at)) = (row.try_get("is_reported")?, at) {
            counts.add_one(row.try_get("head_office_id")?, at, FAILED_DELIVERY);
        }
    }
    counts.write(connection).await?;
    Ok(u64::try_from(gone.len()).unwrap_or_default())
}

async fn forget_mails(
    connection: &mut SqliteConnection,
    (ended_before, limit): &(Timestamp, u32),
) -> Result<u64, WriteError> {
    let done = sqlx::query(
        "DELETE FROM notices WHERE id IN (
             SELECT id FROM notices WHERE ended_at IS NOT NULL AND ended_at < ?1
             ORDER BY ended_at, id LIMIT ?2)",
    )
    .bind(ended_before.unix_millis())
    .bind(limit)
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
