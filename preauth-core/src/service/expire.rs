//! Records the expiry of many offers at once.

use std::error::Error as StdError;

use crate::operation::{Actor, Command, Decision, Operation, decide, evolve};
use crate::port::{Commit, CommitError, LoadedOperation, Unavailable};
use crate::value::{EventType, OperationId, Timestamp};

use super::{CommandOutcome, Operations};

/// The result of one expiry run.
#[derive(Debug, Default)]
pub struct ExpiryReport {
    /// Offers whose expiry was recorded.
    pub expired: Vec<CommandOutcome>,
    /// Number of offers that another commit closed first.
    pub closed_by_others: usize,
    /// Offers whose expiry was not recorded, or whose outcome is unknown; they stay overdue until it is
    /// recorded.
    pub failed: Vec<(OperationId, Box<dyn StdError + Send + Sync>)>,
}

impl Operations {
    /// Records the expiry of at most `limit` overdue offers, in one batch as far as the host can.
    ///
    /// Each expiry is decided separately and has its own event. Any number of callers may run this
    /// concurrently: an expiry is recorded once.
    pub async fn expire_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<ExpiryReport, Unavailable> {
        let overdue = self.store.load_overdue(now, limit).await?;
        let (done, commits): (Vec<_>, Vec<_>) = overdue
            .iter()
            .filter_map(|loaded| self.expiry(loaded, now))
            .unzip();
        let outcomes = self.store.commit_all(commits).await;
        let mut report = ExpiryReport::default();
        for (expired, outcome) in done.into_iter().zip(outcomes) {
            match outcome {
                Ok(()) => report.expired.push(expired),
                Err(CommitError::Conflict | CommitError::InProgress) => {
                    report.closed_by_others = report.closed_by_others.saturating_add(1);
                }
                Err(
                    CommitError::NotDone(cause)
                    | CommitError::Busy(cause)
                    | CommitError::Unknown(cause),
                ) => {
                    report.failed.push((expired.operation.id, cause));
                }
            }
        }
        Ok(report)
    }

    /// The expiry of an offer and the commit that records it; `None` if the offer is not overdue.
    fn expiry(&self, loaded: &LoadedOperation, now: Timestamp) -> Option<(CommandOutcome, Commit)> {
        let operation: &Operation = &loaded.operation;
        let decision = decide(operation, &Command::Expire, &loaded.command_context(), now).ok()?;
        let Decision::Change(change) = decision else {
            return None;
        };
        let event: EventType = change.event_type();
        let next = evolve(operation, &change);
        let mut commit = self.commit_of_change(
            next.clone(),
            &change,
            Actor::System,
            &loaded.subscriptions,
            now,
        );
        commit.intake = self.intake.clone();
        let expired = CommandOutcome {
            operation: next,
            event: Some(event),
        };
        Some((expired, commit))
    }
}
