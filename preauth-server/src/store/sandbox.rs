//! Which databases a sandbox may change: those that carry its mark.
//!
//! The mark is a table with one row, created in an empty database. It is checked before anything
//! else happens to the database, migrations included; files beside the database are no evidence.

use std::fmt;
use std::str::FromStr;

use crate::access::KeyHash;
use crate::ids::random_bytes;

pub(super) use super::schema::SANDBOX_TABLE as TABLE;
use super::url::Kind;
use super::{DatabaseUrl, OpenError, postgres, sqlite};

const ID_BYTES: usize = 16;

pub(super) const MAKE_TABLE: &str =
    "CREATE TABLE preauth_sandbox (id TEXT NOT NULL, is_seeded BOOLEAN NOT NULL)";
pub(super) const MARK: &str = "INSERT INTO preauth_sandbox (id, is_seeded) VALUES ($1, $2)";
pub(super) const READ: &str = "SELECT id, is_seeded FROM preauth_sandbox";
pub(super) const SEEDED: &str = "UPDATE preauth_sandbox SET is_seeded = TRUE";
pub(super) const HOLDS_KEY: &str = "SELECT EXISTS (SELECT 1 FROM api_keys WHERE hash = $1)";

/// The sandbox that a database belongs to: the same id is in its data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxId(String);

/// The text is not an id of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id of a sandbox has 32 hexadecimal digits")]
pub struct NoSandboxId;

/// The mark in a sandbox's database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxMark {
    /// The sandbox that owns the database.
    pub id: SandboxId,
    /// Whether its demo data are complete.
    pub is_seeded: bool,
}

impl SandboxId {
    /// A new id.
    #[must_use]
    pub fn random() -> Self {
        Self(hex::encode(random_bytes::<ID_BYTES>()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

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

impl FromStr for SandboxId {
    type Err = NoSandboxId;

    fn from_str(text: &str) -> Result<Self, NoSandboxId> {
        let mut bytes = [0; ID_BYTES];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| NoSandboxId)?;
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
