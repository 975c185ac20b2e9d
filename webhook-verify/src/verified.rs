//! Bytes whose sender is known.

use core::fmt;

/// A body that was signed with one of the verifier's secrets, at a time within its tolerance.
///
/// Only [`Verifier`](crate::Verifier) makes one. Let the code that parses and handles an event take
/// a `Verified`, and it cannot be handed bytes that nobody checked.
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
    /// For the verifier alone.
    pub(crate) fn new(body: &'b [u8], signed_at_unix_seconds: i64) -> Self {
        Self {
            body,
            signed_at_unix_seconds,
        }
    }

    /// The bytes that were signed: the very slice that was given, not a copy.
    #[must_use]
    pub fn body(&self) -> &'b [u8] {
        self.body
    }

    /// When this attempt was signed, in seconds since 1970. A repeated delivery of the same event
    /// has a later one: this is not the time of the event.
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

/// Shows the length of the body, not the body: it has tax ids and amounts in it.
impl fmt::Debug for Verified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verified")
            .field("body_bytes", &self.body.len())
            .field("signed_at_unix_seconds", &self.signed_at_unix_seconds)
            .finish()
    }
}
