//! How much may come in at once.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long an upload waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);
/// The semaphore's permits are 32 bit numbers: one stands for so many bytes.
const PERMIT_BYTES: u64 = 1024;

/// Bytes that may be under way at once, given out in the order in which they were asked for.
#[derive(Debug)]
pub(super) struct Budget(Arc<Semaphore>);

/// Room for an upload, given back when dropped.
#[derive(Debug)]
pub struct Reservation(#[expect(dead_code, reason = "held, never read")] OwnedSemaphorePermit);

/// Too much is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too many uploads are under way")]
pub struct Busy;

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        let permits = usize::try_from(bytes.div_ceil(PERMIT_BYTES)).unwrap_or(usize::MAX);
        Self(Arc::new(Semaphore::new(
            permits.min(Semaphore::MAX_PERMITS),
        )))
    }

    pub(super) async fn reserve(&self, bytes: u64) -> Result<Reservation, Busy> {
        let permits = u32::try_from(bytes.div_ceil(PERMIT_BYTES)).map_err(|_| Busy)?;
        let room = Arc::clone(&self.0).acquire_many_owned(permits);
        match timeout(PATIENCE, room).await {
            Ok(Ok(permit)) => Ok(Reservation(permit)),
            Ok(Err(_)) | Err(_) => Err(Busy),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::{Budget, Busy};

    const MIB: u64 = 1024 * 1024;

    #[tokio::test(start_paused = true)]
    async fn who_finds_no_room_waits_five_seconds_and_no_longer() {
        let budget = Budget::new(10 * MIB);
        let held = budget.reserve(8 * MIB).await.unwrap();
        let begin = Instant::now();
        assert_eq!(budget.reserve(3 * MIB).await.unwrap_err(), Busy);
        assert_eq!(begin.elapsed(), Duration::from_secs(5));
        assert!(budget.reserve(2 * MIB).await.is_ok());
        drop(held);
        assert!(budget.reserve(10 * MIB).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_is_served_as_soon_as_there_is_room() {
        let budget = Budget::new(10 * MIB);
        let held = budget.reserve(10 * MIB).await.unwrap();
        let begin = Instant::now();
        let ending = async {
            sleep(Duration::from_secs(2)).await;
            drop(held);
        };
        let (reserved, ()) = tokio::join!(budget.reserve(MIB), ending);
        assert!(reserved.is_ok());
        assert_eq!(begin.elapsed(), Duration::from_secs(2));
    }
}
