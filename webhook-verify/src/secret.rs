//! The signing secret, parsed once into a prepared key.

use core::error::Error;
use core::fmt;
use core::str::FromStr;

use crate::mac::HmacKey;

/// The prefix of every signing secret.
pub const SECRET_PREFIX: &str = "whsec_";

/// Minimum length of a secret in bytes, its prefix included. A shorter one can be guessed.
pub const MIN_SECRET_BYTES: usize = 24;

/// A signing secret, kept as a prepared HMAC key
/// ([contract, "Endpoint registration rules"](https://example.com/preauth/blob/main/docs/reference.md#endpoint-registration-rules)).
///
/// The key is the UTF-8 bytes of the whole secret, prefix included; nothing is decoded. The text
/// itself is not kept, `Debug` shows nothing of it, and there is no `PartialEq`, which would not
/// compare in constant time.
///
/// ```
/// use webhook_verify::Secret;
///
/// let secret = Secret::parse("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE")?;
/// assert_eq!(format!("{secret:?}"), "Secret(redacted)");
/// assert!(Secret::parse("whsec_").is_err());
/// # Ok::<(), webhook_verify::SecretError>(())
/// ```
#[derive(Clone)]
pub struct Secret {
    key: HmacKey,
}

impl Secret {
    /// Parses a secret as the platform displayed it.
    ///
    /// Refused are an empty text, one without the prefix, the prefix alone, one with white space or
    /// control characters, and one shorter than [`MIN_SECRET_BYTES`]. A copied line end, if it were
    /// accepted, would only show as signatures that never match.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        if text.is_empty() {
            return Err(SecretError::Empty);
        }
        let Some(rest) = text.strip_prefix(SECRET_PREFIX) else {
            return Err(SecretError::MissingPrefix);
        };
        if rest.is_empty() {
            return Err(SecretError::PrefixOnly);
        }
        if rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(SecretError::WhiteSpace);
        }
        if text.len() < MIN_SECRET_BYTES {
            return Err(SecretError::TooShort);
        }
        let key = HmacKey::new(text.as_bytes());
        Ok(Self { key })
    }

    /// The prepared key, for the one place that computes signatures.
    pub(crate) fn key(&self) -> &HmacKey {
        &self.key
    }
}

impl FromStr for Secret {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

/// Why a text is refused as a signing secret. The error contains nothing of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretError {
    /// The text is empty, perhaps because an environment variable is not set.
    Empty,
    /// The text does not begin with [`SECRET_PREFIX`].
    MissingPrefix,
    /// There is nothing after [`SECRET_PREFIX`].
    PrefixOnly,
    /// The text contains white space or a control character.
    WhiteSpace,
    /// The text is shorter than [`MIN_SECRET_BYTES`].
    TooShort,
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the signing secret is empty"),
            Self::MissingPrefix => {
                write!(f, "the signing secret does not begin with {SECRET_PREFIX}")
            }
            Self::PrefixOnly => write!(f, "the signing secret has nothing after {SECRET_PREFIX}"),
            Self::WhiteSpace => f.write_str(
                "the signing secret has white space or a control character in it; \
                 was a line end copied along?",
            ),
            Self::TooShort => write!(
                f,
                "the signing secret is shorter than {MIN_SECRET_BYTES} bytes"
            ),
        }
    }
}

impl Error for SecretError {}

explained!(SecretError);

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_secret_of_the_fewest_bytes_is_accepted_and_one_byte_less_is_not() {
        assert!(Secret::parse("whsec_0123456789abcdefgh").is_ok());
        let error = Secret::parse("whsec_0123456789abcdefg").unwrap_err();
        assert_eq!(error, SecretError::TooShort);
    }

    #[test]
    fn secrets_that_anybody_could_sign_with_are_refused() {
        let cases = [
            ("", SecretError::Empty),
            ("whsec_", SecretError::PrefixOnly),
            ("whsec_short", SecretError::TooShort),
            (
                "0123456789abcdef0123456789abcdef",
                SecretError::MissingPrefix,
            ),
            ("WHSEC_0123456789abcdef01234567", SecretError::MissingPrefix),
            (
                " whsec_0123456789abcdef01234567",
                SecretError::MissingPrefix,
            ),
            ("whsec_0123456789abcdef01234567\n", SecretError::WhiteSpace),
            ("whsec_0123456789abcdef 01234567", SecretError::WhiteSpace),
            ("whsec_                        ", SecretError::WhiteSpace),
            (
                "whsec_0123456789abcdef\u{0}01234567",
                SecretError::WhiteSpace,
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(Secret::parse(text).unwrap_err(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_secret_shows_nothing_of_itself() {
        let secret = Secret::parse("whsec_0123456789abcdef01234567").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(redacted)");
        let error = Secret::parse("whsec_hunter2").unwrap_err();
        assert!(!error.to_string().contains("hunter2"));
    }
}
