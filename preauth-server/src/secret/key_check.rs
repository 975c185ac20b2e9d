//! The master keys are checked before anything is served: without a needed one, deliveries would
//! fail one by one.

use std::fmt;

use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use thiserror::Error;

use crate::directory::Endpoints;

use super::key_usage::key_usage;
use super::{MasterKeyId, Vault};

/// Why the check of the master keys failed.
#[derive(Debug, Error)]
pub enum KeyCheckError {
    /// Secrets of the database are encrypted under keys that this server does not have.
    #[error(
        "this database holds {0}, and this server knows only {known}; restore the master key that \
         belongs to this database from its backup: as the master key file, or as a further line \
         of it; if it is lost for good, `preauth-server abandon-master-key {lost}` gives up what it \
         sealed",
        known = Listed(.1, ", "), lost = Missing::arguments(.0)
    )]
    OtherKey(Missing, Vec<MasterKeyId>),
    /// The database could not be read.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// The missing keys, and the number of secrets that need each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    secrets: u64,
    keys: Vec<MasterKeyId>,
}

/// Checks whether the vault has every key under which a signing secret in force is encrypted, old
/// secrets of an overlap included.
pub async fn check_keys<E: Endpoints + ?Sized>(
    vault: &Vault,
    endpoints: &E,
    now: Timestamp,
) -> Result<(), KeyCheckError> {
    let key_usage = key_usage(endpoints, now).await?;
    if key_usage.unreadable > 0 {
        // Their endpoints need a new secret; all others work.
        tracing::error!(
            secrets = key_usage.unreadable,
            "signing secrets cannot be opened"
        );
    }
    let known: Vec<_> = vault.keys().collect();
    let unknown = key_usage
        .by_key
        .iter()
        .filter(|(key, _)| !known.contains(key));
    let mut missing = Missing {
        secrets: 0,
        keys: Vec::new(),
    };
    for (key, count) in unknown {
        missing.secrets = missing.secrets.saturating_add(*count);
        missing.keys.push(*key);
    }
    if missing.keys.is_empty() {
        Ok(())
    } else {
        Err(KeyCheckError::OtherKey(missing, known))
    }
}

impl Missing {
    /// The keys as arguments of a command.
    fn arguments(&self) -> Listed<'_> {
        Listed(&self.keys, " ")
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.secrets {
            1 => f.write_str("1 signing secret")?,
            many => write!(f, "{many} signing secrets")?,
        }
        write!(
            f,
            " sealed with another master key ({})",
            Listed(&self.keys, ", ")
        )
    }
}

/// Keys, and their separator.
struct Listed<'k>(&'k [MasterKeyId], &'static str);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, key) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { self.1 };
            write!(f, "{separator}{key}")?;
        }
        Ok(())
    }
}
