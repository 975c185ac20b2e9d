//! POST /companies/{id}/api-keys: creates a key; its clear text is in this answer and nowhere else.

use chrono::TimeDelta;
use preauth_core::ErrorCode;
use preauth_core::access::{DEFAULT_VALIDITY_DAYS, may_be_responsible};
use preauth_core::service::PlatformKey;
use preauth_core::value::{ApiKeyId, FingerprintBuilder};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use secrecy::ExposeSecret;

use crate::access::NewApiKey;
use crate::audit_trail;
use crate::directory::ApiKey;
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::headers;
use crate::http::openapi::schema::Schema;
use crate::http::platform::create::Create;
use crate::http::platform::sections::{ACCESS, COMPANY};
use crate::http::platform::{PlatformApi, lookup};
use crate::http::reply::Reply;

use super::shape::{ApiKeyShape, KeyRequest, NewApiKeyShape};

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Add;

#[async_trait]
impl Create for Add {
    type New = KeyRequest;

    fn document(&self, operation: Described) -> Described {
        operation
            .titled(ACCESS, "addApiKey", "Make an API key")
            .id(COMPANY)
            .note(
                "The clear text is in the first answer and nowhere else. When that was lost, an answer that is repeated under the \
                 `Idempotency-Key` names the key that was made: revoke it, and make another.",
            )
            .body("The key to create.", Schema::of::<KeyRequest>())
            .answers(201, "Made.", Schema::of::<NewApiKeyShape>())
            .header(headers::CACHE_CONTROL)
            .refuses(&[
                ErrorCode::ResponsibleUserRefused,
                ErrorCode::SupplierNotRegistered,
            ])
    }

    fn describe(&self, new: &KeyRequest, parts: &mut FingerprintBuilder) {
        let KeyRequest {
            name,
            responsible_user_id,
            scopes,
            validity_days,
        } = new;
        parts.text(Some(name.as_str()));
        parts.part(Some(&responsible_user_id.to_string()));
        for scope in scopes.iter() {
            parts.part(Some(scope.as_str()));
        }
        parts.part(Some(&days(*validity_days).to_string()));
    }

    async fn create(
        &self,
        api: &PlatformApi,
        req: &Request,
        new: KeyRequest,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        let company = lookup::registered(api, req).await?.id;
        let user = api.directory.user(new.responsible_user_id).await?;
        if !user.is_some_and(|user| may_be_responsible(&user.responsible(), company)) {
            return Err(ApiError::new(ErrorCode::ResponsibleUserRefused));
        }
        let now = api.clock.now();
        let secret = NewApiKey::generate();
        let id = ApiKeyId::new(api.ids.uuid(now));
        let validity = TimeDelta::days(days(new.validity_days).into());
        let made = ApiKey {
            id,
            company,
            name: new.name,
            responsible_user: new.responsible_user_id,
            scopes: new.scopes,
            prefix: secret.prefix,
            created_at: now,
            expires_at: now.saturating_add(validity),
            revoked_at: None,
            last_used_at: None,
        };
        let mut shape = NewApiKeyShape {
            shown: ApiKeyShape::new(&made, now),
            key: None,
        };
        // The stored reply lacks the clear text, which only the first answer has.
        let reply = key.map(|key| key.reply(convert::text(&shape)));
        audit_trail::creating("api-keys", made.id);
        let added = api
            .directory
            .add_api_key(&made, &secret.hash, reply.as_ref());
        added.await?;
        shape.key = Some(secret.clear_text.expose_secret().to_owned());
        let reply = Reply::json(StatusCode::CREATED, convert::text(&shape));
        Ok(reply.header("cache-control", "no-store"))
    }
}

fn days(requested: Option<u16>) -> u16 {
    requested.unwrap_or(DEFAULT_VALIDITY_DAYS)
}

#[cfg(test)]
mod tests {
    use super::{KeyRequest, TimeDelta};
    use crate::http::json::Json;
    use crate::http::problem::Problem;
    use crate::http::requested::RequestedObject as _;
    use preauth_core::access::VALIDITY_DAYS;
    use preauth_core::value::UserId;
    use uuid::Uuid;

    fn request(validity: &str, scopes: &str) -> Result<KeyRequest, Vec<Problem>> {
        let user = UserId::new(Uuid::from_u128(7));
        let body = format!(
            r#"{{"name": "ERP", "responsibleUserId": "{user}", "scopes": {scopes}{validity}}}"#
        );
        KeyRequest::parse(&Json::parse(body.as_bytes()).unwrap())
    }

    #[test]
    fn a_key_is_valid_for_365_days_or_a_term_on_offer() {
        let scopes = r#"["preauth:read"]"#;
        let days = |validity: &str| {
            let days = |request: KeyRequest| super::days(request.validity_days);
            request(validity, scopes).map(|request| TimeDelta::days(days(request).into()))
        };
        assert_eq!(days(""), Ok(TimeDelta::days(365)));
        assert_eq!(days(r#", "validityDays": null"#), Ok(TimeDelta::days(365)));
        for on_offer in VALIDITY_DAYS {
            let found = days(&format!(r#", "validityDays": {on_offer}"#)).unwrap();
            assert_eq!(found.num_days(), i64::from(on_offer));
        }
        for refused in ["0", "31", "366", "-30", "30.5", "\"30\"", "1e400"] {
            let found = days(&format!(r#", "validityDays": {refused}"#)).unwrap_err();
            assert_eq!(found[0].field, "validityDays", "{refused}");
            assert_eq!(found.len(), 1, "{refused}");
        }
    }

    #[test]
    fn a_key_has_at_least_one_scope_and_only_scopes_on_offer() {
        for refused in ["[]", "null", r#"["notes:read"]"#, r#"["preauth:read", ""]"#] {
            assert!(request("", refused).is_err(), "{refused}");
        }
    }
}
