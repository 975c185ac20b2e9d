//! What arrived, checked.

use preauth_core::wire::{EventData, RawEventEnvelope};
use webhook_verify::{Verifier, VerifyError};

/// A delivery and what there is to say of it.
#[derive(Debug)]
pub struct Delivery {
    /// When it was signed, in seconds since 1970, or why its sender is not known.
    pub verdict: Result<i64, VerifyError>,
    /// The event in its body, whoever wrote it; `None` when the body is no event.
    pub event: Option<RawEventEnvelope>,
}

impl Delivery {
    /// Checks a delivery by its signature header and its body as it came.
    #[must_use]
    pub fn validate(verifier: &Verifier, signature: Option<&[u8]>, body: &[u8]) -> Self {
        let verdict = verifier.verify_now(signature, body);
        Self {
            verdict: verdict.map(|it| it.signed_at_unix_seconds()),
            event: RawEventEnvelope::from_json(body).ok(),
        }
    }

    /// What became of which operation; empty for events about something else.
    #[must_use]
    pub fn subject(&self) -> String {
        match self.event.as_ref().map(RawEventEnvelope::data) {
            Some(Ok(EventData::Operation(data))) => {
                let (operation, status) = (data.anticipation_id, data.status);
                format!("operation {operation} is {}", status.as_str())
            }
            _ => String::new(),
        }
    }
}
