//! PUT /companies/{id}/webhook-endpoint: registers the endpoint, or changes its URL and events.
//!
//! Its name is resolved before anything is written. A failed DNS look-up proves nothing about the
//! name, so it is an outage and not a refusal. A change without `events` keeps those of the
//! endpoint. Only the answer that registers (201) has the signing
//! secret. `webhook.test` may be in the list of events, and is sent on demand even when it is not.

use preauth_core::ErrorCode;
use preauth_core::access::{EndpointRejection, decide_endpoint, subscribed_events};
use preauth_core::value::{CompanyId, EndpointId, EventTypeSet};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use secrecy::ExposeSecret;

use crate::directory;
use crate::dispatcher::EndpointError;
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::headers;
use crate::http::openapi::schema::Schema;
use crate::http::platform::endpoint::{Endpoint, ok};
use crate::http::platform::sections::WEBHOOK_ENDPOINTS;
use crate::http::platform::{PlatformApi, Refusal, lookup};
use crate::http::problem::Defect;
use crate::http::reply::Reply;
use crate::http::requested::RequestedObject;
use crate::http::{english, messages};
use crate::secret::new_signing_secret;

use super::shape::{EndpointShape, EndpointWithSecret, WantedEndpoint};

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Set;

#[async_trait]
impl Endpoint for Set {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                WEBHOOK_ENDPOINTS,
                "setWebhookEndpoint",
                "Register the endpoint, or change it",
            )
            .id("The id of a head office.")
            .note("The name is looked up, and every address of it must be public. Only registering answers the signing secret, once. Pending deliveries follow a new URL. A change without `events` keeps those that were chosen.")
            .body("The URL and the types of events.", Schema::of::<WantedEndpoint>())
            .answers(200, "Changed.", Schema::of::<EndpointShape>())
            .answers(201, "Registered.", Schema::of::<EndpointWithSecret>())
            .header(headers::CACHE_CONTROL)
            .refuses(&[
                ErrorCode::ResourceConflict,
                ErrorCode::EndpointNotHeadOffice,
                ErrorCode::SupplierNotRegistered,
                ErrorCode::EndpointUrlRefused,
            ])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let wanted = WantedEndpoint::parse(&api.json(req).await?)?;
        let company = lookup::company(api, req).await?;
        decide_endpoint(&company.known()).map_err(refused)?;
        let validated = api
            .endpoint_validator
            .validate(&wanted.url)
            .await
            .map_err(not_validated)?;
        let url = validated.url().to_string();
        let found = api.directory.endpoint(company.id).await?;
        let events = subscribed_events(wanted.events, found.as_ref().map(|it| it.events));
        let missing = || ApiError::problem("events", Defect::Required);
        let events = events.ok_or_else(missing)?;
        match found {
            Some(_) => change(api, company.id, &url, events).await,
            None => register(api, company.id, url, events).await,
        }
    }
}

fn refused(rejection: EndpointRejection) -> ApiError {
    match rejection {
        EndpointRejection::NotRegistered(rejection) => Refusal::from(rejection).into(),
        EndpointRejection::IsBranch(_) => ApiError::new(ErrorCode::EndpointNotHeadOffice),
    }
}

fn not_validated(error: EndpointError) -> ApiError {
    match error {
        EndpointError::Refused(refusal) => Refusal::EndpointUrl(refusal).into(),
        EndpointError::Unknown(cause) => ApiError::unavailable(cause)
            .in_both(messages::NAME_NOT_LOOKED_UP, english::NAME_NOT_LOOKED_UP),
    }
}

async fn change(
    api: &PlatformApi,
    company: CompanyId,
    url: &str,
    events: EventTypeSet,
) -> Result<Reply, ApiError> {
    let endpoint = api.directory.update_endpoint(company, url, events).await?;
    Ok(ok(&EndpointShape::new(&endpoint, api.clock.now())))
}

async fn register(
    api: &PlatformApi,
    company: CompanyId,
    url: String,
    events: EventTypeSet,
) -> Result<Reply, ApiError> {
    let now = api.clock.now();
    let endpoint = directory::Endpoint {
        id: EndpointId::new(api.ids.uuid(now)),
        company,
        url,
        events,
        paused_at: None,
        created_at: now,
        last_success_at: None,
        earlier_secrets_until: None,
    };
    let secret = new_signing_secret();
    let sealed = api.vault.seal(endpoint.id, &secret);
    let sealed = sealed.map_err(ApiError::internal)?;
    api.directory.add_endpoint(&endpoint, &sealed).await?;
    let shape = EndpointWithSecret {
        endpoint: EndpointShape::new(&endpoint, now),
        secret: secret.expose_secret().to_owned(),
    };
    let reply = Reply::json(StatusCode::CREATED, convert::text(&shape));
    Ok(reply.header("cache-control", "no-store"))
}

#[cfg(test)]
mod tests {
    use super::{EventTypeSet, RequestedObject as _, WantedEndpoint};
    use crate::http::json::Json;
    use crate::http::problem::{Defect, Problem};
    use preauth_core::value::EventType;

    fn read(body: &str) -> Result<WantedEndpoint, Vec<Problem>> {
        WantedEndpoint::parse(&Json::parse(body.as_bytes()).unwrap())
    }

    // Contract: endpoint/choice
    #[test]
    fn every_event_of_the_contract_can_be_chosen() {
        let all: Vec<_> = EventTypeSet::all().iter().map(EventType::as_str).collect();
        let events = serde_json::to_string(&all).unwrap();
        let wanted = read(&format!(
            r#"{{"url": "https://erp.example", "events": {events}}}"#
        ));
        assert_eq!(wanted.unwrap().events, Some(EventTypeSet::all()));
    }

    #[test]
    fn an_endpoint_needs_a_url_and_events_are_chosen_from_the_known_ones() {
        assert_eq!(
            read(r#"{"events": []}"#),
            Err(vec![
                Problem::new("url", Defect::Required),
                Problem::new("events", Defect::EmptyList),
            ])
        );
        let unknown = read(r#"{"url": "https://erp.example", "events": ["order.paid"]}"#);
        assert_eq!(unknown.unwrap_err()[0].field, "events[0]");
        let kept = read(r#"{"url": "https://erp.example"}"#);
        assert_eq!(kept.unwrap().events, None);
    }
}
