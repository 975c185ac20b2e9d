//! Removes stored files that no operation names: the offer was refused, or its commit failed.

use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use tokio::time::timeout;

use crate::clock::Stopwatch;
use crate::log::chain;

use super::{ContentHash, InvoiceFiles};

/// Maximum time from the announcement of a file to its naming; a request with a file takes minutes.
const GRACE: TimeDelta = TimeDelta::hours(1);
/// Time after which a removal counts as abandoned: a batch takes less, even if clocks differ.
pub(super) const STALE: TimeDelta = TimeDelta::minutes(5);
/// Maximum time from a claim to the beginning of its last removal: well before it is stale.
const CLAIM_HOLDS: TimeDelta = TimeDelta::minutes(1);
const REMOVAL_DEADLINE: Duration = Duration::from_secs(30);
/// Number of failed removals after which the rest of a batch waits: the storage itself may be away.
const MAX_FAILURES: usize = 2;
/// Maximum number of files per step, of each of its two kinds.
pub(crate) const SWEEP_BATCH: u32 = 50;

/// How the removal of a file ended.
enum Removal {
    Done,
    Failed,
    /// It did not end in time, or its answer was lost: it may still happen.
    Unsure,
}

impl InvoiceFiles {
    /// Settles or removes at most 50 files each that were announced more than an hour ago, and
    /// returns their number; any number of instances may run this concurrently.
    pub async fn sweep(&self) -> Result<u64, Unavailable> {
        let now = self.clock.now();
        let announced_before = now.saturating_sub(GRACE);
        let mut done = 0_u64;
        let settled = self
            .ledger
            .settle_files(announced_before, SWEEP_BATCH)
            .await?;
        let has_more = u32::try_from(settled.len()).is_ok_and(|count| count >= SWEEP_BATCH);
        for file in settled {
            done = done.saturating_add(1);
            if let Err(error) = self.place.remove_unfinished(file).await {
                warn(file, &error);
            }
        }
        if has_more {
            // Settle the rest first: the search for unnamed files would read all these entries.
            return Ok(done);
        }
        let stale_before = now.saturating_sub(STALE);
        let claimed = self
            .ledger
            .claim_unnamed_files(announced_before, stale_before, now, SWEEP_BATCH)
            .await?;
        let removed = self.remove_claimed(claimed, now).await?;
        Ok(done.saturating_add(removed))
    }

    /// Removes files that were claimed at this time, and releases those that stay: their content
    /// may be stored meanwhile. Returns the number of those removed.
    async fn remove_claimed(
        &self,
        claimed: Vec<ContentHash>,
        claimed_at: Timestamp,
    ) -> Result<u64, Unavailable> {
        let since_claim = Stopwatch::start();
        let mut removed = 0_u64;
        let (mut failed, mut untried) = (Vec::new(), Vec::new());
        let mut is_answering = true;
        for file in claimed {
            let is_over = failed.len() >= MAX_FAILURES || since_claim.elapsed() > CLAIM_HOLDS;
            if is_over || !is_answering {
                untried.push(file);
                continue;
            }
            match self.remove(file).await {
                Removal::Done => {
                    self.ledger.forget_file(file).await?;
                    removed = removed.saturating_add(1);
                }
                Removal::Failed => failed.push(file),
                // It keeps its claim until that is stale: content that is stored now might be lost.
                Removal::Unsure => is_answering = false,
            }
        }
        // Those that failed are tried again after an hour, so that they never precede all others.
        for (files, announced_at) in [(failed, Some(claimed_at)), (untried, None)] {
            if !files.is_empty() {
                self.ledger
                    .release_files(files, claimed_at, announced_at)
                    .await?;
            }
        }
        Ok(removed)
    }

    async fn remove(&self, file: ContentHash) -> Removal {
        match timeout(REMOVAL_DEADLINE, self.place.remove(file)).await {
            Ok(Ok(())) => {
                tracing::debug!(target: "janitor", %file, "removed a file that nothing names");
                Removal::Done
            }
            Ok(Err(error)) => {
                warn(file, &error);
                if self.place.is_certain(&error) {
                    Removal::Failed
                } else {
                    Removal::Unsure
                }
            }
            Err(late) => {
                warn(file, &late);
                Removal::Unsure
            }
        }
    }
}

fn warn(file: ContentHash, error: &(dyn std::error::Error + 'static)) {
    let error = chain(error);
    tracing::warn!(target: "janitor", %file, error, "a file was not removed");
}
