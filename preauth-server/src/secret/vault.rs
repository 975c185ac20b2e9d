//! Signing secrets at rest: XChaCha20-Poly1305 under a master key, bound to their endpoint.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use preauth_core::value::EndpointId;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::directory::SealedSecret;
use crate::files;
use crate::ids::random_bytes;

const KEY_BYTES: usize = 32;
const KEY_ID_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;
/// First byte of a sealed secret; then the key's id, the nonce, and the ciphertext.
const LAYOUT_VERSION: u8 = 1;

/// Why a master key or a sealed secret could not be used.
#[derive(Debug, Error)]
pub enum VaultError {
    /// The key file could not be read or written.
    #[error("cannot use master key file {path}")]
    File {
        /// The file.
        path: String,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The key file does not hold 64 hexadecimal digits.
    #[error("master key file {path} must hold 64 hexadecimal digits")]
    Form {
        /// The file.
        path: String,
    },
    /// The secret was not sealed for this endpoint, or not under this master key.
    #[error("secret was not sealed for this endpoint under this master key")]
    Sealed,
}

/// Seals and opens signing secrets.
#[derive(Clone)]
pub struct Vault {
    key_id: [u8; KEY_ID_BYTES],
    cipher: XChaCha20Poly1305,
}

impl Vault {
    /// Takes the master key of `path`.
    pub fn open(path: &Path) -> Result<Self, VaultError> {
        let text = std::fs::read_to_string(path).map_err(|cause| file_error(path, cause))?;
        let mut key = [0; KEY_BYTES];
        hex::decode_to_slice(text.trim(), &mut key).map_err(|_| VaultError::Form {
            path: path.display().to_string(),
        })?;
        Ok(Self::new(&key))
    }

    /// Takes the master key of `path`, or makes one there that only its owner may read.
    pub fn open_or_create(path: &Path) -> Result<Self, VaultError> {
        let key = random_bytes::<KEY_BYTES>();
        match files::write_private(path, hex::encode(key).as_bytes()) {
            Ok(()) => Ok(Self::new(&key)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Self::open(path),
            Err(cause) => Err(file_error(path, cause)),
        }
    }

    /// Takes a master key.
    #[must_use]
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        let mut key_id = [0; KEY_ID_BYTES];
        for (target, byte) in key_id.iter_mut().zip(Sha256::digest(key)) {
            *target = byte;
        }
        Self {
            key_id,
            cipher: XChaCha20Poly1305::new(key.into()),
        }
    }

    /// Encrypts a secret so that it opens for this endpoint alone.
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
        let sealed = self
            .cipher
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| VaultError::Sealed)?;
        Ok(SealedSecret(
            [&[LAYOUT_VERSION], &self.key_id[..], &nonce, &sealed].concat(),
        ))
    }

    /// Decrypts what [`Vault::seal`] made.
    pub fn unseal(&self, endpoint: EndpointId, sealed: &[u8]) -> Result<SecretString, VaultError> {
        self.decrypt(endpoint, sealed).ok_or(VaultError::Sealed)
    }

    fn decrypt(&self, endpoint: EndpointId, sealed: &[u8]) -> Option<SecretString> {
        let rest = sealed
            .strip_prefix(&[LAYOUT_VERSION])?
            .strip_prefix(&self.key_id)?;
        let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload {
            msg: ciphertext,
            aad: endpoint.as_uuid().as_bytes(),
        };
        let clear = self.cipher.decrypt(&XNonce::from(*nonce), payload).ok()?;
        String::from_utf8(clear).ok().map(SecretString::from)
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault")
            .field("key_id", &hex::encode(self.key_id))
            .finish_non_exhaustive()
    }
}

fn file_error(path: &Path, cause: std::io::Error) -> VaultError {
    VaultError::File {
        path: path.display().to_string(),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::Vault;
    use preauth_core::value::EndpointId;
    use secrecy::{ExposeSecret, SecretString};
    use uuid::Uuid;

    #[test]
    fn a_sealed_secret_opens_only_for_its_endpoint_under_its_key() {
        let (vault, other) = (Vault::new(&[1; 32]), Vault::new(&[2; 32]));
        let (endpoint, stranger) = (
            EndpointId::new(Uuid::from_u128(1)),
            EndpointId::new(Uuid::from_u128(2)),
        );
        let secret = SecretString::from("whsec_example");
        let sealed = vault.seal(endpoint, &secret).unwrap();
        let opened = vault.unseal(endpoint, &sealed.0).unwrap();
        assert_eq!(opened.expose_secret(), "whsec_example");
        assert!(vault.unseal(stranger, &sealed.0).is_err());
        assert!(other.unseal(endpoint, &sealed.0).is_err());
        for index in 0..sealed.0.len() {
            let mut broken = sealed.0.clone();
            broken[index] ^= 1;
            assert!(vault.unseal(endpoint, &broken).is_err(), "byte {index}");
        }
    }

    #[test]
    fn a_key_file_is_made_once_and_read_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let first = Vault::open_or_create(&path).unwrap();
        let second = Vault::open_or_create(&path).unwrap();
        assert_eq!(first.key_id, second.key_id);
        std::fs::write(&path, "short").unwrap();
        assert!(Vault::open(&path).is_err());
    }
}
