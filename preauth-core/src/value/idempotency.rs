//! Idempotency keys and request fingerprints, by which a repeated create is recognized.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::characters::nfc;

/// The caller's identifier of one create, sent as `Idempotency-Key`.
///
/// [Contract, "POST /api/integration/v1/pre-authorizations"](https://example.com/preauth/blob/main/docs/reference.md#post-apiintegrationv1pre-authorizations):
/// 8 to 100 characters of
/// `[A-Za-z0-9._:-]`.
///
/// ```
/// use preauth_core::value::{IdempotencyKey, IdempotencyKeyError};
///
/// assert_eq!(IdempotencyKey::parse("order:2026-0042")?.as_str(), "order:2026-0042");
/// assert_eq!(IdempotencyKey::parse("short"), Err(IdempotencyKeyError::TooShort { found: 5 }));
/// # Ok::<(), IdempotencyKeyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(String);

/// Why a text is not an idempotency key.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum IdempotencyKeyError {
    /// A character other than ASCII letters, digits and `._:-`.
    #[error(
        "the idempotency key has a character that is not allowed; expected ASCII letters, digits and . _ : -"
    )]
    InvalidCharacter,
    /// Fewer than 8 characters. An empty key is refused as well; it does not count as absent.
    #[error("the idempotency key has {found} characters, the minimum is 8")]
    TooShort {
        /// Characters sent.
        found: usize,
    },
    /// More than 100 characters.
    #[error("the idempotency key has {found} characters, the maximum is 100")]
    TooLong {
        /// Characters sent.
        found: usize,
    },
}

crate::explained::explained!(IdempotencyKeyError);

impl IdempotencyKey {
    /// Minimum length in characters.
    pub const MIN_CHARS: usize = 8;

    /// Maximum length in characters.
    pub const MAX_CHARS: usize = 100;

    /// Reads a key exactly as sent, without trimming.
    pub fn parse(text: &str) -> Result<Self, IdempotencyKeyError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        if !text.bytes().all(allowed) {
            return Err(IdempotencyKeyError::InvalidCharacter);
        }
        match text.len() {
            found if found < Self::MIN_CHARS => Err(IdempotencyKeyError::TooShort { found }),
            found if found > Self::MAX_CHARS => Err(IdempotencyKeyError::TooLong { found }),
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// The key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for IdempotencyKey {
    type Err = IdempotencyKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// The digest of a create request, equal for equivalent requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint with these bytes, the output of SHA-256.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The fingerprints of one request: the one that is stored, and the one that earlier builds stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprints {
    compared: Fingerprint,
    as_sent: Fingerprint,
}

impl Fingerprints {
    /// The fingerprint to store, computed over the compared form of the texts.
    #[must_use]
    pub const fn compared(&self) -> Fingerprint {
        self.compared
    }

    /// The fingerprint that earlier builds stored, computed over the texts as they were sent.
    #[must_use]
    pub const fn as_sent(&self) -> Fingerprint {
        self.as_sent
    }

    /// Whether a stored fingerprint is one of this request.
    #[must_use]
    pub fn include(&self, remembered: &Fingerprint) -> bool {
        self.compared == *remembered || self.as_sent == *remembered
    }
}

impl From<Fingerprint> for Fingerprints {
    /// The fingerprints of a request without texts, which are equal.
    fn from(fingerprint: Fingerprint) -> Self {
        Self {
            compared: fingerprint,
            as_sent: fingerprint,
        }
    }
}

/// Makes the fingerprints of a request: SHA-256 over the parts of a normalised request.
///
/// Each part is encoded with its length, an absent part differs from an empty one, and the first byte is
/// the version of the layout.
#[derive(Clone, Debug)]
pub struct FingerprintBuilder {
    compared: Sha256,
    as_sent: Sha256,
}

impl FingerprintBuilder {
    /// Starts the fingerprints of a request whose parts have this version of the layout.
    #[must_use]
    pub fn new(layout_version: u8) -> Self {
        let hash = Sha256::new_with_prefix([layout_version]);
        Self {
            compared: hash.clone(),
            as_sent: hash,
        }
    }

    /// Adds a part that is compared byte for byte; `None` records that it is absent.
    pub fn part<P: AsRef<[u8]> + ?Sized>(&mut self, part: Option<&P>) {
        let bytes = part.map(AsRef::as_ref);
        update(&mut self.compared, bytes);
        update(&mut self.as_sent, bytes);
    }

    /// Adds a text, which is compared in normalization form C; `None` records that it is absent.
    pub fn text(&mut self, text: Option<&str>) {
        let compared = text.map(nfc);
        update(&mut self.compared, compared.as_deref().map(str::as_bytes));
        update(&mut self.as_sent, text.map(str::as_bytes));
    }

    /// Returns the fingerprints of all parts.
    #[must_use]
    pub fn finish(self) -> Fingerprints {
        Fingerprints {
            compared: Fingerprint(self.compared.finalize().into()),
            as_sent: Fingerprint(self.as_sent.finalize().into()),
        }
    }
}

fn update(hash: &mut Sha256, part: Option<&[u8]>) {
    match part {
        None => hash.update([0]),
        Some(bytes) => {
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            hash.update([1]);
            hash.update(length.to_be_bytes());
            hash.update(bytes);
        }
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}
