//! A mail as answers show it.

use preauth_core::value::OperationId;
use serde::Serialize;

use crate::directory::Notice;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NoticeShape {
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

impl From<&Notice> for NoticeShape {
    fn from(notice: &Notice) -> Self {
        Self {
            id: notice.id.to_string(),
            kind: notice.kind.as_str(),
            operation_id: notice.operation.map(OperationId::get),
            recipient: notice.recipient.to_string(),
            status: notice.status.as_str(),
            created_at: notice.created_at.to_string(),
            next_attempt_at: notice.next_attempt_at.map(|at| at.to_string()),
            ended_at: notice.ended_at.map(|at| at.to_string()),
            attempts: notice.attempts_made,
            last_error: notice.last_error.clone(),
            joined_to: notice.joined_to.map(|id| id.to_string()),
        }
    }
}
