//! Ends leases with an attempt and its verdict.
//!
//! Attempts that end while others are being recorded are recorded together, by one statement (see
//! `outcomes`).

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use sqlx::PgConnection;

use super::super::connections::Connections;
use super::super::held::{HeldRows, Recorded};
use super::super::session::{DURABLE, Failure, autocommit, write};
use super::outcomes;
use crate::store::error::{WriteError, unavailable, unavailable_to_all};
use crate::store::finished::Finished;
use crate::store::grouping::{Limits, Serve};
use crate::store::sql::endpoints::unreachable;

/// Maximum number of waiting attempts, and of those per statement. A dispatcher waits for each
/// record before it begins another attempt, so there are never more than its slots.
pub(in super::super) const LIMITS: Limits = Limits {
    queue: 2048,
    group: 128,
    groups: 1,
};

/// Records attempts in groups.
#[derive(Debug)]
pub(in super::super) struct Finisher {
    connections: Connections,
    held: HeldRows,
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
                Err(WriteError::Locked(_)) => Ok(Recorded::Held),
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
        unreachable::pause(connection, finished).await?;
    }
    Ok(recorded)
}
