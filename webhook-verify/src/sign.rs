//! The sender's half, over the verifier's own definition of the signed string.

use alloc::string::{String, ToString};
use core::error::Error;
use core::fmt;

use hex::ToHex;

use crate::limits::MAX_SIGNATURES;
use crate::mac::signature;
use crate::secret::Secret;
use crate::timestamp::Timestamp;

/// Makes the value of [`SIGNATURE_HEADER`](crate::SIGNATURE_HEADER) for a body: one `v1` per valid
/// secret, in the order given
/// ([contract, "Signature"](https://example.com/preauth/blob/main/docs/reference.md#signature)).
///
/// Sign the exact bytes that are sent, and again for each attempt: receivers refuse old signatures.
///
/// It fails when no verifier would accept the result: without a secret, with more than
/// [`MAX_SIGNATURES`] secrets, or with a time before 1970 or of more than twelve digits.
///
/// ```
/// use webhook_verify::{Secret, sign};
///
/// let secret = Secret::parse("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE")?;
/// let header = sign(&[secret], 1_760_000_000, br#"{"type":"webhook.test"}"#)?;
/// assert_eq!(
///     header,
///     "t=1760000000,v1=57f9ec06861e4e8f14b16ea1ae1280c0ac52b3b342cd3a912dcc0283de7ab2d0"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sign(secrets: &[Secret], unix_seconds: i64, body: &[u8]) -> Result<String, SignError> {
    if secrets.is_empty() {
        return Err(SignError::NoSecret);
    }
    if secrets.len() > MAX_SIGNATURES {
        return Err(SignError::TooManySecrets);
    }
    let digits = unix_seconds.to_string();
    let timestamp = Timestamp::parse(digits.as_bytes()).map_err(|_| SignError::TimeOutOfRange)?;

    let mut header = String::from("t=");
    header.push_str(&digits);
    for secret in secrets {
        header.push_str(",v1=");
        let mac = signature(secret.key(), timestamp.text(), body);
        header.push_str(&mac.encode_hex::<String>());
    }
    Ok(header)
}

/// Why nothing was signed.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignError {
    /// No secret was given.
    NoSecret,
    /// More secrets were given than a header may have signatures.
    TooManySecrets,
    /// The time is before 1970, or has more digits than receivers accept.
    TimeOutOfRange,
}

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSecret => f.write_str("there is no secret to sign with"),
            Self::TooManySecrets => {
                write!(f, "more than {MAX_SIGNATURES} secrets to sign with")
            }
            Self::TimeOutOfRange => {
                f.write_str("the time of signing lies outside what receivers read")
            }
        }
    }
}

impl Error for SignError {}

explained!(SignError);

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn secret() -> Secret {
        Secret::parse("whsec_0123456789abcdef01234567").unwrap()
    }

    #[test]
    fn there_is_one_signature_per_secret() {
        let header = sign(&[secret(), secret()], 7, b"").unwrap();
        assert!(header.starts_with("t=7,v1="));
        assert_eq!(header.matches(",v1=").count(), 2);
    }

    #[test]
    fn signing_refuses_secrets_and_times_that_no_verifier_accepts() {
        assert_eq!(sign(&[], 7, b""), Err(SignError::NoSecret));
        let nine = vec![secret(); MAX_SIGNATURES + 1];
        assert_eq!(sign(&nine, 7, b""), Err(SignError::TooManySecrets));
        for time in [i64::MIN, -1, 1_000_000_000_000, i64::MAX] {
            let signed = sign(&[secret()], time, b"");
            assert_eq!(signed, Err(SignError::TimeOutOfRange), "{time}");
        }
    }
}
