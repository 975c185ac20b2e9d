//! The description of the platform API: the common parts of all operations, and their sections. Each
//! operation is described beside its handler.

mod schemas;

use preauth_core::ErrorCode;

use crate::http::openapi::described::Described;
use crate::http::openapi::document::{Components, Document, SecurityScheme, info, servers};
use crate::http::openapi::headers;
use crate::http::openapi::listed::Listed;
use crate::http::openapi::refusals::{Refusals, Shared};
use crate::http::openapi::schema::{Schema, components};
use crate::http::openapi::shared;

use super::paths::PREFIX;
use super::{probes, routes, sandbox_clock, sections};

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
    shared("Forbidden", &[ErrorCode::OperatorForbidden]),
    shared(
        "FourEyes",
        &[ErrorCode::OperatorForbidden, ErrorCode::FourEyesRequired],
    ),
    shared("ResourceNotFound", &[ErrorCode::ResourceNotFound]),
    shared("AnticipationNotFound", &[ErrorCode::AnticipationNotFound]),
    shared("RequestTimeout", &[ErrorCode::RequestTimeout]),
    shared("ResourceConflict", &[ErrorCode::ResourceConflict]),
    shared(
        "InvalidTransition",
        &[
            ErrorCode::AnticipationInvalidTransition,
            ErrorCode::ResourceConflict,
        ],
    ),
    shared("PayloadTooLarge", &[ErrorCode::PayloadTooLarge]),
    shared("TooManyRequests", &[ErrorCode::RateLimited]),
    shared("InternalError", &[ErrorCode::InternalError]),
    shared("ServiceUnavailable", &[ErrorCode::ServiceUnavailable]),
];

const DESCRIPTION: &str = "\
The actions of companies, suppliers, the bank and the platform's own people, on the private listener. The API is made for the platform's own \
tools: keep it private.

- Bodies are JSON in UTF-8. Timestamps are UTC with milliseconds; dates are `YYYY-MM-DD`; amounts are reais, in at most \
32 digits and with an exponent of at most 32; a numeric string is taken for an amount, too. Amounts of requests are rounded to \
cents, half up; a thousands point is read as decimals, so that `750.000` is 750 reais. Answers have at most two decimals. Whole numbers have neither point nor exponent.
- Texts in requests must not be blank. They are trimmed, except `externalReference`; lengths count the Unicode characters that remain. Characters that do not show \
are refused; patterns list those up to U+FFFF, and those above (U+E0000 to U+E0FFF and a few controls and blanks) are refused like them.
- Fields, statuses, event types and error codes may be added at any time: accept values and fields that you do not know. Sets of words in answers are \
therefore plain strings; `x-enum-values` lists the words of today.
- Every refusal has the shape of `ErrorBody`; `x-error-codes` lists the codes that an answer can have. Paths that are not described \
here answer 404 `NOT_FOUND`, other methods 405 `METHOD_NOT_ALLOWED`, targets above 8 KiB 414 `BAD_REQUEST`; HEAD answers like GET.
- Each operator has a role: `VIEWER` reads everything except secrets; `OPERATOR` acts on operations, invoices, payment orders, endpoints, \
deliveries and mails, too; `ADMIN` on companies, users, keys, credit and operators, too. `x-minimum-role` is the lowest one that an operation \
takes; a lower one is answered 403 `OPERATOR_FORBIDDEN`. The holder of the configured token is the admin `root`.
- POSTs that create a record, and the one that sends a test event, take an `Idempotency-Key`: under the same key the same request (path and content as understood) creates \
one record, and is answered the first answer again, byte for byte, with `Idempotency-Replayed: true`. The same key with another request \
is 409 `IDEMPOTENCY_KEY_REUSED`; while the first is still being processed, 409 `IDEMPOTENCY_IN_PROGRESS`. The keys are those of all \
creates of this API together and none of the ERPs'; they are remembered as long as theirs, 30 days unless configured otherwise. Only what \
was done is remembered. The clear text of an API key or an operator's token is never stored and so not repeated.
- Without an operator token, each address has 600 requests a minute; beyond that it receives 429.
- A `Host` that is neither this listener's address, a loopback name nor in `console.hosts` is answered 421 `BAD_REQUEST`, except on \
the probes and `/metrics`.";

/// The whole document.
pub(in crate::http) fn document() -> Document {
    let refusals = Refusals {
        body: Schema::reference("ErrorBody", shared::error_body()),
        shared: SHARED,
        headers: &[headers::REQUEST_ID],
    };
    let mut paths = Listed::<Listed<_>>::default();
    // Described everywhere, and routed in a sandbox only.
    let clock = Described::at("post", format!("{PREFIX}/sandbox/clock"));
    let guarded = routes::described()
        .into_iter()
        .chain([sandbox_clock::document(clock).for_role(routes::TIME_TRAVEL)])
        .map(|described| described.refuses(GUARDED));
    for described in probes::described().into_iter().chain(guarded) {
        let described = described.refuses(ALWAYS);
        let (path, method) = (described.path.clone(), described.method.clone());
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
        tags: sections::ALL.to_vec(),
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

const fn operator_token() -> SecurityScheme {
    SecurityScheme {
        kind: "http",
        scheme: "bearer",
        description: "An operator's token: the one of the configuration or of the file that the server made, or that of a named operator.",
    }
}
