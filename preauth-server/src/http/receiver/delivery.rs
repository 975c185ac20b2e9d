//! A received delivery, checked.

use preauth_core::wire::RawEventEnvelope;
use webhook_verify::{Verifier, VerifyError};

/// A delivery and the results of its checks.
#[derive(Debug)]
pub struct Delivery {
    /// The signature's time in seconds since 1970, or why the signature is invalid.
    pub signed_at: Result<i64, VerifyError>,
    /// The event in its body, even when the signature is invalid; `None` when the body is no event.
    pub event: Option<RawEventEnvelope>,
}

impl Delivery {
    /// Checks a delivery by its signature header and its raw body.
    #[must_use]
    pub fn validate(verifier: &Verifier, signature: Option<&[u8]>, body: &[u8]) -> Self {
        let outcome = verifier.verify_now(signature, body);
        Self {
            signed_at: outcome.map(|it| it.signed_at_unix_seconds()),
            event: RawEventEnvelope::from_json(body).ok(),
        }
    }
}
