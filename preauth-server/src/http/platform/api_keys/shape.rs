//! A key as answers show it.

use preauth_core::access::KeyState;
use preauth_core::value::{Scope, Timestamp};
use serde::Serialize;

use crate::directory::ApiKey;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApiKeyShape {
    id: String,
    company_id: String,
    name: String,
    responsible_user_id: String,
    scopes: Vec<&'static str>,
    prefix: String,
    state: &'static str,
    created_at: String,
    expires_at: String,
    revoked_at: Option<String>,
    last_used_at: Option<String>,
    /// The clear text, only in the answer that creates the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl ApiKeyShape {
    pub(super) fn new(key: &ApiKey, now: Timestamp) -> Self {
        Self {
            id: key.id.to_string(),
            company_id: key.company.to_string(),
            name: key.name.to_string(),
            responsible_user_id: key.responsible_user.to_string(),
            scopes: key.scopes.iter().map(Scope::as_str).collect(),
            prefix: key.prefix.clone(),
            state: KeyState::at(now, key.expires_at, key.revoked_at).as_str(),
            created_at: key.created_at.to_string(),
            expires_at: key.expires_at.to_string(),
            revoked_at: key.revoked_at.map(|at| at.to_string()),
            last_used_at: key.last_used_at.map(|at| at.to_string()),
            key: None,
        }
    }

    pub(super) fn with_key(self, clear_text: &str) -> Self {
        Self {
            key: Some(clear_text.to_owned()),
            ..self
        }
    }
}
