//! The webhook endpoint of a head office.

use preauth_core::ErrorCode;

use crate::http::openapi::described::Described;
use crate::http::openapi::headers;
use crate::http::platform::sections::WEBHOOK_ENDPOINTS;

use super::{at, id, keyed, schemas};

fn described(
    method: &'static str,
    path: &str,
    operation: &'static str,
    summary: &'static str,
) -> Described {
    let path = at(&format!("companies/{{id}}/webhook-endpoint{path}"));
    let described = Described::new(method, path, WEBHOOK_ENDPOINTS.name, operation, summary);
    id(described, "The id of a head office.")
}

pub(super) fn all() -> Vec<Described> {
    let endpoint = || schemas::named("WebhookEndpoint");
    let with_secret = || schemas::named("WebhookEndpointWithSecret");
    vec![
        described("get", "", "getWebhookEndpoint", "Get the endpoint")
            .answers(200, "The endpoint.", endpoint()),
        described("put", "", "setWebhookEndpoint", "Register the endpoint, or change it")
            .note("The name is looked up, and every address of it must be public. Only registering answers the signing secret, once. Pending deliveries follow a new URL. A change without `events` keeps those that were chosen.")
            .body("Where to, and which events.", schemas::named("WantedEndpoint"))
            .answers(200, "Changed.", endpoint())
            .answers(201, "Registered.", with_secret())
            .header(headers::CACHE_CONTROL)
            .refuses(&[
                ErrorCode::ResourceConflict,
                ErrorCode::EndpointNotHeadOffice,
                ErrorCode::SupplierNotRegistered,
                ErrorCode::EndpointUrlRefused,
            ]),
        described("delete", "", "deleteWebhookEndpoint", "Remove the endpoint")
            .note("Its pending deliveries end as FAILED.")
            .answers_empty(204, "Removed."),
        described("post", "/pause", "pauseWebhookEndpoint", "Keep events and deliver none")
            .answers(200, "Paused.", endpoint()),
        described("post", "/resume", "resumeWebhookEndpoint", "Deliver what was kept")
            .note("Refused while the endpoint has no signing secret, because its master key was given up.")
            .answers(200, "Active.", endpoint())
            .refuses(&[ErrorCode::ResourceConflict]),
        described("post", "/rotate-secret", "rotateWebhookSecret", "Make a new signing secret")
            .note("It signs from the next attempt on; the old one stops at once, or after `overlapHours`.")
            .optional_body("How long both sign.", schemas::named("Rotation"))
            .answers(200, "The endpoint with its new secret.", with_secret())
            .header(headers::CACHE_CONTROL),
        keyed(
            described("post", "/test", "testWebhookEndpoint", "Send a test event")
                .note("Signed like any other, whatever events were chosen.")
                .answers(200, "The delivery, as queued.", schemas::named("Delivery")),
        ),
    ]
}
