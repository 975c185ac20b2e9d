//! Ends a lease: with an attempt and its verdict, or without one.
//!
//! Attempts that end while others are being recorded are recorded together, by one statement (see
//! `outcomes`).

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::delivery::is_slow;
use preauth_core::port::{Attempt, Trigger, Unavailable, Verdict};
use preauth_core::value::{DeliveryId, EndpointId, Timestamp};
use sqlx::PgConnection;

use super::super::connections::Connections;
use super::super::grouping::{Limits, Serve};
use super::super::held::HeldRows;
use super::super::session::{DURABLE, Failure, autocommit, write};
use super::outcomes;
use crate::store::error::{WriteError, unavailable, unavailable_to_all};
use crate::store::sql::mails::pause;

/// Maximum number of waiting attempts, and of those per statement. A dispatcher waits for each
/// record before it begins another attempt, so there are never more than its slots.
pub(in super::super) const LIMITS: Limits = Limits {
    queue: 1024,
    group: 128,
    groups: 1,
};

/// Records attempts in groups.
#[derive(Debug)]
pub(in super::super) struct Finisher {
    connections: Connections,
    held: HeldRows,
}

/// An attempt under a lease, and its consequences.
#[derive(Debug)]
pub(in super::super) struct Finished {
    pub(super) delivery: DeliveryId,
    pub(super) token: i64,
    pub(super) endpoint: EndpointId,
    /// Its state when the delivery was leased.
    pub(super) endpoint_is_slow: bool,
    pub(super) trigger: Trigger,
    pub(super) attempt: Attempt,
    pub(super) verdict: Verdict,
}

impl Finished {
    /// Whether the endpoint is slow now; `None` if the attempt does not show it.
    pub(super) fn pace(&self) -> Option<bool> {
        let is_slow = is_slow(self.attempt.duration);
        let is_shown = is_slow || self.endpoint_is_slow || self.verdict == Verdict::Delivered;
        is_shown.then_some(is_slow)
    }

    /// Whether its endpoint is paused as unreachable.
    pub(super) const fn pauses(&self) -> bool {
        match self.verdict {
            Verdict::Delivered => false,
            Verdict::RetryAt { pause_endpoint, .. } | Verdict::Failed { pause_endpoint } => {
                pause_endpoint
            }
        }
    }
}

/// The outcome of recording an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Recorded {
    Done,
    /// The lease is no longer the delivery's newest; nothing was recorded.
    LeaseLost,
    /// The delivery or its endpoint is locked by others; nothing was recorded.
    Held,
}

#[async_trait]
impl Serve for Finisher {
    type Request = Arc<Finished>;
    type Answer = Result<Recorded, Unavailable>;

    async fn serve(&self, group: Vec<Self::Request>) -> Vec<Self::Answer> {
        if group.iter().any(|finished| finished.pauses()) {
            return self.one_by_one(group).await;
        }
        let left_out = self.held.are_left_out();
        let mut recorded = self.record(&group, left_out).await;
        if !left_out && matches!(recorded, Err(Failure::Locked)) {
            self.held.note();
            recorded = self.record(&group, true).await;
        }
        match recorded {
            Ok(recorded) => {
                if recorded.contains(&Recorded::Held) {
                    self.held.note();
                }
                recorded.into_iter().map(Ok).collect()
            }
            Err(Failure::Locked) => group.iter().map(|_| Ok(Recorded::Held)).collect(),
            Err(Failure::OfSome(_)) if group.len() > 1 => self.one_by_one(group).await,
            Err(Failure::OfSome(error) | Failure::OfAll(error)) => {
                unavailable_to_all(group.len(), error)
            }
        }
    }
}

impl Finisher {
    pub(in super::super) fn new(connections: Connections) -> Self {
        Self {
            connections,
            held: HeldRows::default(),
        }
    }

    async fn record(
        &self,
        group: &[Arc<Finished>],
        leave_out: bool,
    ) -> Result<Vec<Recorded>, Failure> {
        let input = (group, leave_out);
        autocommit(
            &self.connections,
            &input,
            |connection, (group, leave_out)| {
                Box::pin(outcomes::record(connection, group, *leave_out))
            },
        )
        .await
    }

    async fn one_by_one(&self, group: Vec<Arc<Finished>>) -> Vec<Result<Recorded, Unavailable>> {
        let mut answers = Vec::with_capacity(group.len());
        for finished in group {
            let recorded = write(
                &self.connections,
                DURABLE,
                finished,
                |connection, finished| Box::pin(record_and_pause(connection, finished)),
            );
            answers.push(match recorded.await {
                Ok(recorded) => Ok(recorded),
                Err(WriteError::Busy(_)) => Ok(Recorded::Held),
                Err(error) => Err(unavailable(error)),
            });
        }
        answers
    }
}

async fn record_and_pause(
    connection: &mut PgConnection,
    finished: &Arc<Finished>,
) -> Result<Recorded, WriteError> {
    // Skipped when locked, so that others' attempts do not wait.
    let recorded = outcomes::record(connection, std::slice::from_ref(finished), true).await?;
    let recorded = recorded.first().copied().unwrap_or(Recorded::LeaseLost);
    if recorded == Recorded::Done && finished.pauses() {
        pause(connection, finished.endpoint, finished.attempt.at).await?;
    }
    Ok(recorded)
}

/// Pauses the endpoint and mails its company, unless the endpoint is already paused, or removed.
async fn pause(
    connection: &mut PgConnection,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<(), WriteError> {
    let sql = "UPDATE endpoints SET paused_at = $2
               WHERE id = $1 AND paused_at IS NULL AND deleted_at IS NULL";
    let done = sqlx::query(sql)
        .bind(endpoint.as_uuid())
        .bind(at.unix_millis())
        .execute(&mut *connection)
        .await?;
    if done.rows_affected() == 1 {
        pause::stage(connection, endpoint, at).await?;
    }
    Ok(())
}

/// Ends a lease without an attempt; does nothing when it is no longer the newest.
pub(super) async fn release(
    connection: &mut PgConnection,
    (delivery, token): &(DeliveryId, i64),
) -> Result<(), WriteError> {
    sqlx::query("UPDATE deliveries SET leased_until = NULL WHERE id = $1 AND lease_token = $2")
        .bind(delivery.as_uuid())
        .bind(token)
        .execute(connection)
        .await?;
    Ok(())
}
