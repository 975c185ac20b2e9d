//! The mark of a sandbox in its database, and the statements about it.

use std::fmt;
use std::str::FromStr;

use crate::ids::random_bytes;

pub(in crate::store) use crate::store::schema::SANDBOX_TABLE as TABLE;

const ID_BYTES: usize = 16;

pub(in crate::store) const MAKE_TABLE: &str =
    "CREATE TABLE preauth_sandbox (id TEXT NOT NULL, is_seeded BOOLEAN NOT NULL)";
pub(in crate::store) const MARK: &str =
    "INSERT INTO preauth_sandbox (id, is_seeded) VALUES ($1, $2)";
pub(in crate::store) const READ: &str = "SELECT id, is_seeded FROM preauth_sandbox";
pub(in crate::store) const SEEDED: &str = "UPDATE preauth_sandbox SET is_seeded = TRUE";
pub(in crate::store) const HOLDS_KEY: &str =
    "SELECT EXISTS (SELECT 1 FROM api_keys WHERE hash = $1)";

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
