//! Secrets that the server generates: a prefix, 192 random bits, and a checksum that detects a typing
//! error without a look-up.

use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use sha2::{Digest, Sha256};

use super::KeyHash;
use crate::ids::random_bytes;

const RANDOM_BYTES: usize = 24;
const RANDOM_HEX: usize = 48;
const CHECKSUM_HEX: usize = 8;

/// The random part of a secret.
pub type RandomPart = Zeroizing<[u8; RANDOM_BYTES]>;

/// Generates a secret with this prefix.
pub(super) fn generate(prefix: &str) -> SecretString {
    assemble(prefix, &Zeroizing::new(random_bytes()))
}

/// The secret with this prefix and this random part.
pub(super) fn assemble(prefix: &str, random: &RandomPart) -> SecretString {
    let digits = Zeroizing::new(hex::encode(random.as_slice()));
    format!("{prefix}{}{}", digits.as_str(), checksum(&digits)).into()
}

/// The hash of a presented secret; `None` when it has another form.
pub(super) fn hash_of_presented(prefix: &str, text: &str) -> Option<KeyHash> {
    digits(prefix, text).map(|_| hash(text))
}

/// The random part of a secret; `None` when it has another form.
pub(super) fn random_part(prefix: &str, text: &str) -> Option<RandomPart> {
    let digits = digits(prefix, text)?;
    let mut random = Zeroizing::new([0; RANDOM_BYTES]);
    hex::decode_to_slice(digits, random.as_mut_slice()).ok()?;
    // The digits of a generated secret are lower case.
    (hex::encode(random.as_slice()) == digits).then_some(random)
}

/// The hash that is stored of a secret.
pub(super) fn hash(text: &str) -> KeyHash {
    KeyHash(Sha256::digest(text).into())
}

fn digits<'a>(prefix: &str, text: &'a str) -> Option<&'a str> {
    let body = text.strip_prefix(prefix)?;
    let (digits, sum) = body.split_at_checked(RANDOM_HEX)?;
    (sum.len() == CHECKSUM_HEX && sum == checksum(digits)).then_some(digits)
}

fn checksum(digits: &str) -> String {
    hex::encode(Sha256::digest(digits))
        .chars()
        .take(CHECKSUM_HEX)
        .collect()
}
