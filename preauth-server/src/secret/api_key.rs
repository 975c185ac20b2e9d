//! API keys: `service_sk_`, 192 random bits, and a checksum that tells a typing error from a key
//! without a look-up (contract, "Authentication").

use secrecy::SecretString;
use sha2::{Digest, Sha256};

use crate::access::KeyHash;
use crate::ids::random_bytes;

const PREFIX: &str = "service_sk_";
const RANDOM_HEX: usize = 48;
const CHECKSUM_HEX: usize = 8;
/// Of the clear text, so much is kept to tell keys apart: the prefix and four characters.
const SHOWN_CHARACTERS: usize = 15;

/// A key that was just made; its clear text is shown once and then forgotten.
#[derive(Debug)]
pub struct NewApiKey {
    /// The whole key.
    pub clear_text: SecretString,
    /// What is stored of it.
    pub hash: KeyHash,
    /// Its first characters.
    pub prefix: String,
}

impl NewApiKey {
    /// Makes a key.
    #[must_use]
    pub fn generate() -> Self {
        let random = hex::encode(random_bytes::<{ RANDOM_HEX / 2 }>());
        let text = format!("{PREFIX}{random}{}", checksum(&random));
        Self {
            hash: hash(&text),
            prefix: text.chars().take(SHOWN_CHARACTERS).collect(),
            clear_text: text.into(),
        }
    }
}

/// The hash of a key as a caller presents it; `None` when it cannot be a key.
#[must_use]
pub fn hash_of_presented(text: &str) -> Option<KeyHash> {
    let body = text.strip_prefix(PREFIX)?;
    let (random, sum) = body.split_at_checked(RANDOM_HEX)?;
    (sum.len() == CHECKSUM_HEX && sum == checksum(random)).then(|| hash(text))
}

fn hash(text: &str) -> KeyHash {
    KeyHash(Sha256::digest(text).into())
}

fn checksum(random: &str) -> String {
    hex::encode(Sha256::digest(random))
        .chars()
        .take(CHECKSUM_HEX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{NewApiKey, hash_of_presented};
    use secrecy::ExposeSecret;

    #[test]
    fn a_new_key_is_recognised() {
        let key = NewApiKey::generate();
        let text = key.clear_text.expose_secret();
        assert!(text.starts_with(&key.prefix), "the prefix is of the key");
        assert_eq!(hash_of_presented(text), Some(key.hash));
    }

    #[test]
    fn a_key_with_one_character_changed_is_no_key() {
        let key = NewApiKey::generate();
        let text = key.clear_text.expose_secret();
        for index in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[index] = if bytes[index] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(hash_of_presented(&changed), None, "{index}");
        }
    }

    #[test]
    fn strange_texts_are_no_keys() {
        for text in [
            "",
            "service_sk_",
            "service_sk_é",
            "Bearer x",
            &"service_sk_".repeat(9),
        ] {
            assert_eq!(hash_of_presented(text), None, "{text}");
        }
    }
}
