//! The outbox for the dispatcher. Due times are the service's; leases expire by SQLite's own clock.

mod claim;
mod finish;
mod forward;

use async_trait::async_trait;
use preauth_core::port::{Attempt, Claim, Claimed, Leased, Outbox, Unavailable, Verdict};
use preauth_core::value::{EndpointId, Timestamp};
use sqlx::Row;

use super::SqliteStore;
use super::waiting::waiting;
use crate::store::error::{Fault, unavailable};
use crate::store::finished::Finished;
use crate::store::sql::deliveries;

#[async_trait]
impl Outbox for SqliteStore {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, Unavailable> {
        // A power failure may undo a lease, but its holder is lost with it.
        let claimed = self
            .writer
            .write_relaxed(claim.clone(), |connection, claim| {
                Box::pin(claim::claim(connection, claim))
            });
        let (claimed, unreadable) = claimed.await.map_err(unavailable)?;
        self.set_aside.note(unreadable);
        Ok(claimed)
    }

    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable> {
        let finished = Finished::new(leased, attempt, verdict);
        self.writer
            .write(finished, |connection, finished| {
                Box::pin(finish::finish(connection, finished))
            })
            .await
            .map_err(unavailable)
    }

    async fn note_slow(&self, endpoints: &[EndpointId]) -> Result<(), Unavailable> {
        self.writer
            .write_relaxed(endpoints.to_vec(), |connection, endpoints| {
                Box::pin(deliveries::lease::note_slow(connection, endpoints))
            })
            .await
            .map_err(unavailable)
    }

    async fn release(&self, leased: &Leased) -> Result<(), Unavailable> {
        self.writer
            .write_relaxed((leased.delivery, leased.token), |connection, lease| {
                Box::pin(deliveries::lease::release(connection, lease))
            })
            .await
            .map_err(unavailable)
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        let mut reader = self.reader().await?;
        // One step of `waiting` per endpoint with pending deliveries, however many they have.
        let row = sqlx::query(concat!(
            "WITH RECURSIVE ",
            waiting!(),
            "
             SELECT min((SELECT d.next_attempt_at FROM deliveries d
                         WHERE d.status = 'PENDING' AND d.endpoint_id = e.id
                           AND (d.leased_until IS NULL
                                OR d.leased_until <= CAST(unixepoch('subsec') * 1000 AS INTEGER))
                         ORDER BY d.next_attempt_at, d.id LIMIT 1)) AS next_attempt_at
             FROM waiting w JOIN endpoints e ON e.id = w.endpoint_id
             WHERE e.paused_at IS NULL AND e.deleted_at IS NULL"
        ))
        .fetch_one(&mut *reader)
        .await
        .map_err(Fault::from)?;
        let millis: Option<i64> = row.try_get(0).map_err(Fault::from)?;
        Ok(millis.and_then(Timestamp::from_unix_millis))
    }

    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        let brought = self
            .writer
            .write_relaxed((now, limit), |connection, input| {
                Box::pin(forward::bring_forward(connection, input))
            })
            .await
            .map_err(unavailable)?;
        if brought > 0 {
            self.waiting.notify_one();
        }
        Ok(brought)
    }
}
