//! One attempt at a commit, and the attempts whose outcome is still unknown.
//!
//! A commit whose answer was lost may still be running and may be applied at any later moment. Until its
//! event is found, or it provably can no longer be applied, a refusal or failure of a later round is not
//! the outcome of the use case.

use std::error::Error as StdError;

use crate::operation::Actor;
use crate::port::{Commit, CommitError};
use crate::value::EventId;

use super::error::Contended;
use super::{LOOK_UPS, Operations, ServiceError};

/// How one round of a use case ended.
pub(super) enum Round<T> {
    /// The use case is done, with this outcome.
    Done(T),
    /// Another round may be tried; this is the failure to return if no round is left.
    Again(ServiceError),
}

/// How one attempt at a commit ended.
pub(super) enum Attempt<T> {
    /// Applied, by this commit or an earlier attempt.
    Done(T),
    /// Conflict: something else was committed in between.
    Conflict,
    /// Another commit under the same idempotency key is being written.
    InProgress,
    /// Failed, or the outcome is unknown.
    Failed(ServiceError),
}

/// The attempts of one use case whose answer was lost: the id of the event and the outcome of each.
#[derive(Debug)]
pub(super) struct Unsettled<T> {
    attempts: Vec<(EventId, T)>,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl<T> Round<T> {
    /// The round that follows an attempt to record an expiry. Whether the expiry was recorded is not
    /// checked here: the next round loads the current state.
    pub(super) fn after_expiry(expired: Result<bool, ServiceError>) -> Result<Self, ServiceError> {
        match expired {
            Ok(_) => Ok(Self::Again(Contended.into())),
            Err(busy @ ServiceError::Busy(_)) => Err(busy),
            Err(failure) => Ok(Self::Again(failure.on_the_way())),
        }
    }
}

impl<T> Default for Unsettled<T> {
    fn default() -> Self {
        Self {
            attempts: Vec::new(),
            cause: None,
        }
    }
}

impl<T> Unsettled<T> {
    /// Drops the attempts that can no longer be applied; returns whether there were any.
    pub(super) fn drop_unless(&mut self, may_be_applied: impl Fn(&T) -> bool) -> bool {
        let before = self.attempts.len();
        self.attempts.retain(|(_, outcome)| may_be_applied(outcome));
        if self.attempts.is_empty() {
            self.cause = None;
        }
        self.attempts.len() < before
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.attempts.is_empty()
    }

    /// The outcome of the first attempt.
    pub(super) fn first(&self) -> Option<&T> {
        self.attempts.first().map(|(_, outcome)| outcome)
    }

    /// Returns `failure`, or [`ServiceError::Unknown`] while an attempt may still be applied.
    pub(super) fn or_unknown(self, failure: ServiceError) -> ServiceError {
        match self.cause {
            Some(cause) => ServiceError::Unknown(cause),
            None => failure,
        }
    }
}

impl Operations {
    /// Commits, and looks up the outcome if it is unknown.
    ///
    /// # Errors
    ///
    /// Fails if the outcome cannot be looked up, or if the host has no room for the commit.
    pub(super) async fn attempt<T: Clone>(
        &self,
        mut commit: Commit,
        outcome: T,
        unsettled: &mut Unsettled<T>,
    ) -> Result<Attempt<T>, ServiceError> {
        let event = commit.event.id;
        commit.intake = self.intake.clone();
        if commit.event.actor != Actor::System {
            commit.operator.clone_from(&self.operator);
            commit.audited.clone_from(&self.audited);
        }
        match self.store.commit(commit).await {
            Ok(()) => Ok(Attempt::Done(outcome)),
            Err(CommitError::Conflict) => Ok(Attempt::Conflict),
            Err(CommitError::InProgress) => Ok(Attempt::InProgress),
            Err(CommitError::NotDone(cause)) => Ok(Attempt::Failed(ServiceError::NotDone(cause))),
            Err(CommitError::Busy(cause)) => Err(ServiceError::Busy(cause)),
            Err(CommitError::Unknown(cause)) => {
                unsettled.attempts.push((event, outcome));
                unsettled.cause = Some(cause);
                let applied = self.applied(unsettled).await?;
                Ok(applied.map_or_else(|| Attempt::Failed(Contended.into()), Attempt::Done))
            }
        }
    }

    /// The outcome of the attempt that was applied, if one was.
    ///
    /// # Errors
    ///
    /// Fails if the outcome cannot be looked up.
    pub(super) async fn applied<T: Clone>(
        &self,
        unsettled: &Unsettled<T>,
    ) -> Result<Option<T>, ServiceError> {
        for (event, outcome) in &unsettled.attempts {
            if self.is_recorded(*event).await? {
                return Ok(Some(outcome.clone()));
            }
        }
        Ok(None)
    }

    async fn is_recorded(&self, event: EventId) -> Result<bool, ServiceError> {
        let mut found = self.store.has_event(event).await;
        for _ in 1..LOOK_UPS {
            if found.is_ok() {
                break;
            }
            found = self.store.has_event(event).await;
        }
        Ok(found?)
    }
}
