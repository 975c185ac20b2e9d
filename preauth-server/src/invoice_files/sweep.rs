//! Taking away what was stored and is named by no operation: the offer was refused, or its commit
//! never came.

use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use tokio::time::timeout;

use crate::clock::Stopwatch;
use crate::log::chain;

use super::{ContentHash, InvoiceFiles};

/// A file may be named so long after it was announced; a request that brings one lasts minutes.
const GRACE: TimeDelta = TimeDelta::hours(1);
/// A removal that was begun so long ago was given up.
const STALE: TimeDelta = TimeDelta::minutes(10);
/// No removal is begun so long after its claim, nor lasts longer: well before others take it over.
const CLAIM_HOLDS: TimeDelta = TimeDelta::minutes(2);
const REMOVAL_DEADLINE: Duration = Duration::from_secs(30);
/// Files looked at in one step.
const BATCH: u32 = 50;

impl InvoiceFiles {
    /// Settles or removes at most 50 files each that were announced more than an hour ago, and gives
    /// how many that were; any number of instances may sweep at once.
    pub async fn sweep(&self) -> Result<u64, Unavailable> {
        let now = self.clock.now();
        let announced_before = now.saturating_sub(GRACE);
        let mut done = 0_u64;
        let settled = self.ledger.settle_files(announced_before, BATCH).await?;
        for file in settled {
            done = done.saturating_add(1);
            if let Err(error) = self.place.remove_unfinished(file).await {
                warn(file, &error);
            }
        }
        let stale_before = now.saturating_sub(STALE);
        let claimed = self
            .ledger
            .claim_unnamed_files(announced_before, stale_before, now, BATCH)
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

    /// Whether the file is gone; if not, its claim goes stale and somebody tries again.
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
