//! The verifier, the receiver's half of signing.

use alloc::vec::Vec;
use core::iter;
use core::time::Duration;
#[cfg(feature = "std")]
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::VerifyError;
use crate::header::SignatureHeader;
use crate::mac::{any_match, signature};
use crate::secret::Secret;
use crate::timestamp::Timestamp;
use crate::verified::Verified;

/// Default maximum difference between a signature's time and now, in either direction
/// ([contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits)).
pub const DEFAULT_TOLERANCE: Duration = Duration::from_secs(300);

/// Verifies deliveries against one or more secrets
/// ([contract, "Signature"](https://example.com/preauth/blob/main/docs/reference.md#signature)).
///
/// Make one at start and share it: its keys are prepared once, it is `Send` and `Sync`, and
/// verifying neither allocates nor copies the body.
///
/// ```
/// use std::time::Duration;
/// use webhook_verify::{Secret, Verifier};
///
/// let current = Secret::parse("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE")?;
/// let previous = Secret::parse("whsec_dGhlLW9uZS1iZWZvcmUtdGhlLXJvdGF0aW9uISE")?;
/// let verifier = Verifier::new(current)
///     .also_accepting(previous)
///     .with_tolerance(Duration::from_secs(120));
/// # let _ = verifier;
/// # Ok::<(), webhook_verify::SecretError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Verifier {
    secret: Secret,
    further_secrets: Vec<Secret>,
    tolerance_seconds: u64,
}

impl Verifier {
    /// A verifier with one secret and [`DEFAULT_TOLERANCE`].
    #[must_use]
    pub fn new(secret: Secret) -> Self {
        Self {
            secret,
            further_secrets: Vec::new(),
            tolerance_seconds: DEFAULT_TOLERANCE.as_secs(),
        }
    }

    /// Also accepts bodies signed with this secret: the previous one during a rotation, or the secret
    /// of another endpoint. Each secret costs one more HMAC over each body.
    #[must_use]
    pub fn also_accepting(mut self, secret: Secret) -> Self {
        self.further_secrets.push(secret);
        self
    }

    /// Sets the maximum difference between a signature's time and now, in whole seconds; a fraction is
    /// dropped.
    ///
    /// A longer tolerance gives an attacker who intercepted a delivery more time to replay it.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance_seconds = tolerance.as_secs();
        self
    }

    /// Verifies a delivery at a given time, and returns its body as [`Verified`].
    ///
    /// `signature_header` is the value of [`SIGNATURE_HEADER`](crate::SIGNATURE_HEADER), `None`
    /// when the request has none. `body` is the body exactly as received: verify before anything
    /// parses, decodes or re-encodes it. `now_unix_seconds` is the current time in seconds since
    /// 1970.
    ///
    /// The form is validated first, then the time (inclusive at both ends), then every signature
    /// against every secret, in constant time.
    ///
    /// ```
    /// use webhook_verify::{Secret, Verifier, VerifyError, sign};
    ///
    /// let secret = Secret::parse("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE")?;
    /// let header = sign(&[secret.clone()], 1_760_000_000, b"{}")?;
    /// let verifier = Verifier::new(secret);
    ///
    /// let verified = verifier.verify(Some(header.as_bytes()), b"{}", 1_760_000_300)?;
    /// assert_eq!(verified.body(), b"{}");
    ///
    /// let changed = verifier.verify(Some(header.as_bytes()), b"{ }", 1_760_000_300);
    /// assert_eq!(changed, Err(VerifyError::NoMatch));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify<'b>(
        &self,
        signature_header: Option<&[u8]>,
        body: &'b [u8],
        now_unix_seconds: i64,
    ) -> Result<Verified<'b>, VerifyError> {
        let value = signature_header.ok_or(VerifyError::MissingHeader)?;
        let header = SignatureHeader::parse(value).map_err(VerifyError::Malformed)?;
        let timestamp = header.timestamp();
        self.check_time(timestamp, now_unix_seconds)?;

        let expected = self
            .secrets()
            .map(|secret| signature(secret.key(), timestamp.text(), body));
        if any_match(expected, &header.candidates()) {
            Ok(Verified::new(body, timestamp.unix_seconds()))
        } else {
            Err(VerifyError::NoMatch)
        }
    }

    /// [`verify`](Self::verify) at the system clock's time.
    ///
    /// ```
    /// use webhook_verify::{Secret, Verifier, VerifyError};
    ///
    /// let secret = Secret::parse("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE")?;
    /// let refused = Verifier::new(secret).verify_now(None, b"{}");
    /// assert_eq!(refused, Err(VerifyError::MissingHeader));
    /// # Ok::<(), webhook_verify::SecretError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn verify_now<'b>(
        &self,
        signature_header: Option<&[u8]>,
        body: &'b [u8],
    ) -> Result<Verified<'b>, VerifyError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "reading the clock is the purpose here; `verify` takes the time as a value"
        )]
        let now = SystemTime::now();
        self.verify(signature_header, body, unix_seconds(now))
    }

    fn secrets(&self) -> impl Iterator<Item = &Secret> {
        iter::once(&self.secret).chain(&self.further_secrets)
    }

    fn check_time(
        &self,
        timestamp: Timestamp<'_>,
        now_unix_seconds: i64,
    ) -> Result<(), VerifyError> {
        let signed_at = timestamp.unix_seconds();
        let tolerance_seconds = self.tolerance_seconds;
        let distance = now_unix_seconds.abs_diff(signed_at);
        if distance <= tolerance_seconds {
            Ok(())
        } else if signed_at < now_unix_seconds {
            Err(VerifyError::TooOld {
                age_seconds: distance,
                tolerance_seconds,
            })
        } else {
            Err(VerifyError::TooNew {
                ahead_seconds: distance,
                tolerance_seconds,
            })
        }
    }
}

/// Seconds since 1970, negative before. A time out of range becomes the smallest or largest number, which
/// is refused like any other distant time.
#[cfg(feature = "std")]
fn unix_seconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(until) => {
            let seconds = i64::try_from(until.duration().as_secs());
            seconds.map_or(i64::MIN, i64::wrapping_neg)
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn verifier() -> Verifier {
        Verifier::new(Secret::parse("whsec_0123456789abcdef01234567").unwrap())
    }

    fn check(verifier: &Verifier, signed_at: &str, now: i64) -> Result<(), VerifyError> {
        verifier.check_time(Timestamp::parse(signed_at.as_bytes()).unwrap(), now)
    }

    // Contract: delivery/300-seconds limit/age-of-a-signature
    #[test]
    fn the_tolerance_is_inclusive_at_both_ends() {
        let verifier = verifier();
        for now in [700, 999, 1000, 1001, 1300] {
            assert_eq!(check(&verifier, "1000", now), Ok(()), "{now}");
        }
        assert_eq!(
            check(&verifier, "1000", 1301),
            Err(VerifyError::TooOld {
                age_seconds: 301,
                tolerance_seconds: 300
            })
        );
        assert_eq!(
            check(&verifier, "1000", 699),
            Err(VerifyError::TooNew {
                ahead_seconds: 301,
                tolerance_seconds: 300
            })
        );
    }

    #[test]
    fn a_clock_at_the_end_of_its_numbers_is_refused_without_overflow() {
        let verifier = verifier();
        assert!(matches!(
            check(&verifier, "0", i64::MAX),
            Err(VerifyError::TooOld { .. })
        ));
        assert!(matches!(
            check(&verifier, "999999999999", i64::MIN),
            Err(VerifyError::TooNew { .. })
        ));
        let lenient = verifier.with_tolerance(Duration::MAX);
        assert_eq!(check(&lenient, "999999999999", i64::MIN), Ok(()));
    }

    #[cfg(feature = "std")]
    #[test]
    fn the_system_clock_is_read_in_seconds_since_1970() {
        let header = format!("t=1,v1={}", "0".repeat(64));
        let refused = verifier().verify_now(Some(header.as_bytes()), b"");
        let Err(VerifyError::TooOld { age_seconds, .. }) = refused else {
            panic!("{refused:?}");
        };
        assert!((1_700_000_000..100_000_000_000).contains(&age_seconds));
    }

    #[cfg(feature = "std")]
    #[test]
    fn a_clock_before_1970_is_negative() {
        assert_eq!(unix_seconds(UNIX_EPOCH), 0);
        assert_eq!(unix_seconds(UNIX_EPOCH + Duration::from_secs(5)), 5);
        assert_eq!(unix_seconds(UNIX_EPOCH - Duration::from_secs(5)), -5);
    }

    #[test]
    fn a_verifier_is_shared_between_threads_and_shows_no_secret() {
        fn shareable<T: Send + Sync + 'static>(_: &T) {}
        let verifier = verifier();
        shareable(&verifier);
        assert_eq!(
            format!("{verifier:?}"),
            "Verifier { secret: Secret(redacted), further_secrets: [], tolerance_seconds: 300 }"
        );
    }
}
