//! A mail as answers show it.

use preauth_core::value::OperationId;
use serde::Serialize;

use crate::directory::Mail;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MailShape {
    id: String,
    kind: &'static str,
    operation_id: Option<i64>,
    recipient: String,
    status: &'static str,
    created_at: String,
    next_attempt_at: Option<String>,
    ended_at: Option<String>,
    attempts: u32,
    last_error: Option<String>,
    joined_to: Option<String>,
}

impl From<&Mail> for MailShape {
    fn from(mail: &Mail) -> Self {
        Self {
            id: mail.id.to_string(),
            kind: mail.kind.as_str(),
            operation_id: mail.operation.map(OperationId::get),
            recipient: mail.recipient.to_string(),
            status: mail.status.as_str(),
            created_at: mail.created_at.to_string(),
            next_attempt_at: mail.next_attempt_at.map(|at| at.to_string()),
            ended_at: mail.ended_at.map(|at| at.to_string()),
            attempts: mail.attempts_made,
            last_error: mail.last_error.clone(),
            joined_to: mail.joined_to.map(|id| id.to_string()),
        }
    }
}
