//! Everything that may be asked of an existing operation.

use crate::operation::{Actor, Change, Command, Decision, Operation, Rejection, decide, evolve};
use crate::port::{CommitError, LoadedOperation, Viewer};
use crate::value::{EventId, EventType, OperationId, Timestamp};

use super::error::Contended;
use super::{ROUNDS, Service, ServiceError};

/// What a command led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commanded {
    /// The operation afterwards.
    pub operation: Operation,
    /// The event that was recorded; none when nothing had to change.
    pub event: Option<EventType>,
}

/// How one round of a command ended.
enum Round {
    Done(Box<Commanded>),
    LostRace,
    Again(ServiceError),
}

impl Service {
    /// Asks `command` of the operation `id`, as far as `viewer` may see it.
    ///
    /// Of concurrent commands on one operation exactly one wins. The losers are refused with
    /// [`Rejection::InvalidTransition`] at once; a fresh call sees the new state and gets its own
    /// answer. An overdue offer has its expiry recorded first, and the command is then judged
    /// against REPROVED.
    pub async fn command(
        &self,
        viewer: Viewer,
        id: OperationId,
        command: &Command,
        actor: Actor,
        now: Timestamp,
    ) -> Result<Commanded, ServiceError> {
        let mut last = ServiceError::NotDone(Contended.into());
        for _ in 0..ROUNDS {
            let loaded = self.store.load_operation(id).await?;
            let Some(loaded) = loaded.filter(|found| viewer.sees(&found.operation)) else {
                return Err(Rejection::NotFound.into());
            };
            if loaded.operation.is_overdue(now) && *command != Command::Expire {
                // Whether this expiry or another command was recorded, the next round sees it.
                self.attempt(&loaded, &Command::Expire, Actor::System, now)
                    .await?;
                continue;
            }
            if let Some(holder) = loaded
                .holder
                .as_ref()
                .filter(|holder| holder.is_overdue(now))
            {
                self.expire(holder.id, now).await?;
                continue;
            }
            match self.attempt(&loaded, command, actor, now).await? {
                Round::Done(commanded) => return Ok(*commanded),
                Round::LostRace => {
                    let status = loaded.operation.status();
                    return Err(Rejection::InvalidTransition { status }.into());
                }
                Round::Again(error) => last = error,
            }
        }
        Err(last)
    }

    /// Records the expiry of an overdue offer; `false` when it is not overdue, or no more.
    pub async fn expire(&self, id: OperationId, now: Timestamp) -> Result<bool, ServiceError> {
        let Some(loaded) = self.store.load_operation(id).await? else {
            return Ok(false);
        };
        if !loaded.operation.is_overdue(now) {
            return Ok(false);
        }
        match self
            .attempt(&loaded, &Command::Expire, Actor::System, now)
            .await?
        {
            Round::Done(_) => Ok(true),
            Round::LostRace => Ok(false),
            Round::Again(error) => Err(error),
        }
    }

    async fn attempt(
        &self,
        loaded: &LoadedOperation,
        command: &Command,
        actor: Actor,
        now: Timestamp,
    ) -> Result<Round, ServiceError> {
        let operation = &loaded.operation;
        let holder = loaded.holder.as_ref().map(|holder| holder.id);
        let change: Change = match decide(operation, command, holder, now)? {
            Decision::Change(change) => change,
            Decision::Unchanged => {
                let commanded = Commanded {
                    operation: operation.clone(),
                    event: None,
                };
                return Ok(Round::Done(Box::new(commanded)));
            }
        };
        let next = evolve(operation, &change);
        let commit =
            self.commit_of_change(next.clone(), &change, actor, &loaded.subscriptions, now);
        let event = commit.event.id;
        let event_type = change.event_type();
        let done = Box::new(Commanded {
            operation: next,
            event: Some(event_type),
        });
        match self.store.commit(commit).await {
            Ok(()) => Ok(Round::Done(done)),
            Err(CommitError::Conflict) => Ok(Round::LostRace),
            Err(CommitError::NotDone(cause)) => Ok(Round::Again(ServiceError::NotDone(cause))),
            Err(CommitError::Unknown(_)) if self.is_recorded(operation.id, event).await => {
                Ok(Round::Done(done))
            }
            Err(CommitError::Unknown(cause)) => Ok(Round::Again(ServiceError::Unknown(cause))),
        }
    }

    /// Looks an event up after an unknown outcome; when even that fails, it counts as not recorded
    /// here and the next round tells.
    async fn is_recorded(&self, id: OperationId, event: EventId) -> bool {
        let history = self.queries.history(id).await;
        history.is_ok_and(|entries| entries.iter().any(|entry| entry.id == event))
    }
}
