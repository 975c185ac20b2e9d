//! A body whose sender is verified.

use core::fmt;

/// A body that was signed with one of the verifier's secrets, at a time within its tolerance.
///
/// Only [`Verifier`](crate::Verifier) makes one. Code that takes a `Verified` cannot be called with an
/// unverified body.
///
/// ```
/// use webhook_verify::Verified;
///
/// fn handle(delivery: Verified<'_>) -> usize {
///     delivery.body().len()
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Verified<'b> {
    body: &'b [u8],
    signed_at_unix_seconds: i64,
}

impl<'b> Verified<'b> {
    /// Called by the verifier only.
    pub(crate) fn new(body: &'b [u8], signed_at_unix_seconds: i64) -> Self {
        Self {
            body,
            signed_at_unix_seconds,
        }
    }

    /// The signed bytes: the slice that was passed to the verifier, not a copy.
    #[must_use]
    pub fn body(&self) -> &'b [u8] {
        self.body
    }

    /// When this attempt was signed, in seconds since 1970. It is not the time of the event: each
    /// repeated delivery of an event is signed later.
    #[must_use]
    pub fn signed_at_unix_seconds(&self) -> i64 {
        self.signed_at_unix_seconds
    }
}

impl AsRef<[u8]> for Verified<'_> {
    fn as_ref(&self) -> &[u8] {
        self.body
    }
}

/// Shows the length of the body only: the body contains tax ids and amounts.
impl fmt::Debug for Verified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verified")
            .field("body_bytes", &self.body.len())
            .field("signed_at_unix_seconds", &self.signed_at_unix_seconds)
            .finish()
    }
}
