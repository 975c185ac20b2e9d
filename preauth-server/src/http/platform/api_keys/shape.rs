//! A key as answers show it.

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
            state: state(key, now),
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

/// The refusal that this key gets now: revoked wins over expired.
fn state(key: &ApiKey, now: Timestamp) -> &'static str {
    if key.revoked_at.is_some() {
        "REVOKED"
    } else if key.expires_at <= now {
        "EXPIRED"
    } else {
        "ACTIVE"
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiKey, Timestamp, state};
    use chrono::TimeDelta;
    use preauth_core::value::{ApiKeyId, CompanyId, KeyName, ScopeSet, UserId};
    use uuid::Uuid;

    #[test]
    fn a_key_is_expired_at_its_very_instant_and_revoked_wins() {
        let now = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        let mut key = ApiKey {
            id: ApiKeyId::new(Uuid::from_u128(1)),
            company: CompanyId::new(Uuid::from_u128(2)),
            name: KeyName::parse("ERP").unwrap(),
            responsible_user: UserId::new(Uuid::from_u128(3)),
            scopes: ScopeSet::all(),
            prefix: "service_sk_1234".to_owned(),
            created_at: now,
            expires_at: now.saturating_add(TimeDelta::milliseconds(1)),
            revoked_at: None,
            last_used_at: None,
        };
        assert_eq!(state(&key, now), "ACTIVE");
        assert_eq!(state(&key, key.expires_at), "EXPIRED");
        key.revoked_at = Some(now);
        assert_eq!(state(&key, key.expires_at), "REVOKED");
    }
}
