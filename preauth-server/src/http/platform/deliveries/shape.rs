//! A delivery as answers show it.

use serde::Serialize;

use crate::directory::{AttemptRecord, Delivery};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeliveryShape {
    id: String,
    event_id: String,
    event_type: String,
    status: &'static str,
    next_attempt_at: Option<String>,
    created_at: String,
    attempts: Vec<AttemptShape>,
    /// A text, not an object: the exact bytes that were signed.
    body: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AttemptShape {
    number: u32,
    at: String,
    duration_ms: u64,
    http_status: Option<u16>,
    error: Option<String>,
    response_body: Option<String>,
    trigger: String,
}

impl From<&Delivery> for DeliveryShape {
    fn from(delivery: &Delivery) -> Self {
        Self {
            id: delivery.id.to_string(),
            event_id: delivery.event.to_string(),
            event_type: delivery.event_type.clone(),
            status: delivery.status.as_str(),
            next_attempt_at: delivery.next_attempt_at.map(|at| at.to_string()),
            created_at: delivery.created_at.to_string(),
            attempts: delivery.attempts.iter().map(Into::into).collect(),
            body: delivery.body.clone(),
        }
    }
}

impl From<&AttemptRecord> for AttemptShape {
    fn from(attempt: &AttemptRecord) -> Self {
        Self {
            number: attempt.number,
            at: attempt.at.to_string(),
            duration_ms: attempt.duration_ms,
            http_status: attempt.http_status,
            error: attempt.error.clone(),
            response_body: attempt.response_body.clone(),
            trigger: attempt.trigger.clone(),
        }
    }
}
