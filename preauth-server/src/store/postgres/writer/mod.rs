//! The task that commits.
//!
//! Queued commits are written by one statement, which is one round trip and one disk sync for many
//! callers. The statement itself leaves out a commit that is too late. If a constraint is violated,
//! the statement writes nothing, and the group is halved until the commits at fault are alone: no
//! commit fails because of another.
//!
//! Nor does a commit wait because of another. One that needs a locked row is left out as well, and
//! retried separately (see `aside`). Some locks cannot be detected beforehand, e.g. that of another
//! transaction's uncommitted row. Then a short timeout moves the whole group aside; there it is
//! halved until the waiting commits are alone, and their keys are remembered (see `suspects`).

mod aside;
mod bulk;
mod conflicts;
mod suspects;

use std::error::Error as StdError;
use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Commit;

use super::commit::{self, CommitWithRooms, Leases, Outcome};
use super::connections::Connections;
use super::session::{Failure, autocommit};
use super::wake::Wake;
use crate::store::error::WriteError;
use crate::store::grouping::{Limits, Serve};

pub(super) use aside::Aside;
pub(super) use bulk::{BulkWriter, LIMITS as BULK_LIMITS};
pub(super) use suspects::Suspects;

/// Maximum number of waiting commits, and of those per statement. Two concurrent groups were not
/// faster on the machines measured.
pub(super) const LIMITS: Limits = Limits {
    queue: 1024,
    group: 256,
    groups: 1,
};
/// How long a retried group waits: its lock has been held for a while.
pub(super) const ASIDE_LOCK_TIMEOUT: &str = "10ms";
/// Number of timeouts after which the rest of a group waits for its next turn: enough to find one
/// blocked commit in a full group, twice.
const MAX_TIMEOUTS: u32 = 20;

/// Writes groups of commits.
#[derive(Debug)]
pub(super) struct Writer {
    connections: Connections,
    wake: Arc<Wake>,
    suspects: Arc<Suspects>,
    is_lane_of_all: bool,
}

/// The outcome of a commit's turn.
#[derive(Debug)]
pub(super) enum Turn {
    /// It was written, or will not be.
    Ended(Result<(), WriteError>),
    /// It needs rows that others have locked, and was not written.
    Locked(Box<Commit>),
}

impl Writer {
    /// The lane of every commit: it does not halve a group that timed out.
    pub(super) const fn of_all(
        connections: Connections,
        wake: Arc<Wake>,
        suspects: Arc<Suspects>,
    ) -> Self {
        Self {
            connections,
            wake,
            suspects,
            is_lane_of_all: true,
        }
    }

    /// A lane in which groups are halved until the commits that wait for locks are alone.
    pub(super) const fn apart(
        connections: Connections,
        wake: Arc<Wake>,
        suspects: Arc<Suspects>,
    ) -> Self {
        Self {
            connections,
            wake,
            suspects,
            is_lane_of_all: false,
        }
    }

    /// Writes each of `commits` as if it were alone; the outcomes are in their order.
    async fn write_all(&self, commits: Vec<Commit>) -> Vec<Turn> {
        let groups = conflicts::disjoint(&commits);
        let mut turns: Vec<Turn> = commits
            .into_iter()
            .map(|commit| Turn::Locked(Box::new(commit)))
            .collect();
        let mut has_due = false;
        for places in groups {
            let mut group = Vec::with_capacity(places.len());
            let mut places_of_group = Vec::with_capacity(places.len());
            for place in places {
                if let Some(Turn::Locked(commit)) = turns.get(place)
                    && !(self.is_lane_of_all && self.suspects.concern(commit))
                {
                    group.push(commit.as_ref());
                    places_of_group.push(place);
                }
            }
            let (written, wait_for_claims) = self.write_disjoint(&group).await;
            has_due |= wait_for_claims;
            for (place, outcome) in places_of_group.into_iter().zip(written) {
                if let (Some(turn), Some(outcome)) = (turns.get_mut(place), outcome) {
                    *turn = Turn::Ended(outcome);
                }
            }
        }
        if turns.iter().any(|turn| matches!(turn, Turn::Ended(Ok(())))) {
            self.wake.committed().notify_one();
        }
        if has_due {
            self.wake.all();
        }
        turns
    }

    /// Writes commits without a common key; returns `None` for those that must wait, and whether
    /// deliveries were written that were not handed over.
    async fn write_disjoint(
        &self,
        commits: &[&Commit],
    ) -> (Vec<Option<Result<(), WriteError>>>, bool) {
        let mut outcomes = Vec::with_capacity(commits.len());
        let mut has_due = false;
        let mut groups = vec![
            commits
                .iter()
                .map(|it| CommitWithRooms::reserve(it))
                .collect::<Vec<_>>(),
        ];
        let mut timeouts: u32 = 0;
        while let Some(mut group) = groups.pop() {
            if group.is_empty() {
                continue;
            }
            if timeouts >= MAX_TIMEOUTS {
                outcomes.extend(group.iter().map(|_| None));
                continue;
            }
            match self.write_together(&group).await {
                Ok((done, leases)) => {
                    for (roomy, outcome) in group.into_iter().zip(done) {
                        if !self.is_lane_of_all {
                            self.suspects.clear(roomy.commit);
                        }
                        if outcome == Outcome::Written {
                            has_due |= roomy.hand_over(&leases);
                        }
                        outcomes.push(result(outcome));
                    }
                }
                Err(Failure::Locked) if self.is_lane_of_all => {
                    outcomes.extend(group.iter().map(|_| None));
                }
                Err(failure @ (Failure::OfSome(_) | Failure::Locked)) if group.len() > 1 => {
                    timeouts = timeouts.saturating_add(u32::from(failure.is_timeout()));
                    let second = group.split_off(group.len() / 2);
                    groups.push(second);
                    groups.push(group);
                }
                Err(Failure::Locked) => {
                    timeouts = timeouts.saturating_add(1);
                    for roomy in &group {
                        self.suspects.note(roomy.commit);
                    }
                    outcomes.push(None);
                }
                Err(Failure::OfSome(error) | Failure::OfAll(error)) => {
                    outcomes.extend(for_each(group.len(), error).into_iter().map(Some));
                }
            }
        }
        (outcomes, has_due)
    }

    /// Writes a group by one statement.
    async fn write_together(
        &self,
        group: &[CommitWithRooms<'_>],
    ) -> Result<(Vec<Outcome>, Leases), Failure> {
        autocommit(&self.connections, &group, |connection, group| {
            Box::pin(commit::write(connection, group))
        })
        .await
    }
}

#[async_trait]
impl Serve for Writer {
    type Request = Commit;
    type Answer = Turn;

    async fn serve(&self, commits: Vec<Commit>) -> Vec<Self::Answer> {
        self.write_all(commits).await
    }
}

impl Turn {
    /// For a caller that does not wait for locks: usually their holder does the same, and a new
    /// load shows its result.
    pub(super) fn or_conflict(self) -> Result<(), WriteError> {
        match self {
            Self::Ended(outcome) => outcome,
            Self::Locked(_) => Err(WriteError::Conflict),
        }
    }
}

/// `None` for a commit that was left out because of a lock.
const fn result(outcome: Outcome) -> Option<Result<(), WriteError>> {
    match outcome {
        Outcome::Written => Some(Ok(())),
        Outcome::LeftOut => Some(Err(WriteError::Conflict)),
        Outcome::Locked => None,
        Outcome::InProgress => Some(Err(WriteError::InProgress)),
    }
}

/// The same outcome for every member of a group.
fn for_each(members: usize, error: WriteError) -> Vec<Result<(), WriteError>> {
    type Cause = Box<dyn StdError + Send + Sync>;
    let (end, cause): (fn(Cause) -> WriteError, Arc<dyn StdError + Send + Sync>) = match error {
        WriteError::Lost(fault) => (WriteError::NotDone, Arc::new(fault)),
        WriteError::NotDone(cause) => (WriteError::NotDone, Arc::from(cause)),
        WriteError::Busy(cause) => (WriteError::Busy, Arc::from(cause)),
        WriteError::Locked(fault) => (WriteError::Busy, Arc::new(fault)),
        WriteError::Unknown(cause) => (WriteError::Unknown, Arc::from(cause)),
        WriteError::NotFound
        | WriteError::Conflict
        | WriteError::InProgress
        | WriteError::RolledBack => {
            return (0..members).map(|_| Err(WriteError::Conflict)).collect();
        }
    };
    (0..members)
        .map(|_| Err(end(Box::new(Arc::clone(&cause)))))
        .collect()
}
