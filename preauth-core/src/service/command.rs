//! Everything that may be asked of an existing operation.

use std::error::Error as StdError;

use crate::operation::{Actor, Change, Command, Decision, Operation, Rejection, decide, evolve};
use crate::port::{CommitError, LoadedOperation, Viewer};
use crate::value::{EventId, EventType, OperationId, Timestamp};

use super::error::Contended;
use super::{LOOK_UPS, ROUNDS, Service, ServiceError};

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
    NotDone(ServiceError),
    Busy(Box<dyn StdError + Send + Sync>),
    /// Not found when looked up; it may still land.
    Unsettled(Unsettled, ServiceError),
}

/// An attempt of unknown outcome: its event, and what it led to if it was recorded.
struct Unsettled {
    event: EventId,
    done: Box<Commanded>,
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
        let mut unsettled: Vec<Unsettled> = Vec::new();
        for _ in 0..ROUNDS {
            let loaded = match self.store.load_operation(id).await {
                Ok(loaded) => loaded,
                Err(unavailable) if unsettled.is_empty() => return Err(unavailable.into()),
                Err(unavailable) => return Err(ServiceError::Unknown(unavailable.cause)),
            };
            let Some(loaded) = loaded.filter(|found| viewer.sees(&found.operation)) else {
                return Err(Rejection::NotFound.into());
            };
            if let Some(done) = self.landed_late(id, &unsettled).await {
                return Ok(done);
            }
            if let Some(overdue) = overdue_in_the_way(&loaded, command, now) {
                // Whether its expiry or something else was recorded, the next round sees it.
                match self.expire(overdue, now).await {
                    Ok(_) => {}
                    Err(ServiceError::Busy(cause)) => {
                        return Err(ServiceError::busy(cause, !unsettled.is_empty()));
                    }
                    Err(error) => last = error.on_the_way(),
                }
                continue;
            }
            match self.attempt(&loaded, command, actor, now).await? {
                Round::Done(commanded) => return Ok(*commanded),
                Round::LostRace => {
                    // Lost to its own earlier attempt, perhaps.
                    if let Some(done) = self.landed_late(id, &unsettled).await {
                        return Ok(done);
                    }
                    let status = loaded.operation.status();
                    return Err(Rejection::InvalidTransition { status }.into());
                }
                Round::NotDone(error) => last = error,
                Round::Busy(cause) => {
                    return Err(ServiceError::busy(cause, !unsettled.is_empty()));
                }
                Round::Unsettled(attempt, error) => {
                    unsettled.push(attempt);
                    last = error;
                }
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
            Round::Busy(cause) => Err(ServiceError::Busy(cause)),
            Round::NotDone(error) | Round::Unsettled(_, error) => Err(error),
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
            Err(CommitError::NotDone(cause)) => Ok(Round::NotDone(ServiceError::NotDone(cause))),
            Err(CommitError::Busy(cause)) => Ok(Round::Busy(cause)),
            Err(CommitError::Unknown(cause)) => {
                let error = ServiceError::Unknown(cause);
                match self.is_recorded(operation.id, event).await {
                    Some(true) => Ok(Round::Done(done)),
                    Some(false) => Ok(Round::Unsettled(Unsettled { event, done }, error)),
                    // Another round would be refused by what this one may have done.
                    None => Err(error),
                }
            }
        }
    }

    /// The attempt that was recorded after it had been looked up in vain, if any was.
    async fn landed_late(&self, id: OperationId, unsettled: &[Unsettled]) -> Option<Commanded> {
        for attempt in unsettled {
            if self.is_recorded(id, attempt.event).await == Some(true) {
                return Some((*attempt.done).clone());
            }
        }
        None
    }

    /// Looks an event up after an unknown outcome; `None` when even that fails.
    async fn is_recorded(&self, id: OperationId, event: EventId) -> Option<bool> {
        for _ in 0..LOOK_UPS {
            if let Ok(history) = self.queries.history(id).await {
                return Some(history.iter().any(|entry| entry.id == event));
            }
        }
        None
    }
}

/// The overdue offer whose expiry must be recorded before `command` can be judged: the operation
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
