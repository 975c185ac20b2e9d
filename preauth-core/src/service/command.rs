//! Commands on existing operations.

use crate::operation::{
    Actor, Change, Command, CommandContext, Decision, Operation, Rejection, decide, evolve,
};
use crate::port::{ActingOperator, LoadedOperation, Viewer};
use crate::value::{EventType, OperationId, Timestamp, Version};

use super::error::Contended;
use super::{Attempt, Operations, ROUNDS, ReplyOf, Round, ServiceError, Unsettled};

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutcome {
    /// The operation afterwards.
    pub operation: Operation,
    /// The event that was recorded; `None` if nothing had to change.
    pub event: Option<EventType>,
}

/// A command on an operation, with its actor and time.
struct CommandRequest<'a> {
    command: &'a Command,
    actor: Actor,
    reply: Option<&'a ReplyOf<'a, Operation>>,
    /// The version that the caller has seen.
    seen: Option<Version>,
    now: Timestamp,
}

impl Operations {
    /// Executes `command` on the operation `id`, if `viewer` may see it.
    ///
    /// Of concurrent commands on one operation exactly one wins. The losers are refused with
    /// [`Rejection::InvalidTransition`] at once; a new call is decided against the new state. If the
    /// offer is overdue, its expiry is recorded first, and the command is then decided against REPROVED.
    pub async fn command(
        &self,
        viewer: Viewer,
        id: OperationId,
        command: &Command,
        actor: Actor,
        now: Timestamp,
    ) -> Result<CommandOutcome, ServiceError> {
        self.command_with_reply(viewer, id, command, actor, None, now)
            .await
    }

    /// Executes a command like [`Operations::command`], and stores an answer with the change. `reply`
    /// makes the answer if the command was sent under an idempotency key (see [`Operations::once`]).
    pub async fn command_with_reply(
        &self,
        viewer: Viewer,
        id: OperationId,
        command: &Command,
        actor: Actor,
        reply: Option<&ReplyOf<'_, Operation>>,
        now: Timestamp,
    ) -> Result<CommandOutcome, ServiceError> {
        let asked = CommandRequest {
            command,
            actor,
            reply,
            seen: self.if_version,
            now,
        };
        let mut unsettled = Unsettled::default();
        let mut last = ServiceError::from(Contended);
        for _ in 0..ROUNDS {
            let round = self.command_once(viewer, id, &asked, &mut unsettled);
            match round.await {
                Ok(Round::Done(commanded)) => return Ok(*commanded),
                Ok(Round::Again(failure)) => last = failure,
                Err(failure) => return Err(unsettled.or_unknown(failure)),
            }
        }
        Err(unsettled.or_unknown(last))
    }

    async fn command_once(
        &self,
        viewer: Viewer,
        id: OperationId,
        asked: &CommandRequest<'_>,
        unsettled: &mut Unsettled<Box<CommandOutcome>>,
    ) -> Result<Round<Box<CommandOutcome>>, ServiceError> {
        let loaded = self.store.load_operation(id).await?;
        // Look up after the load: the loaded version may come from an attempt.
        if let Some(done) = self.applied(unsettled).await? {
            return Ok(Round::Done(done));
        }
        let loaded = loaded.filter(|found| viewer.sees(&found.operation));
        let loaded = loaded.ok_or(Rejection::NotFound)?;
        let stored = &loaded.operation;
        if unsettled.drop_unless(|it| it.operation.version > stored.version) {
            return Err(lost_race(stored).into());
        }
        if let Some(overdue) = overdue_in_the_way(&loaded, asked.command, asked.now) {
            // The next round loads the current state, whether the expiry or something else was recorded.
            return Round::after_expiry(self.expire(overdue, asked.now).await);
        }
        Ok(match self.change(&loaded, asked, unsettled).await? {
            Attempt::Done(commanded) => Round::Done(commanded),
            Attempt::InProgress if asked.reply.is_some() && unsettled.is_empty() => {
                return Err(ServiceError::IdempotencyInProgress);
            }
            Attempt::Conflict | Attempt::InProgress if unsettled.is_empty() => {
                return Err(lost_race(stored).into());
            }
            // The conflict may be with an earlier attempt of this call; the next round loads what is
            // stored.
            Attempt::Conflict | Attempt::InProgress => Round::Again(Contended.into()),
            Attempt::Failed(failure) => Round::Again(failure),
        })
    }

    /// Records the expiry of an overdue offer; `false` if it is not overdue, or no longer.
    pub async fn expire(&self, id: OperationId, now: Timestamp) -> Result<bool, ServiceError> {
        let Some(loaded) = self.store.load_operation(id).await? else {
            return Ok(false);
        };
        if !loaded.operation.is_overdue(now) {
            return Ok(false);
        }
        let mut unsettled = Unsettled::default();
        let asked = CommandRequest {
            command: &Command::Expire,
            actor: Actor::System,
            reply: None,
            seen: None,
            now,
        };
        match self.change(&loaded, &asked, &mut unsettled).await {
            Ok(Attempt::Done(_)) => Ok(true),
            Ok(Attempt::Conflict | Attempt::InProgress) => Ok(false),
            Ok(Attempt::Failed(failure)) | Err(failure) => Err(unsettled.or_unknown(failure)),
        }
    }

    /// Decides the command on the loaded operation and commits the change.
    async fn change(
        &self,
        loaded: &LoadedOperation,
        asked: &CommandRequest<'_>,
        unsettled: &mut Unsettled<Box<CommandOutcome>>,
    ) -> Result<Attempt<Box<CommandOutcome>>, ServiceError> {
        let CommandRequest {
            command,
            actor,
            reply,
            seen,
            now,
        } = *asked;
        let operation = &loaded.operation;
        let change: Change = match decide(operation, command, &self.command_context(loaded), now)? {
            Decision::Change(change) => change,
            Decision::Unchanged => {
                let commanded = CommandOutcome {
                    operation: operation.clone(),
                    event: None,
                };
                return Ok(Attempt::Done(Box::new(commanded)));
            }
        };
        Self::check_seen(seen, operation.version)?;
        let next = evolve(operation, &change);
        let mut commit =
            self.commit_of_change(next.clone(), &change, actor, &loaded.subscriptions, now);
        commit.reply = reply.map(|reply| reply(&next));
        let done = Box::new(CommandOutcome {
            operation: next,
            event: Some(change.event_type()),
        });
        self.attempt(commit, done, unsettled).await
    }

    fn command_context(&self, loaded: &LoadedOperation) -> CommandContext {
        let operator = self.operator.as_ref().map(ActingOperator::identity);
        CommandContext {
            under_four_eyes: operator.filter(|_| self.policy.four_eyes),
            ..loaded.command_context()
        }
    }
}

const fn lost_race(operation: &Operation) -> Rejection {
    Rejection::InvalidTransition {
        status: operation.status(),
    }
}

/// The overdue offer whose expiry must be recorded before `command` can be decided: the operation
/// itself, or the one that holds its invoice.
fn overdue_in_the_way(
    loaded: &LoadedOperation,
    command: &Command,
    now: Timestamp,
) -> Option<OperationId> {
    let itself = Some(&loaded.operation).filter(|_| *command != Command::Expire);
    let overdue = itself.into_iter().chain(&loaded.holder);
    let mut overdue = overdue.filter(|operation| operation.is_overdue(now));
    overdue.next().map(|operation| operation.id)
}
