//! The master keys are checked before anything is served: without a needed one, deliveries would
//! fail one by one.

use std::fmt;

use preauth_core::port::Unavailable;
use preauth_core::value::{EndpointId, Timestamp};
use thiserror::Error;

use crate::directory::{Endpoints, KeptSecret};

use super::key_usage::{KeyUsage, key_usage};
use super::{MasterKeyId, Vault};

/// Why the check of the master keys failed.
#[derive(Debug, Error)]
pub enum KeyCheckError {
    /// Secrets of the database are encrypted under keys that this server does not have.
    #[error(transparent)]
    OtherKey(#[from] MissingKeys),
    /// The database could not be read.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Keys that a database needs and a server does not have; and those that it has.
#[derive(Debug, Error)]
#[error(
    "this database holds {0}, and this server knows {known}; restore the master key that \
     belongs to this database from your copy, which no backup holds: as the master key file, \
     or as a further line of it; if it is lost for good, `preauth-server abandon-master-key {lost}` gives up what it \
     sealed",
    known = Known(.1), lost = Missing::arguments(.0)
)]
pub struct MissingKeys(Missing, Vec<MasterKeyId>);

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
    Ok(all_known(vault.keys().collect(), &key_usage)?)
}

/// Checks whether a server without any master key may make one: no signing secret in force needs another.
pub async fn check_no_key_is_needed<E: Endpoints + ?Sized>(
    endpoints: &E,
    now: Timestamp,
) -> Result<(), KeyCheckError> {
    Ok(all_known(Vec::new(), &key_usage(endpoints, now).await?)?)
}

/// Whether each of these secrets is opened by the vault, if there is one; returns the endpoints of those that no
/// key opens though it is there.
pub fn try_secrets(
    vault: Option<&Vault>,
    secrets: &[KeptSecret],
) -> Result<Vec<EndpointId>, MissingKeys> {
    let mut key_usage = KeyUsage::default();
    for kept in secrets {
        key_usage.add(kept);
    }
    all_known(
        vault.into_iter().flat_map(Vault::keys).collect(),
        &key_usage,
    )?;
    let is_shut = |kept: &&KeptSecret| {
        let endpoint = kept.id.endpoint;
        vault.is_none_or(|vault| vault.unseal(endpoint, &kept.sealed.0).is_err())
    };
    Ok(secrets
        .iter()
        .filter(is_shut)
        .map(|kept| kept.id.endpoint)
        .collect())
}

fn all_known(known: Vec<MasterKeyId>, key_usage: &KeyUsage) -> Result<(), MissingKeys> {
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
        Err(MissingKeys(missing, known))
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

struct Known<'k>(&'k [MasterKeyId]);

impl fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("none"),
            known => write!(f, "only {}", Listed(known, ", ")),
        }
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::directory::{SealedSecret, SecretId};

    fn kept(number: u128, sealed: SealedSecret) -> KeptSecret {
        let endpoint = EndpointId::new(Uuid::from_u128(number));
        let id = SecretId {
            endpoint,
            number: 1,
        };
        KeptSecret { id, sealed }
    }

    #[test]
    fn damaged_secrets_are_named_and_missing_keys_are_an_error() {
        let vault = Vault::new(&[7; 32]);
        let seal = |number| {
            let endpoint = EndpointId::new(Uuid::from_u128(number));
            vault.seal(endpoint, &"whsec".to_owned().into()).unwrap()
        };
        let good = kept(1, seal(1));
        let mut damaged = kept(2, seal(2));
        *damaged.sealed.0.last_mut().unwrap() ^= 1;
        let of_another_endpoint = kept(3, seal(1));
        let no_secret = kept(4, SealedSecret(vec![9; 3]));
        let all = [good.clone(), damaged, of_another_endpoint, no_secret];
        let shut = try_secrets(Some(&vault), &all).unwrap();
        let expected: Vec<_> = all.iter().skip(1).map(|kept| kept.id.endpoint).collect();
        assert_eq!(shut, expected);
        let other = Vault::new(&[8; 32]);
        for vault in [Some(&other), None] {
            let missing = try_secrets(vault, std::slice::from_ref(&good));
            let missing = missing.unwrap_err().to_string();
            assert!(missing.contains("1 signing secret sealed"), "{missing}");
        }
        assert!(try_secrets(None, &[]).unwrap().is_empty());
    }
}
