//! The outbox for the dispatcher. Due times are the service's; leases expire by PostgreSQL's own
//! clock, which is the same for every instance.

mod claim;
mod cursors;
mod expired;
mod finish;
mod forward;
mod outcomes;

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{Attempt, Claim, Claimed, Leased, Outbox, Unavailable, Verdict};
use preauth_core::value::{EndpointId, Timestamp};
use sqlx::PgConnection;

use super::PostgresStore;
use super::held::until_free;
use super::session;
use crate::store::error::{Fault, unavailable};
use crate::store::finished::Finished;
use crate::store::sql::deliveries;
pub(super) use cursors::Cursors;
use cursors::{Look, queues};
pub(super) use finish::{Finisher, LIMITS};
pub(super) use outcomes::warm_up;

#[async_trait]
impl Outbox for PostgresStore {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, Unavailable> {
        self.find_expired().await?;
        let look = self.cursors.look();
        let input = (claim.clone(), look.clone());
        let found = session::write(&self.claims, claim::BEGIN, input, |connection, input| {
            Box::pin(claim::claim(connection, input))
        });
        let found = found.await.map_err(unavailable)?;
        self.cursors.note(&look, found.took, &found.cursors);
        self.set_aside.note(found.unreadable);
        Ok(found.claimed)
    }

    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable> {
        let finished = Arc::new(Finished::new(leased, attempt, verdict));
        until_free(|| self.finisher.ask(Arc::clone(&finished))).await
    }

    async fn note_slow(&self, endpoints: &[EndpointId]) -> Result<(), Unavailable> {
        self.write_relaxed(endpoints.to_vec(), |connection, endpoints| {
            Box::pin(deliveries::lease::note_slow(connection, endpoints))
        })
        .await
    }

    async fn release(&self, leased: &Leased) -> Result<(), Unavailable> {
        self.write_relaxed((leased.delivery, leased.token), |connection, lease| {
            Box::pin(deliveries::lease::release(connection, lease))
        })
        .await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        let look = self.cursors.look_without_claim();
        let due = session::read(&self.claims, &look, |connection, look| {
            Box::pin(next_due(connection, look))
        });
        Ok(due.await?)
    }

    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        let brought = self
            .write_relaxed((now, limit), |connection, input| {
                Box::pin(forward::bring_forward(connection, input))
            })
            .await?;
        if brought > 0 {
            // They are due before deliveries that were found since.
            self.cursors.look_everywhere();
            self.wake.all();
        }
        Ok(brought)
    }
}

impl PostgresStore {
    /// Moves cursors back to deliveries with expired leases: the next poll would miss them.
    async fn find_expired(&self) -> Result<(), Unavailable> {
        let Some(expiry) = self.cursors.expiry() else {
            return Ok(());
        };
        let found = session::read(&self.claims, &expiry, |connection, (endpoints, from)| {
            Box::pin(expired::find(connection, endpoints, *from))
        });
        let (due_from, expired_from) = found.await?;
        self.cursors.note_expired(&due_from, expired_from);
        Ok(())
    }
}

/// One step of `waiting` per endpoint with pending deliveries, however many they have.
async fn next_due(connection: &mut PgConnection, look: &Look) -> Result<Option<Timestamp>, Fault> {
    let millis: Option<i64> = sqlx::query_scalar(concat!(
        "WITH RECURSIVE ",
        queues!("$1", "$2", "$3", "$4", "$5"),
        "SELECT min((SELECT d.next_attempt_at FROM deliveries d
                     WHERE d.status = 'PENDING' AND d.endpoint_id = e.id
                       AND d.next_attempt_at >= q.due_from
                       AND (d.leased_until IS NULL
                            OR d.leased_until
                               <= (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT)
                     ORDER BY d.next_attempt_at, d.id LIMIT 1))
         FROM queues q CROSS JOIN LATERAL (
             SELECT e.id, e.paused_at, e.deleted_at FROM endpoints e
             WHERE e.id = q.endpoint_id LIMIT 1) AS e
         WHERE e.paused_at IS NULL AND e.deleted_at IS NULL",
    ))
    .bind(&look.after)
    .bind(&look.before)
    .bind(&look.endpoints)
    .bind(&look.due_from)
    .bind(&look.leased_from)
    .fetch_one(connection)
    .await?;
    Ok(millis.and_then(Timestamp::from_unix_millis))
}
