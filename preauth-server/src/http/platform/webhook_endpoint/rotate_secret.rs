//! POST /companies/{id}/webhook-endpoint/rotate-secret: a new secret signs from the next attempt
//! on. Earlier secrets stop signing immediately, or after the overlap in the request.

use salvo::async_trait;
use salvo::http::Request;
use secrecy::ExposeSecret;

use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::headers;
use crate::http::openapi::schema::Schema;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::{Endpoint, ok};
use crate::http::platform::sections::WEBHOOK_ENDPOINTS;
use crate::http::reply::Reply;
use crate::http::requested::RequestedObject;
use crate::secret::new_signing_secret;

use super::shape::{EndpointShape, EndpointWithSecret, Rotation};

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct RotateSecret;

#[async_trait]
impl Endpoint for RotateSecret {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                WEBHOOK_ENDPOINTS,
                "rotateWebhookSecret",
                "Make a new signing secret",
            )
            .id("The id of a head office.")
            .note("It signs from the next attempt on; the old one stops at once, or after `overlapHours`.")
            .optional_body("How long both sign.", Schema::of::<Rotation>())
            .answers(200, "The endpoint with its new secret.", Schema::of::<EndpointWithSecret>())
            .header(headers::CACHE_CONTROL)
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let overlap = Rotation::parse(&api.optional_json(req).await?)?.overlap();
        let mut endpoint = super::endpoint(api, req).await?;
        let secret = new_signing_secret();
        let sealed = api.vault.seal(endpoint.id, &secret);
        let sealed = sealed.map_err(ApiError::internal)?;
        let now = api.clock.now();
        let others_until = now.saturating_add(overlap);
        api.directory
            .rotate_secret(endpoint.id, &sealed, now, others_until)
            .await?;
        endpoint.earlier_secrets_until = Some(others_until);
        let shape = EndpointWithSecret {
            endpoint: EndpointShape::new(&endpoint, now),
            secret: secret.expose_secret().to_owned(),
        };
        Ok(ok(&shape).header("cache-control", "no-store"))
    }
}

#[cfg(test)]
mod tests {
    use super::{RequestedObject as _, Rotation};
    use crate::http::json::Json;
    use chrono::TimeDelta;

    #[test]
    fn secrets_overlap_for_a_week_at_most_and_not_at_all_by_default() {
        let overlap = |body: &str| {
            let read = Rotation::parse(&Json::parse(body.as_bytes()).unwrap());
            read.map(|rotation| rotation.overlap())
        };
        assert_eq!(overlap("{}"), Ok(TimeDelta::zero()));
        assert_eq!(overlap(r#"{"overlapHours": 168}"#), Ok(TimeDelta::days(7)));
        for refused in ["169", "-1", "1.5", "\"24\""] {
            let body = format!(r#"{{"overlapHours": {refused}}}"#);
            assert!(overlap(&body).is_err(), "{refused}");
        }
    }
}
