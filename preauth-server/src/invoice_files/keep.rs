//! Stores a file before an operation names it, and reads it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use tokio::time::{sleep, timeout};

use super::sweep::STALE;
use super::{ContentHash, FilesError, InvoiceFiles, Spooled};

/// Timeout of storing a file, and of beginning to read it.
const PLACE_DEADLINE: Duration = Duration::from_mins(1);
/// Maximum number of checks whether the removal of the same content has ended; a removal is short.
const REMOVAL_LOOKS: u32 = 20;
const REMOVAL_REST: Duration = Duration::from_millis(100);

/// A stream of a file's bytes from its storage.
pub type ContentStream = BoxStream<'static, object_store::Result<Bytes>>;

/// A file to read.
pub struct Content {
    /// Length in bytes.
    pub size: u64,
    /// Exactly that number of bytes, as they were received.
    pub stream: ContentStream,
}

impl InvoiceFiles {
    /// Stores a file durably under its hash. Once this returns, an operation may name it, which
    /// must happen within an hour.
    pub async fn keep(&self, file: &Arc<Spooled>) -> Result<(), FilesError> {
        self.announce(file.hash()).await?;
        let _turn = self.storing.acquire(1).await?;
        timeout(PLACE_DEADLINE, self.place.put(file))
            .await
            .map_err(|_| FilesError::TimedOut)?
    }

    /// Opens a file that an operation names.
    pub async fn read(&self, file: ContentHash, size: u64) -> Result<Content, FilesError> {
        timeout(PLACE_DEADLINE, self.place.get(file, size))
            .await
            .map_err(|_| FilesError::TimedOut)?
    }

    async fn announce(&self, file: ContentHash) -> Result<(), FilesError> {
        for _ in 0..REMOVAL_LOOKS {
            let now = self.clock.now();
            let stale_before = now.saturating_sub(STALE);
            if self.ledger.announce_file(file, stale_before, now).await? {
                return Ok(());
            }
            sleep(REMOVAL_REST).await;
        }
        Err(FilesError::BeingRemoved(file))
    }
}

impl Content {
    pub(super) const fn new(size: u64, stream: ContentStream) -> Self {
        Self { size, stream }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}
