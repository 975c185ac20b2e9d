//! Which files were stored lately, so that those which no operation came to name are found without
//! looking through all of them.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, Timestamp};

use super::ContentHash;

/// The database's half of keeping files. An entry is there from before a file is stored until an
/// operation names it or it is gone.
#[async_trait]
pub trait FileLedger: Send + Sync {
    /// Notes, durably, that this content is about to be stored. False: it is being removed, and
    /// nothing was noted.
    async fn announce_file(&self, file: ContentHash, now: Timestamp) -> Result<bool, Unavailable>;

    /// Forgets at most `limit` entries from before `announced_before` whose file an operation names,
    /// and gives them: these files stay.
    async fn settle_files(
        &self,
        announced_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<ContentHash>, Unavailable>;

    /// Claims at most `limit` files from before `announced_before` that no operation names, to be
    /// removed; a claim from before `stale_before` was given up by whoever had it.
    async fn claim_unnamed_files(
        &self,
        announced_before: Timestamp,
        stale_before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ContentHash>, Unavailable>;

    /// How many bytes the files have that operations of this head office name, its branches' included; a
    /// file that several name counts for each.
    async fn named_bytes(&self, head_office: CompanyId) -> Result<u64, Unavailable>;

    /// Forgets a claimed file that is gone.
    async fn forget_file(&self, file: ContentHash) -> Result<(), Unavailable>;
}
