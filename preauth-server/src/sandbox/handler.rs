//! The sandbox's own receiver, which prints its deliveries in the story.

use webhook_verify::{Secret, Verifier};

use crate::http::{Answer, Delivery, DeliveryHandler};

/// Verifies every delivery and prints the result.
#[derive(Debug)]
pub struct SandboxHandler(Verifier);

impl SandboxHandler {
    /// A handler that verifies with this secret.
    #[must_use]
    pub fn new(secret: Secret) -> Self {
        Self(Verifier::new(secret))
    }
}

impl DeliveryHandler for SandboxHandler {
    fn handle(&self, signature: Option<&[u8]>, body: &[u8]) -> Answer {
        let delivery = Delivery::validate(&self.0, signature, body);
        match delivery.verdict {
            Ok(_) => {
                tracing::info!(target: "receiver", "{}", story(&delivery));
                Answer::at_once(204)
            }
            Err(error) => {
                tracing::warn!(target: "receiver", "signature refused: {error}");
                Answer::at_once(400)
            }
        }
    }
}

fn story(delivery: &Delivery) -> String {
    let Some(event) = &delivery.event else {
        return "signature verified, but the body is no event".to_owned();
    };
    let (id, event_type, subject) = (event.id, event.event_type.as_str(), delivery.subject());
    let colon = if subject.is_empty() { "" } else { ": " };
    format!("signature verified, event {id} {event_type}{colon}{subject}")
}
