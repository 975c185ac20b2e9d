//! An endpoint as answers show it.

use preauth_core::value::EventType;
use serde::Serialize;

use crate::directory::Endpoint;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndpointShape {
    id: String,
    company_id: String,
    url: String,
    events: Vec<&'static str>,
    status: &'static str,
    paused_at: Option<String>,
    created_at: String,
    last_success_at: Option<String>,
    /// The signing secret, only in the answer that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl EndpointShape {
    pub(super) fn with_secret(self, clear_text: &str) -> Self {
        Self {
            secret: Some(clear_text.to_owned()),
            ..self
        }
    }
}

impl From<&Endpoint> for EndpointShape {
    fn from(endpoint: &Endpoint) -> Self {
        let status = if endpoint.paused_at.is_some() {
            "PAUSED"
        } else {
            "ACTIVE"
        };
        Self {
            id: endpoint.id.to_string(),
            company_id: endpoint.company.to_string(),
            url: endpoint.url.clone(),
            events: endpoint.events.iter().map(EventType::as_str).collect(),
            status,
            paused_at: endpoint.paused_at.map(|at| at.to_string()),
            created_at: endpoint.created_at.to_string(),
            last_success_at: endpoint.last_success_at.map(|at| at.to_string()),
            secret: None,
        }
    }
}
