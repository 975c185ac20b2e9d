//! The webhook: one request for all types of events, in one flat envelope.

use crate::http::openapi::document::{
    Content, Operation, Parameter, PathItem, RefOr, RequestBody, Response,
};
use crate::http::openapi::listed::Listed;
use crate::http::openapi::schema::Schema;

use super::{WEBHOOKS, schemas};

const DESCRIPTION: &str = "\
Sent to the endpoint that the company registered, for the events that it chose.

- Verify the signature over the raw body before anything else: HMAC-SHA256 with the whole signing secret over `t`, a dot and the body; refuse \
when `t` is more than 300 seconds away, and compare in constant time.
- Answer any 2xx within 10 seconds. Redirects are not followed. An event that is not confirmed is sent again, ten times over 79.6 hours.
- The same event may arrive more than once, and out of order: deduplicate by `id`.
- `data` has the shape of `OperationEventData` for pre_authorization.* and anticipation.*, `InvoiceReceivedData` for invoice.received, \
`PaymentOrderEventData` for payment_order.*, `WebhookTestData` for webhook.test.";

/// The section `webhooks`.
pub(super) fn all() -> Listed<PathItem> {
    let post = Listed::from_iter([("post", event())]);
    Listed::from_iter([("event", post)])
}

fn event() -> Operation {
    let header = |name, description: &str, example: &str| {
        Parameter::header(name, Schema::text(description, example)).required()
    };
    let signature =
        "t=1795262400,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd";
    let id = Schema::uuid("Equal to `id` of the body; not signed.");
    Operation {
        id: "receiveEvent",
        tags: [WEBHOOKS.name],
        summary: "An event happened",
        description: DESCRIPTION.to_owned(),
        security: Some(Vec::new()),
        minimum_role: None,
        parameters: vec![
            header(
                "x-service-signature",
                "`t=<unix seconds>,v1=<hex HMAC-SHA256>`; one more `v1` per secret in force.",
                signature,
            ),
            Parameter::header("x-service-event-id", id).required(),
            header(
                "x-service-event-type",
                "Equal to `type` of the body; not signed.",
                "pre_authorization.created",
            ),
        ],
        request_body: Some(RequestBody {
            description: "The event.",
            required: true,
            content: Content::json(schemas::named("EventEnvelope")),
        }),
        responses: Listed::from_iter([("2XX", RefOr::Here(confirmed()))]),
    }
}

fn confirmed() -> Response {
    Response {
        description: "Confirms the delivery; the body is not looked at.".to_owned(),
        error_codes: Vec::new(),
        headers: Listed::default(),
        content: Listed::default(),
    }
}
