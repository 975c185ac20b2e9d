//! The integration API: its operations and its webhook.

mod operations;
mod schemas;
mod webhook;

use preauth_core::ErrorCode;

use super::document::{Components, Document, SecurityScheme, Tag, info, servers};
use super::headers;
use super::listed::Listed;
use super::refusals::{Refusals, Shared};
use super::schema::components;

const API_KEY: &str = "apiKey";

const PRE_AUTHORIZATIONS: Tag = Tag {
    name: "pre-authorizations",
    description: "Offer a supplier an advance, look offers and advances up, take an offer back.",
};
const EVENTS: Tag = Tag {
    name: "events",
    description: "Read the events of a company on request, without a webhook.",
};
const WEBHOOKS: Tag = Tag {
    name: "webhooks",
    description: "Events that the service sends to the endpoint that a company registered.",
};

/// The possible refusals of every operation.
const ALWAYS: &[ErrorCode] = &[
    ErrorCode::BadRequest,
    ErrorCode::ApiKeyInvalid,
    ErrorCode::ApiKeyRevoked,
    ErrorCode::ApiKeyExpired,
    ErrorCode::IntegrationScopeForbidden,
    ErrorCode::IntegrationResponsibleForbidden,
    ErrorCode::RbacForbidden,
    ErrorCode::RateLimited,
    ErrorCode::InternalError,
    ErrorCode::ServiceUnavailable,
];

const SHARED: &[Shared] = &[
    Shared {
        name: "Unauthorized",
        codes: &[
            ErrorCode::ApiKeyInvalid,
            ErrorCode::ApiKeyRevoked,
            ErrorCode::ApiKeyExpired,
        ],
    },
    Shared {
        name: "Forbidden",
        codes: &[
            ErrorCode::IntegrationScopeForbidden,
            ErrorCode::IntegrationResponsibleForbidden,
            ErrorCode::RbacForbidden,
        ],
    },
    Shared {
        name: "AnticipationNotFound",
        codes: &[ErrorCode::AnticipationNotFound],
    },
    Shared {
        name: "TooManyRequests",
        codes: &[ErrorCode::RateLimited],
    },
    Shared {
        name: "InternalError",
        codes: &[ErrorCode::InternalError],
    },
    Shared {
        name: "ServiceUnavailable",
        codes: &[ErrorCode::ServiceUnavailable],
    },
];

const DESCRIPTION: &str = "\
A construction company's ERP offers its suppliers advances on the invoices that the company will pay.

- Bodies are JSON in UTF-8. Timestamps are UTC with milliseconds; dates are `YYYY-MM-DD`; amounts are reais, in at most 32 digits and with an exponent of at most 32. \
A numeric string such as `\"1234.56\"` is taken for `invoice.amount`, too. Amounts of requests are rounded to cents, half up; a thousands point \
is read as decimals, so that `750.000` is 750 reais. Answers have at most two decimals.
- Texts in requests must not be blank. They are trimmed, except `externalReference`; lengths count the Unicode characters that remain. Characters that do not show \
are refused; patterns list those up to U+FFFF, and those above (U+E0000 to U+E0FFF and a few controls and blanks) are refused like them.
- Within v1 fields, statuses, stages, event types and error codes may be added at any time: accept values and fields that you do not know. \
Sets of words in answers are therefore plain strings; `x-enum-values` lists the words of today.
- Every refusal has the shape of `ErrorBody`; `x-error-codes` lists the codes that an answer can have. Paths that are not described \
here answer 404 `NOT_FOUND`, other methods 405 `METHOD_NOT_ALLOWED`, targets above 8 KiB 414 `BAD_REQUEST`; HEAD answers like GET.
- A key has 120 requests in 60 seconds (both configurable). The headers of every answer to a valid key state how many are left.
- After 503, or 409 `IDEMPOTENCY_IN_PROGRESS`, the same request may be repeated once `Retry-After` has passed.";

/// The whole document.
pub(super) fn document() -> Document {
    let refusals = Refusals {
        body: schemas::named("ErrorBody"),
        shared: SHARED,
        headers: &[headers::REQUEST_ID],
    };
    let success: Vec<_> = [headers::REQUEST_ID]
        .into_iter()
        .chain(headers::WINDOW)
        .collect();
    let mut paths = Listed::<Listed<_>>::default();
    for described in operations::all() {
        let described = described.refuses(ALWAYS);
        let (path, method) = (described.path.clone(), described.method.clone());
        let operation = described.operation(&refusals, &success);
        paths.entry(&path).push(method, operation);
    }
    Document {
        openapi: "3.1.0",
        info: info(
            "Receivables-advance pre-authorizations",
            "Offers suppliers advances on invoices, and reports every step by webhook.",
            DESCRIPTION.to_owned(),
        ),
        servers: servers(),
        security: [Listed::from_iter([(API_KEY, Vec::new())])],
        tags: vec![PRE_AUTHORIZATIONS, EVENTS, WEBHOOKS],
        paths,
        webhooks: webhook::all(),
        x_webhooks: Listed::default(),
        components: Components {
            schemas: components(schemas::ALL),
            responses: refusals.components(),
            headers: headers::common()
                .into_iter()
                .chain(headers::of_integration())
                .collect(),
            security_schemes: Listed::from_iter([(API_KEY, api_key())]),
        },
    }
}

const fn api_key() -> SecurityScheme {
    SecurityScheme {
        kind: "http",
        scheme: "bearer",
        description: "An API key of the company, made on the platform: `service_sk_` and more, shown once. \
                      Scope preauth:read lists, gets and reads events, preauth:write creates, tries and cancels.",
    }
}
