//! Removes stored files that no operation names: the offer was refused, or its commit failed.

use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use tokio::time::timeout;

use crate::clock::Stopwatch;
use crate::log::chain;

use super::{ContentHash, InvoiceFiles};

/// Maximum time from the announcement of a file to its naming; a request with a file takes minutes.
const GRACE: TimeDelta = TimeDelta::hours(1);
/// Time after which a removal counts as abandoned.
const STALE: TimeDelta = TimeDelta::minutes(10);
/// Maximum time from a claim to the end of its removal: well before others may take it over.
const CLAIM_HOLDS: TimeDelta = TimeDelta::minutes(2);
const REMOVAL_DEADLINE: Duration = Duration::from_secs(30);
/// Maximum number of files per step, of each of its two kinds.
pub(crate) const SWEEP_BATCH: u32 = 50;

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
        let claimed_at = Stopwatch::start();
        for file in claimed {
            if claimed_at.elapsed() > CLAIM_HOLDS || !self.remove(file).await {
                break;
            }
            self.ledger.forget_file(file).await?;
            done = done.saturating_add(1);
        }
        Ok(done)
    }

    /// Removes the file; returns `false` on failure, and another attempt follows when the claim is
    /// stale.
    async fn remove(&self, file: ContentHash) -> bool {
        match timeout(REMOVAL_DEADLINE, self.place.remove(file)).await {
            Ok(Ok(())) => {
                tracing::debug!(target: "janitor", %file, "removed a file that nothing names");
                true
            }
            Ok(Err(error)) => {
                warn(file, &error);
                false
            }
            Err(late) => {
                warn(file, &late);
                false
            }
        }
    }
}

fn warn(file: ContentHash, error: &(dyn std::error::Error + 'static)) {
    let error = chain(error);
    tracing::warn!(target: "janitor", %file, error, "a file was not removed");
}
