//! Encryption of signing secrets at rest: XChaCha20-Poly1305 under a master key, bound to their
//! endpoint.

use std::fmt;
use std::path::Path;

use chacha20poly1305::XNonce;
use chacha20poly1305::aead::{Aead, Payload};
use preauth_core::value::EndpointId;
use secrecy::zeroize::Zeroize;
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

use crate::directory::SealedSecret;
use crate::ids::random_bytes;

use super::derived_key::DerivedKey;
use super::master_key::{
    self, KEY_BYTES, KEY_ID_BYTES, MasterKey, MasterKeyFileError, MasterKeyId, MasterKeys,
};

const NONCE_BYTES: usize = 24;
/// First byte of an encrypted secret; then the key's id, the nonce, and the ciphertext.
const LAYOUT_VERSION: u8 = 1;

/// Why a secret could not be encrypted or decrypted. The error reveals nothing of the secret.
#[derive(Debug, Error)]
pub enum VaultError {
    /// The secret was not encrypted for this endpoint under an available master key.
    #[error("secret was not sealed for this endpoint under a known master key")]
    Sealed,
    /// Another instance, or an earlier one, encrypted it under a master key that this one does not have.
    #[error(
        "it was sealed with the master key {0}, which this server does not have: every instance needs the same master \
         key file; give this one a copy of it and start it again"
    )]
    OtherKey(MasterKeyId),
}

/// Encrypts and decrypts signing secrets: the first of its master keys encrypts, all decrypt.
#[derive(Clone)]
pub struct Vault {
    keys: MasterKeys,
}

impl Vault {
    /// A vault with the master keys of `path`, the first of which is active.
    pub fn open(path: &Path) -> Result<Self, MasterKeyFileError> {
        let keys = master_key::read(path)?;
        Ok(Self { keys })
    }

    /// A vault with the master keys of `path`, or with a new one that is stored there for its owner
    /// alone.
    pub fn open_or_create(path: &Path) -> Result<Self, MasterKeyFileError> {
        let keys = master_key::read_or_create(path)?;
        Ok(Self { keys })
    }

    /// A vault with one master key.
    #[must_use]
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        let keys = MasterKeys {
            active: MasterKey::new(key),
            others: Vec::new(),
        };
        Self { keys }
    }

    /// Adds a key that only decrypts.
    #[must_use]
    pub fn also_opening(mut self, key: &[u8; KEY_BYTES]) -> Self {
        self.keys.others.push(MasterKey::new(key));
        self
    }

    /// Encrypts a secret for this endpoint alone.
    pub fn seal(
        &self,
        endpoint: EndpointId,
        secret: &SecretString,
    ) -> Result<SealedSecret, VaultError> {
        let nonce = random_bytes::<NONCE_BYTES>();
        let payload = Payload {
            msg: secret.expose_secret().as_bytes(),
            aad: endpoint.as_uuid().as_bytes(),
        };
        let key = &self.keys.active;
        let sealed = key.cipher.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| VaultError::Sealed)?;
        Ok(SealedSecret(
            [&[LAYOUT_VERSION], &key.id.0[..], &nonce, &sealed].concat(),
        ))
    }

    /// Decrypts the result of [`Vault::seal`] under any of the keys.
    pub fn unseal(&self, endpoint: EndpointId, sealed: &[u8]) -> Result<SecretString, VaultError> {
        let other = Parts::of(sealed)
            .map(|parts| parts.key)
            .filter(|id| self.keys().all(|known| known != *id));
        match other {
            Some(id) => Err(VaultError::OtherKey(id)),
            None => self.decrypt(endpoint, sealed).ok_or(VaultError::Sealed),
        }
    }

    /// The key that encrypts.
    #[must_use]
    pub fn active(&self) -> MasterKeyId {
        self.keys.active.id
    }

    /// All keys, the active one first.
    pub fn keys(&self) -> impl Iterator<Item = MasterKeyId> {
        self.keys.iter().map(|key| key.id)
    }

    /// The key that encrypted a secret, available here or not; `None` when no vault encrypted it.
    #[must_use]
    pub fn key_of(sealed: &SealedSecret) -> Option<MasterKeyId> {
        Some(Parts::of(&sealed.0)?.key)
    }

    /// The keys of links to the supplier's page, that of the active key first.
    pub(super) fn link_keys(&self) -> Vec<DerivedKey> {
        self.keys.iter().map(|key| key.links.clone()).collect()
    }

    /// The keys of the cursors of events, that of the active key first.
    pub(super) fn cursor_keys(&self) -> Vec<DerivedKey> {
        self.keys.iter().map(|key| key.cursors.clone()).collect()
    }

    fn decrypt(&self, endpoint: EndpointId, sealed: &[u8]) -> Option<SecretString> {
        let parts = Parts::of(sealed)?;
        let key = self.keys.iter().find(|key| key.id == parts.key)?;
        let payload = Payload {
            msg: parts.ciphertext,
            aad: endpoint.as_uuid().as_bytes(),
        };
        let clear = key.cipher.decrypt(&parts.nonce, payload).ok()?;
        match String::from_utf8(clear) {
            Ok(secret) => Some(secret.into()),
            Err(error) => {
                error.into_bytes().zeroize();
                None
            }
        }
    }
}

/// The parts of an encrypted secret.
struct Parts<'s> {
    key: MasterKeyId,
    nonce: XNonce,
    ciphertext: &'s [u8],
}

impl<'s> Parts<'s> {
    fn of(sealed: &'s [u8]) -> Option<Self> {
        let rest = sealed.strip_prefix(&[LAYOUT_VERSION])?;
        let (key, rest) = rest.split_first_chunk::<KEY_ID_BYTES>()?;
        let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_BYTES>()?;
        Some(Self {
            key: MasterKeyId(*key),
            nonce: XNonce::from(*nonce),
            ciphertext,
        })
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.keys().map(|id| id.to_string()).collect();
        f.debug_struct("Vault")
            .field("keys", &keys)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn endpoint(number: u128) -> EndpointId {
        EndpointId::new(Uuid::from_u128(number))
    }

    fn secret() -> SecretString {
        SecretString::from("whsec_example")
    }

    #[test]
    fn a_sealed_secret_opens_only_for_its_endpoint_under_its_key() {
        let (vault, other) = (Vault::new(&[1; 32]), Vault::new(&[2; 32]));
        let sealed = vault.seal(endpoint(1), &secret()).unwrap();
        let opened = vault.unseal(endpoint(1), &sealed.0).unwrap();
        assert_eq!(opened.expose_secret(), "whsec_example");
        assert!(vault.unseal(endpoint(2), &sealed.0).is_err());
        assert!(other.unseal(endpoint(1), &sealed.0).is_err());
        for index in 0..sealed.0.len() {
            let mut broken = sealed.0.clone();
            broken[index] ^= 1;
            assert!(vault.unseal(endpoint(1), &broken).is_err(), "byte {index}");
        }
    }

    #[test]
    fn every_known_key_opens_and_the_active_one_seals() {
        let (old, new) = (Vault::new(&[1; 32]), Vault::new(&[2; 32]));
        let both = Vault::new(&[2; 32]).also_opening(&[1; 32]);
        let by_old = old.seal(endpoint(1), &secret()).unwrap();
        assert!(both.unseal(endpoint(1), &by_old.0).is_ok());
        let by_both = both.seal(endpoint(1), &secret()).unwrap();
        assert!(new.unseal(endpoint(1), &by_both.0).is_ok());
        assert!(old.unseal(endpoint(1), &by_both.0).is_err());
        assert_eq!(Vault::key_of(&by_old), Some(old.active()));
        assert_eq!(Vault::key_of(&by_both), Some(both.active()));
        assert_eq!(Vault::key_of(&SealedSecret(vec![1; 12])), None);
    }

    #[test]
    fn a_vault_shows_the_ids_of_its_keys_and_nothing_else() {
        let vault = Vault::new(&[0xab; 32]).also_opening(&[0xcd; 32]);
        let [active, other] = [0xab, 0xcd].map(|byte| Vault::new(&[byte; 32]).active());
        let shown = format!("{vault:?}");
        assert_eq!(
            shown,
            format!("Vault {{ keys: [\"{active}\", \"{other}\"], .. }}")
        );
    }
}
