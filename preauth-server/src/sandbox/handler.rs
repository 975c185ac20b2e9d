//! The sandbox's own receiver, which prints its deliveries in the story.

use preauth_core::wire::{EventData, RawEventEnvelope};
use webhook_verify::{Secret, Verifier};

use super::words;
use crate::http::{Answer, Delivery, DeliveryHandler};
use crate::language::Language;

/// Verifies every delivery and prints the result.
#[derive(Debug)]
pub struct SandboxHandler {
    verifier: Verifier,
    language: Language,
}

impl SandboxHandler {
    /// A handler that verifies with this secret and prints in this language.
    #[must_use]
    pub fn new(secret: Secret, language: Language) -> Self {
        Self {
            verifier: Verifier::new(secret),
            language,
        }
    }

    fn story(&self, event: Option<&RawEventEnvelope>) -> String {
        let Some(event) = event else {
            return words::BODY_IS_NO_EVENT.of(self.language).to_owned();
        };
        let (id, event_type) = (event.id.to_string(), event.event_type.as_str());
        let line = words::verified(self.language, &id, event_type);
        match event.data() {
            Ok(EventData::Operation(data)) => {
                let (id, status) = (data.anticipation_id, data.status);
                let subject = words::is(self.language, id, status.as_str());
                format!("{line}: {subject}")
            }
            _ => line,
        }
    }
}

impl DeliveryHandler for SandboxHandler {
    fn handle(&self, signature: Option<&[u8]>, body: &[u8]) -> Answer {
        let delivery = Delivery::validate(&self.verifier, signature, body);
        match delivery.signed_at {
            Ok(_) => {
                let story = self.story(delivery.event.as_ref());
                tracing::info!(target: "receiver", "{story}");
                Answer::at_once(204)
            }
            Err(error) => {
                let why = words::signature_refusal(self.language, error);
                let story = words::signature_refused(self.language, &why);
                tracing::warn!(target: "receiver", "{story}");
                Answer::at_once(400)
            }
        }
    }
}
