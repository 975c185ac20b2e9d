//! The one task that commits.
//!
//! What is queued is written by one statement, which is one round trip and one sync to disk for
//! many callers. A commit that is too late is left out of it by itself; where a constraint is broken
//! the statement writes nothing, and the group is halved until those that broke it stand alone: no
//! commit fails on account of another.

mod bulk;
mod claims;

use std::error::Error as StdError;
use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Commit;

use super::commit::{self, Outcome};
use super::connections::Connections;
use super::error::WriteError;
use super::grouping::{Limits, Serve};
use super::session::{Failure, autocommit};
use super::wake::Wake;

pub(super) use bulk::{BulkWriter, LIMITS as BULK_LIMITS};

/// Commits that may wait, and that one statement takes. Two groups at once gave no more on the
/// machines measured.
pub(super) const LIMITS: Limits = Limits {
    queue: 1024,
    group: 256,
    groups: 1,
};

/// Writes groups of commits.
#[derive(Debug)]
pub(super) struct Writer {
    connections: Connections,
    wake: Arc<Wake>,
}

impl Writer {
    pub(super) const fn new(connections: Connections, wake: Arc<Wake>) -> Self {
        Self { connections, wake }
    }

    /// Writes each of `commits` as if it were alone; the answers are in their order.
    pub(super) async fn write_all(&self, commits: Vec<Commit>) -> Vec<Result<(), WriteError>> {
        let groups = claims::disjoint(&commits);
        let mut commits: Vec<Option<Commit>> = commits.into_iter().map(Some).collect();
        let mut outcomes: Vec<_> = commits.iter().map(|_| Err(WriteError::Conflict)).collect();
        let mut has_deliveries = false;
        for places in groups {
            let group: Vec<Commit> = places
                .iter()
                .filter_map(|place| commits.get_mut(*place)?.take())
                .collect();
            let written = self.write_disjoint(&group).await;
            for ((place, commit), done) in places.into_iter().zip(&group).zip(written) {
                has_deliveries |= done.is_ok() && !commit.deliveries.is_empty();
                if let Some(outcome) = outcomes.get_mut(place) {
                    *outcome = done;
                }
            }
        }
        if has_deliveries {
            self.wake.all();
        }
        outcomes
    }

    /// Writes commits of which no two are about the same thing.
    async fn write_disjoint(&self, commits: &[Commit]) -> Vec<Result<(), WriteError>> {
        let mut outcomes = Vec::with_capacity(commits.len());
        let mut groups = vec![commits];
        while let Some(group) = groups.pop() {
            match self.write_together(group).await {
                Ok(done) => outcomes.extend(done.into_iter().map(result)),
                Err(Failure::OfSome(_)) if group.len() > 1 => {
                    let (first, second) = group.split_at(group.len() / 2);
                    groups.push(second);
                    groups.push(first);
                }
                Err(Failure::OfSome(error) | Failure::OfAll(error)) => {
                    outcomes.extend(for_each(group.len(), error));
                }
            }
        }
        outcomes
    }

    /// Writes a group by one statement.
    async fn write_together(&self, group: &[Commit]) -> Result<Vec<Outcome>, Failure> {
        autocommit(&self.connections, &group, |connection, group| {
            Box::pin(commit::write(connection, group))
        })
        .await
    }
}

#[async_trait]
impl Serve for Writer {
    type Request = Commit;
    type Answer = Result<(), WriteError>;

    async fn serve(&self, commits: Vec<Commit>) -> Vec<Self::Answer> {
        self.write_all(commits).await
    }
}

const fn result(outcome: Outcome) -> Result<(), WriteError> {
    match outcome {
        Outcome::Written => Ok(()),
        Outcome::LeftOut => Err(WriteError::Conflict),
        Outcome::InProgress => Err(WriteError::InProgress),
    }
}

/// The same end for every member of a group.
fn for_each(members: usize, error: WriteError) -> Vec<Result<(), WriteError>> {
    type Cause = Box<dyn StdError + Send + Sync>;
    let (end, cause): (fn(Cause) -> WriteError, Arc<dyn StdError + Send + Sync>) = match error {
        WriteError::Lost(fault) => (WriteError::NotDone, Arc::new(fault)),
        WriteError::NotDone(cause) => (WriteError::NotDone, Arc::from(cause)),
        WriteError::Busy(cause) => (WriteError::Busy, Arc::from(cause)),
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
