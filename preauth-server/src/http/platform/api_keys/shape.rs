//! A key in answers and requests.

use preauth_core::access::{KeyState, VALIDITY_DAYS};
use preauth_core::value::{ApiKeyId, CompanyId, KeyName, Scope, ScopeSet, Timestamp, UserId};
use preauth_core::wire::Open;

use crate::directory::ApiKey;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{Text, answer, request};
use crate::http::requested::optional;

answer! {
    /// A key, as it can be shown.
    #[derive(Clone, Debug)]
    pub(crate) struct ApiKeyShape = "ApiKey" {
        /// The key's id.
        id: ApiKeyId,
        /// The company's id.
        company_id: CompanyId,
        /// The key's name.
        name: Text<KeyName>,
        /// In whose name it acts.
        responsible_user_id: UserId,
        /// The key's scopes.
        scopes: Vec<Open<Scope>> => |it| it.each("Opens this."),
        /// How the clear text begins.
        prefix: String = "service_sk_fc1e",
        /// The key's state.
        state: Open<KeyState>,
        /// When it was made.
        created_at: Timestamp,
        /// From when on it is refused.
        expires_at: Timestamp,
        /// When it was revoked.
        revoked_at: Option<Timestamp>,
        /// When it was used last, roughly.
        last_used_at: Option<Timestamp>,
    }
}

// No `Debug`: it has the clear text.
answer! {
    /// A new key.
    pub(crate) struct NewApiKeyShape = "NewApiKey" {
        ..shown: ApiKeyShape,
        /// The clear text, shown once: absent when an Idempotency-Key repeats the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<String> =
            "service_sk_fc1e46c2d43218c6640cc1cd1aca78cd26de8a550af2e4248153037f"
            => Schema::omitted_if_none,
    }
}

request! {
    /// The key to create.
    #[derive(Debug)]
    pub(crate) struct KeyRequest = "ApiKeyRequest" {
        /// The key's name.
        name: KeyName,
        /// In whose name it acts; a user of the company with both permissions.
        responsible_user_id: UserId,
        /// The key's scopes.
        scopes: ScopeSet => |it| it.each("Opens this.").offering(Scope::OFFERED).items(1, 100);
            |it, name, problems| it.filled_set(name, Scope::OFFERED, problems),
        /// How long it is valid; 365 when absent.
        validity_days: Option<u16> = 365 => |it| it.among(&VALIDITY_DAYS.map(i64::from));
            optional(|it, name, problems| it.whole_among(name, &VALIDITY_DAYS, problems)),
    }
}

impl ApiKeyShape {
    pub(super) fn new(key: &ApiKey, now: Timestamp) -> Self {
        Self {
            id: key.id,
            company_id: key.company,
            name: (&key.name).into(),
            responsible_user_id: key.responsible_user,
            scopes: key.scopes.iter().map(Into::into).collect(),
            prefix: key.prefix.clone(),
            state: KeyState::at(now, key.expires_at, key.revoked_at).into(),
            created_at: key.created_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            last_used_at: key.last_used_at,
        }
    }
}
