//! Retries commits that wait for locks of others, apart from the lane of all other commits.
//!
//! Waiting holds no lock and no connection: the commit is retried after a pause, together with the
//! others that wait.

use std::sync::Arc;

use preauth_core::port::Commit;

use super::super::held::Turns;
use super::super::places::Places;
use super::{Turn, Writer};
use crate::fair::Tenant;
use crate::store::error::{Fault, WriteError};
use crate::store::grouping::{Grouped, Limits};

/// Maximum number of commits that wait for locks; with more, those that have waited longest are refused.
const MAX_WAITING: usize = 1024;
/// The maximum per head office, which leaves room for others.
const MAX_WAITING_PER_HEAD_OFFICE: usize = 512;

/// The commits that are retried together.
const LIMITS: Limits = Limits {
    queue: MAX_WAITING,
    group: 256,
    groups: 1,
};

/// The lane of commits that wait for locks.
pub(in super::super) struct Aside {
    lane: Grouped<Writer>,
    places: Arc<Places>,
}

impl Aside {
    /// Starts the lane, in which `writer` retries commits.
    pub(in super::super) fn spawn(writer: Writer) -> Self {
        Self {
            lane: Grouped::spawn(writer, LIMITS),
            places: Places::new(MAX_WAITING, MAX_WAITING_PER_HEAD_OFFICE),
        }
    }

    /// Retries `commit` until no needed row is locked by others. One whose time is over was not
    /// written, and is not retried.
    pub(in super::super) async fn write(&self, mut commit: Box<Commit>) -> Result<(), WriteError> {
        let mut place = self
            .places
            .enter(Tenant::HeadOffice(commit.write.head_office()));
        let mut turns = Turns::begin();
        while place.hold(turns.next()).await? {
            match self.lane.ask(*commit).await? {
                Turn::Ended(outcome) => return outcome,
                Turn::Locked(left) => commit = left,
            }
        }
        Err(WriteError::Busy(Box::new(Fault::StillLocked)))
    }

    /// Accepts no more commits; waiting ones are not written.
    pub(in super::super) async fn close(&self) {
        self.lane.close().await;
    }
}
