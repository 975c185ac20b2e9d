//! The platform API, resource by resource.

mod access;
mod companies;
mod deliveries;
mod master_keys;
mod notices;
mod operations;
mod orders;
mod probes;
mod schemas;
mod webhook_endpoint;

use preauth_core::ErrorCode;

use crate::http::platform::PREFIX;

use super::described::Described;
use super::document::{Components, Document, Parameter, SecurityScheme, Tag};
use super::listed::Listed;
use super::refusals::{Refusals, Shared};
use super::schema::{Schema, components};
use super::{headers, info, servers};

const OPERATOR_TOKEN: &str = "operatorToken";

/// The possible refusals of every operation behind the token.
const GUARDED: &[ErrorCode] = &[
    ErrorCode::PlatformTokenInvalid,
    ErrorCode::RateLimited,
    ErrorCode::ServiceUnavailable,
];
/// The possible refusals of every operation, probes included.
const ALWAYS: &[ErrorCode] = &[ErrorCode::BadRequest, ErrorCode::InternalError];

const SHARED: &[Shared] = &[
    shared("BadRequest", &[ErrorCode::BadRequest]),
    shared(
        "ValidationError",
        &[ErrorCode::ValidationError, ErrorCode::BadRequest],
    ),
    shared("Unauthorized", &[ErrorCode::PlatformTokenInvalid]),
    shared("ResourceNotFound", &[ErrorCode::ResourceNotFound]),
    shared("AnticipationNotFound", &[ErrorCode::AnticipationNotFound]),
    shared("RequestTimeout", &[ErrorCode::RequestTimeout]),
    shared("ResourceConflict", &[ErrorCode::ResourceConflict]),
    shared(
        "InvalidTransition",
        &[ErrorCode::AnticipationInvalidTransition],
    ),
    shared("PayloadTooLarge", &[ErrorCode::PayloadTooLarge]),
    shared("TooManyRequests", &[ErrorCode::RateLimited]),
    shared("InternalError", &[ErrorCode::InternalError]),
    shared("ServiceUnavailable", &[ErrorCode::ServiceUnavailable]),
];

const DESCRIPTION: &str = "\
What companies, suppliers, the bank and the platform's own people do, on the private listener. It is made for the platform's own \
tools: keep it private.

- Bodies are JSON in UTF-8. Timestamps are UTC with milliseconds; dates are `YYYY-MM-DD`; amounts are reais, exact to cents; a \
numeric string is taken for an amount, too.
- Fields, statuses, event types and error codes may be added at any time: bear what you do not know. Sets of words in answers are \
therefore plain strings; `x-enum-values` lists the words of today.
- Every refusal has the shape of `ErrorBody`; `x-error-codes` lists the codes that an answer can have. Paths that are not described \
here answer 404 `NOT_FOUND`, other methods 405 `METHOD_NOT_ALLOWED`, targets above 8 KiB 414 `BAD_REQUEST`; HEAD answers like GET.
- POSTs that create a record, and the one that sends a test event, take an `Idempotency-Key`: under the same key the same request (path and content as understood) creates \
one record, and is answered the first answer again, byte for byte, with `Idempotency-Replayed: true`. The same key with another request \
is 409 `IDEMPOTENCY_KEY_REUSED`; while the first is still being processed, 409 `IDEMPOTENCY_IN_PROGRESS`. The keys are those of all \
creates of this API together and none of the ERPs'; they are remembered as long as theirs, 30 days unless configured otherwise. Only what \
was done is remembered. The clear text of an API key is never stored and so not repeated.
- Without an operator token, each address has 600 requests a minute; beyond that it receives 429.
- A `Host` that is neither this listener's address, a loopback name nor in `console.hosts` is answered 421 `BAD_REQUEST`, except on \
the probes and `/metrics`.";

/// The whole document.
pub(super) fn document() -> Document {
    let refusals = Refusals {
        body: schemas::named("ErrorBody"),
        shared: SHARED,
        headers: &[headers::REQUEST_ID],
    };
    let mut paths = Listed::<Listed<_>>::default();
    let guarded = guarded()
        .into_iter()
        .map(|described| described.refuses(GUARDED));
    for described in probes::all().into_iter().chain(guarded) {
        let described = described.refuses(ALWAYS);
        let (path, method) = (described.path.clone(), described.method);
        let operation = described.operation(&refusals, &[headers::REQUEST_ID]);
        paths.entry(&path).push(method, operation);
    }
    let all_headers = headers::common().into_iter();
    Document {
        openapi: "3.1.0",
        info: info(
            "Platform of receivables-advance pre-authorizations",
            "Keeps companies, users, keys and endpoints, and moves operations.",
            DESCRIPTION.to_owned(),
        ),
        servers: servers(),
        security: [Listed::from_iter([(OPERATOR_TOKEN, Vec::new())])],
        tags: tags(),
        paths,
        webhooks: Listed::default(),
        x_webhooks: Listed::default(),
        components: Components {
            schemas: components(schemas::ALL),
            responses: refusals.components(),
            headers: all_headers.chain(headers::of_platform()).collect(),
            security_schemes: Listed::from_iter([(OPERATOR_TOKEN, operator_token())]),
        },
    }
}

const fn shared(name: &'static str, codes: &'static [ErrorCode]) -> Shared {
    Shared { name, codes }
}

/// The operations behind the operator token.
fn guarded() -> Vec<Described> {
    let mut all = Vec::new();
    all.extend(companies::all());
    all.extend(access::all());
    all.extend(webhook_endpoint::all());
    all.extend(deliveries::all());
    all.extend(notices::all());
    all.extend(master_keys::all());
    all.extend(operations::all());
    all.extend(orders::all());
    all
}

fn tags() -> Vec<Tag> {
    vec![
        probes::PROBES,
        companies::COMPANIES,
        access::ACCESS,
        webhook_endpoint::WEBHOOK_ENDPOINTS,
        deliveries::DELIVERIES,
        notices::NOTICES,
        master_keys::MASTER_KEYS,
        operations::OPERATIONS,
        orders::RECORDS,
        orders::SANDBOX,
    ]
}

const fn operator_token() -> SecurityScheme {
    SecurityScheme {
        kind: "http",
        scheme: "bearer",
        description: "The operator token of the configuration, or of the file that the server made.",
    }
}

/// The path of a resource under the prefix.
fn at(resource: &str) -> String {
    format!("{PREFIX}/{resource}")
}

/// Adds the `{id}` of a record of the platform, and 404 for an unknown one.
fn id(described: Described, description: &str) -> Described {
    described
        .parameter(Parameter::path("id", Schema::uuid(description)))
        .refuses(&[ErrorCode::ResourceNotFound])
}

/// Adds the `{id}` of a numbered record: 400 when it is not a number, 404 with `not_found` for an
/// unknown one.
fn number(described: Described, description: &str, not_found: ErrorCode) -> Described {
    described
        .parameter(crate::openapi::shared::numeric_id(description, 42))
        .refuses(&[ErrorCode::ValidationError, not_found])
}

/// Adds the idempotency key to a create that is described up to its success.
fn keyed(described: Described) -> Described {
    described
        .parameter(crate::openapi::shared::idempotency_key())
        .header(headers::REPLAYED)
        .refuses(&[
            ErrorCode::IdempotencyKeyInvalid,
            ErrorCode::IdempotencyKeyReused,
            ErrorCode::IdempotencyInProgress,
        ])
}

/// Adds the parameters of every list.
fn paged(described: Described) -> Described {
    let [page, limit] = crate::openapi::shared::paging();
    described
        .parameter(page)
        .parameter(limit)
        .refuses(&[ErrorCode::ValidationError])
}
