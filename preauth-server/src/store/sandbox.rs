//! Which databases a sandbox may change: those that carry its mark.
//!
//! The mark is a table of one row, made in a database that is empty. It is looked for before anything
//! else happens to the database, migrations included; files beside the database say nothing about it.

use std::fmt;
use std::str::FromStr;

use crate::access::KeyHash;
use crate::ids::random_bytes;

use super::url::Kind;
use super::{DatabaseUrl, OpenError, postgres, sqlite};

const ID_BYTES: usize = 16;

pub(super) const TABLE: &str = "preauth_sandbox";
pub(super) const MAKE_TABLE: &str =
    "CREATE TABLE preauth_sandbox (id TEXT NOT NULL, is_seeded BOOLEAN NOT NULL)";
pub(super) const MARK: &str = "INSERT INTO preauth_sandbox (id, is_seeded) VALUES ($1, $2)";
pub(super) const READ: &str = "SELECT id, is_seeded FROM preauth_sandbox";
pub(super) const SEEDED: &str = "UPDATE preauth_sandbox SET is_seeded = TRUE";
pub(super) const HOLDS_KEY: &str = "SELECT EXISTS (SELECT 1 FROM api_keys WHERE hash = $1)";

/// Which sandbox a database belongs to: its data folder has the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxId(String);

/// A text that is no id of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id of a sandbox has 32 hexadecimal digits")]
pub struct NoSandboxId;

/// What a sandbox's database says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxMark {
    /// Whose it is.
    pub id: SandboxId,
    /// Whether its demo data are complete.
    pub is_seeded: bool,
}

impl SandboxId {
    /// A new one.
    #[must_use]
    pub fn random() -> Self {
        Self(hex::encode(random_bytes::<ID_BYTES>()))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whose sandbox the database is: `id`'s from now on when it is empty, or when it holds the API key
/// `known`, which sandboxes of earlier versions left in their folders. Any other database without a
/// mark is refused, and nothing in it is changed.
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

/// Notes that the demo data are complete.
pub async fn seeded(url: &DatabaseUrl) -> Result<(), OpenError> {
    match url.kind()? {
        Kind::Sqlite(path) => sqlite::sandbox_is_seeded(path.as_ref()).await,
        Kind::Postgres => postgres::sandbox_is_seeded(url).await,
    }
}

/// Removes the database of the sandbox `id`, whose demo data are not complete; only a file can be.
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
