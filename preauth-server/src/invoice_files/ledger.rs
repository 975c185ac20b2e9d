//! The recently stored files, so that files which no operation names are found without going
//! through all of them.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, Timestamp};

use super::ContentHash;

/// The database's part of storing files. An entry exists from before a file is stored until an
/// operation names the file or it is removed.
#[async_trait]
pub trait FileLedger: Send + Sync {
    /// Records durably that this content is about to be stored. Returns `false`, and records
    /// nothing, while the content is being removed. A claim from before `stale_before` counts as
    /// abandoned: the process that removed the content has ended.
    async fn announce_file(
        &self,
        file: ContentHash,
        stale_before: Timestamp,
        now: Timestamp,
    ) -> Result<bool, Unavailable>;

    /// Removes at most `limit` entries from before `announced_before` whose file an operation
    /// names, and returns them: these files are kept.
    async fn settle_files(
        &self,
        announced_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<ContentHash>, Unavailable>;

    /// Claims at most `limit` files from before `announced_before` that no operation names, for
    /// removal. A claim from before `stale_before` counts as abandoned, and so does one that
    /// a wrong clock put as far after `now`.
    async fn claim_unnamed_files(
        &self,
        announced_before: Timestamp,
        stale_before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ContentHash>, Unavailable>;

    /// The total size of the files of a head office's operations, its branches' included; a file of
    /// several operations counts for each.
    async fn named_bytes(&self, head_office: CompanyId) -> Result<u64, Unavailable>;

    /// Releases files that were claimed at `claimed_at` and not removed, unless another claim has
    /// taken them over. With `announced_at` they count as announced then, and are claimed again
    /// only after others.
    async fn release_files(
        &self,
        files: Vec<ContentHash>,
        claimed_at: Timestamp,
        announced_at: Option<Timestamp>,
    ) -> Result<(), Unavailable>;

    /// Removes the entry of a claimed file after its removal.
    async fn forget_file(&self, file: ContentHash) -> Result<(), Unavailable>;
}
