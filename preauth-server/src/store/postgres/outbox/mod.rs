//! The dispatcher's side. Due times are the service's; leases end by PostgreSQL's own clock, the same for every instance.

mod claim;
mod finish;
mod outcomes;

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{Attempt, Claim, Leased, Outbox, Unavailable, Verdict};
use preauth_core::value::Timestamp;
use sqlx::PgConnection;

use super::PostgresStore;
use super::error::{Fault, unavailable};
use super::held::Turns;
use super::session;
use finish::{Finished, Recorded};
pub(super) use finish::{Finisher, LIMITS};

#[async_trait]
impl Outbox for PostgresStore {
    async fn claim(&self, claim: &Claim) -> Result<Vec<Leased>, Unavailable> {
        let claimed = session::write(&self.claims, claim::BEGIN, *claim, |connection, claim| {
            Box::pin(claim::claim(connection, claim))
        });
        let (leased, unreadable) = claimed.await.map_err(unavailable)?;
        self.set_aside.note(unreadable);
        Ok(leased)
    }

    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable> {
        let finished = Arc::new(Finished {
            delivery: leased.delivery,
            token: leased.token,
            endpoint: leased.endpoint,
            endpoint_is_slow: leased.endpoint_is_slow,
            trigger: leased.trigger,
            attempt: attempt.clone(),
            verdict,
        });
        let mut turns = Turns::begin();
        loop {
            let recorded = self.finisher.ask(Arc::clone(&finished)).await;
            match recorded.map_err(Fault::from)?? {
                Recorded::Done => return Ok(true),
                Recorded::LeaseLost => return Ok(false),
                Recorded::Held if turns.next().await => {}
                Recorded::Held => return Err(Fault::StillLocked.into()),
            }
        }
    }

    async fn release(&self, leased: &Leased) -> Result<(), Unavailable> {
        self.write_relaxed((leased.delivery, leased.token), |connection, lease| {
            Box::pin(finish::release(connection, lease))
        })
        .await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        let due = session::read(&self.claims, &(), |connection, ()| {
            Box::pin(next_due(connection))
        });
        Ok(due.await?)
    }
}

/// One step of `waiting` per endpoint with pending deliveries, however many they are.
async fn next_due(connection: &mut PgConnection) -> Result<Option<Timestamp>, Fault> {
    let millis: Option<i64> = sqlx::query_scalar(
        "WITH RECURSIVE waiting (endpoint_id) AS (
             (SELECT endpoint_id FROM deliveries WHERE status = 'PENDING'
              ORDER BY endpoint_id LIMIT 1)
             UNION ALL
             SELECT (SELECT d.endpoint_id FROM deliveries d
                     WHERE d.status = 'PENDING' AND d.endpoint_id > w.endpoint_id
                     ORDER BY d.endpoint_id LIMIT 1)
             FROM waiting w WHERE w.endpoint_id IS NOT NULL
         )
         SELECT min((SELECT d.next_attempt_at FROM deliveries d
                     WHERE d.status = 'PENDING' AND d.endpoint_id = e.id
                       AND (d.leased_until IS NULL
                            OR d.leased_until
                               <= (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT)
                     ORDER BY d.next_attempt_at, d.id LIMIT 1))
         FROM waiting w JOIN endpoints e ON e.id = w.endpoint_id
         WHERE e.paused_at IS NULL AND e.deleted_at IS NULL",
    )
    .fetch_one(connection)
    .await?;
    Ok(millis.and_then(Timestamp::from_unix_millis))
}
