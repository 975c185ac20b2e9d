//! Which databases a sandbox may change: those that carry its mark.
//!
//! The mark is a table with one row, created in an empty database. It is checked before anything
//! else happens to the database, migrations included; files beside the database are no evidence.

pub(super) mod mark;

use crate::access::KeyHash;

pub use mark::{NoSandboxId, SandboxId, SandboxMark};

use super::url::Kind;
use super::{DatabaseUrl, OpenError, postgres, sqlite};

/// Claims the database for the sandbox `id` when it is empty, or when it contains the API key
/// `known`, which sandboxes of earlier versions left in their folders; returns the mark. Any other
/// database without a mark is refused and not changed.
pub async fn claim(
    url: &DatabaseUrl,
    id: &SandboxId,
    known: Option<&KeyHash>,
) -> Result<SandboxMark, OpenError> {
    match url.kind()? {
        Kind::Sqlite(path) => sqlite::claim_for_sandbox(path.as_ref(), id, known).await,
        Kind::Postgres => postgres::claim_for_sandbox(url, id, known).await,
    }
}

/// Records that the demo data are complete.
pub async fn seeded(url: &DatabaseUrl) -> Result<(), OpenError> {
    match url.kind()? {
        Kind::Sqlite(path) => sqlite::sandbox_is_seeded(path.as_ref()).await,
        Kind::Postgres => postgres::sandbox_is_seeded(url).await,
    }
}

/// Removes the database of the sandbox `id` whose demo data are incomplete; only a file can be
/// removed.
pub async fn discard(url: &DatabaseUrl, id: &SandboxId) -> Result<(), OpenError> {
    match url.kind()? {
        Kind::Sqlite(path) => sqlite::discard_sandbox(path.as_ref(), id).await,
        Kind::Postgres => Err(OpenError::HalfSeeded),
    }
}
