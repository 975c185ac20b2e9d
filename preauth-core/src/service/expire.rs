//! Time passes for many offers at once.

use std::error::Error as StdError;

use crate::operation::{Actor, Command, Decision, Operation, decide, evolve};
use crate::port::{Commit, CommitError, LoadedOperation, Unavailable};
use crate::value::{EventType, OperationId, Timestamp};

use super::{CommandOutcome, Operations};

/// What one sweep came to.
#[derive(Debug, Default)]
pub struct ExpiryReport {
    /// Offers whose expiry it recorded.
    pub expired: Vec<CommandOutcome>,
    /// Offers that somebody else closed first.
    pub closed_by_others: usize,
    /// Offers whose expiry was not recorded, or perhaps; they are overdue until it is.
    pub failed: Vec<(OperationId, Box<dyn StdError + Send + Sync>)>,
}

impl Operations {
    /// Records the expiry of at most `limit` overdue offers, together as far as the host can.
    ///
    /// Each is decided by the rules on its own, and has an event of its own. Any number of callers
    /// may sweep at once: an expiry is recorded once.
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

    /// The expiry of an offer and the commit that records it; `None` when its time has not passed.
    fn expiry(&self, loaded: &LoadedOperation, now: Timestamp) -> Option<(CommandOutcome, Commit)> {
        let operation: &Operation = &loaded.operation;
        let decision = decide(operation, &Command::Expire, &loaded.beside(), now).ok()?;
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
