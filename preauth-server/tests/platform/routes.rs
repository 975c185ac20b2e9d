//! Every route of the platform API, with its input.

use serde_json::{Value, json};

use crate::scene::{Scene, extension_body, text};

/// One route.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// Under the prefix.
    pub(crate) path: &'static str,
    pub(crate) takes: Takes,
}

/// The input of a route besides its path.
pub(crate) enum Takes {
    /// Nothing: the body is ignored.
    Nothing,
    /// Page and limit.
    Pages,
    /// A JSON body with these fields.
    Body(&'static [Field]),
    /// The same, but the body may be omitted.
    MaybeBody(&'static [Field]),
}

/// A field of a body.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
}

/// The type of a field's value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// A text that is validated separately, with its own error code.
    Url,
    Amount,
    Whole,
    Bool,
    List,
    Object,
}

use Kind::{Amount, Bool, List, Object, Text, Url, Whole};
use Takes::{Body, MaybeBody, Nothing, Pages};
use test_support::due_date;

const OPERATOR: &[Field] = &[
    needs("name", Text),
    needs("role", Text),
    may("validUntil", Text),
];
const COMPANY: &[Field] = &[
    needs("cnpj", Text),
    needs("name", Text),
    needs("kind", Text),
    may("headOfficeId", Text),
];
const COMPANY_CHANGE: &[Field] = &[may("name", Text)];
const USER: &[Field] = &[
    needs("name", Text),
    needs("email", Text),
    needs("permissions", List),
    may("active", Bool),
];
const USER_CHANGE: &[Field] = &[
    may("name", Text),
    may("email", Text),
    may("permissions", List),
    may("active", Bool),
];
const API_KEY: &[Field] = &[
    needs("name", Text),
    needs("responsibleUserId", Text),
    needs("scopes", List),
    may("validityDays", Whole),
];
const ADVANCE: &[Field] = &[
    needs("payerCompanyId", Text),
    needs("supplierCnpj", Text),
    needs("invoice", Object),
    needs("invoice.amount", Amount),
    needs("invoice.dueDate", Text),
    may("invoice.number", Text),
    may("externalReference", Text),
];
const INVOICE: &[Field] = &[
    needs("payerCompanyId", Text),
    needs("supplierCnpj", Text),
    needs("invoice", Object),
    needs("invoice.amount", Amount),
    needs("invoice.dueDate", Text),
    needs("invoice.number", Text),
];
const PAYMENT_ORDER: &[Field] = &[
    needs("payerCompanyId", Text),
    needs("supplierCnpj", Text),
    needs("amount", Amount),
    may("scheduledFor", Text),
    may("operationId", Whole),
];
const RESEND_RANGE: &[Field] = &[
    needs("since", Text),
    may("until", Text),
    may("eventTypes", List),
    may("statuses", List),
    may("after", Text),
];
const REASON: &[Field] = &[may("reason", Text)];

/// The route that exists in a sandbox only.
pub(crate) const CLOCK: &str = "/sandbox/clock";

/// All routes except HEAD, which answers like GET.
pub(crate) const ROUTES: &[Route] = &[
    route("GET", "/calling-operator", Nothing),
    route("GET", "/operators", Pages),
    route("POST", "/operators", Body(OPERATOR)),
    route("GET", "/operators/{id}", Nothing),
    route("POST", "/operators/{id}/revoke", Nothing),
    route("GET", "/audit-log", Pages),
    route("GET", "/attention", Nothing),
    route("GET", "/reports", Nothing),
    route("GET", "/companies", Pages),
    route("POST", "/companies", Body(COMPANY)),
    route("GET", "/companies/{id}", Nothing),
    route("PATCH", "/companies/{id}", Body(COMPANY_CHANGE)),
    route("GET", "/companies/{id}/branches", Pages),
    route("GET", "/companies/{id}/invitations", Pages),
    route(
        "POST",
        "/companies/{id}/suspend",
        Body(&[needs("reason", Text)]),
    ),
    route("POST", "/companies/{id}/resume", Nothing),
    route("GET", "/companies/{id}/credit-analysis", Nothing),
    route(
        "PUT",
        "/companies/{id}/credit-analysis",
        Body(&[
            needs("maxTermDays", Whole),
            needs("maxInvoiceAmount", Amount),
        ]),
    ),
    route("GET", "/companies/{id}/blocked-suppliers", Pages),
    route("GET", "/companies/{id}/blocked-suppliers/{cnpj}", Nothing),
    route("PUT", "/companies/{id}/blocked-suppliers/{cnpj}", Nothing),
    route(
        "DELETE",
        "/companies/{id}/blocked-suppliers/{cnpj}",
        Nothing,
    ),
    route("GET", "/companies/{id}/users", Pages),
    route("POST", "/companies/{id}/users", Body(USER)),
    route("GET", "/users/{id}", Nothing),
    route("PATCH", "/users/{id}", Body(USER_CHANGE)),
    route("GET", "/companies/{id}/api-keys", Pages),
    route("POST", "/companies/{id}/api-keys", Body(API_KEY)),
    route("POST", "/api-key-search", Body(&[needs("text", Text)])),
    route("GET", "/api-keys/{id}", Nothing),
    route("DELETE", "/api-keys/{id}", Nothing),
    route("GET", "/companies/{id}/webhook-endpoint", Nothing),
    route(
        "PUT",
        "/companies/{id}/webhook-endpoint",
        Body(&[needs("url", Url), may("events", List)]),
    ),
    route("DELETE", "/companies/{id}/webhook-endpoint", Nothing),
    route("POST", "/companies/{id}/webhook-endpoint/pause", Nothing),
    route("POST", "/companies/{id}/webhook-endpoint/resume", Nothing),
    route("POST", "/companies/{id}/webhook-endpoint/test", Nothing),
    route(
        "POST",
        "/companies/{id}/webhook-endpoint/rotate-secret",
        MaybeBody(&[may("overlapHours", Whole)]),
    ),
    route("GET", "/companies/{id}/deliveries", Pages),
    route(
        "POST",
        "/companies/{id}/deliveries/resend",
        Body(&[needs("since", Text)]),
    ),
    route(
        "POST",
        "/companies/{id}/deliveries/resend-range",
        Body(RESEND_RANGE),
    ),
    route(
        "POST",
        "/companies/{id}/deliveries/resend-range/count",
        Body(RESEND_RANGE),
    ),
    route("GET", "/deliveries", Pages),
    route("GET", "/deliveries/{id}", Nothing),
    route("POST", "/deliveries/{id}/resend", Nothing),
    route("GET", "/companies/{id}/notices", Pages),
    route("GET", "/notices", Pages),
    route("GET", "/notices/{id}", Nothing),
    route("POST", "/notices/{id}/resend", Nothing),
    route("GET", "/personal-data/{cnpj}", Nothing),
    route("GET", "/personal-data/{cnpj}/export", Nothing),
    route("POST", "/personal-data/{cnpj}/erasure", Nothing),
    route("GET", "/suppressed-addresses", Pages),
    route("GET", "/suppressed-addresses/{id}", Nothing),
    route("DELETE", "/suppressed-addresses/{id}", Nothing),
    route("GET", "/master-keys", Nothing),
    route("POST", "/master-keys/reencrypt", Nothing),
    route("GET", "/operations", Pages),
    route("POST", "/operations", Body(ADVANCE)),
    route("GET", "/operations/{id}", Nothing),
    route("GET", "/operations/{id}/invoice-file", Nothing),
    route("POST", "/operations/{id}/request", MaybeBody(&[])),
    route("POST", "/operations/{id}/decline", MaybeBody(REASON)),
    route("POST", "/operations/{id}/withdraw", MaybeBody(REASON)),
    route("POST", "/operations/{id}/verify", MaybeBody(&[])),
    route("POST", "/operations/{id}/approve", MaybeBody(&[])),
    route(
        "POST",
        "/operations/{id}/release",
        MaybeBody(&[needs("netAmount", Amount)]),
    ),
    route("POST", "/operations/{id}/pay", MaybeBody(&[])),
    route("POST", "/operations/{id}/return-payout", MaybeBody(&[])),
    route("POST", "/operations/{id}/bill", MaybeBody(&[])),
    route("POST", "/operations/{id}/conclude", MaybeBody(&[])),
    route(
        "POST",
        "/operations/{id}/reprove",
        MaybeBody(&[needs("by", Text), may("reason", Text)]),
    ),
    route("POST", "/operations/{id}/reopen", MaybeBody(&[])),
    route("GET", "/operations/{id}/extensions", Pages),
    route(
        "POST",
        "/operations/{id}/extensions",
        Body(&[needs("newDueDate", Text), needs("totalAmount", Amount)]),
    ),
    route("GET", "/extensions/{id}", Nothing),
    route("POST", "/extensions/{id}/conclude", Nothing),
    route("POST", "/extensions/{id}/cancel", Nothing),
    route("GET", "/invoices", Pages),
    route("POST", "/invoices", Body(INVOICE)),
    route("GET", "/invoices/{id}", Nothing),
    route("GET", "/payment-orders", Pages),
    route("POST", "/payment-orders", Body(PAYMENT_ORDER)),
    route("GET", "/payment-orders/{id}", Nothing),
    route("POST", "/payment-orders/{id}/review", MaybeBody(&[])),
    route(
        "POST",
        "/payment-orders/{id}/schedule",
        MaybeBody(&[may("scheduledFor", Text)]),
    ),
    route("POST", "/payment-orders/{id}/pay", MaybeBody(&[])),
    route("POST", "/payment-orders/{id}/cancel", MaybeBody(REASON)),
    route("POST", "/payment-orders/{id}/reprove", MaybeBody(REASON)),
    route("POST", CLOCK, Body(&[needs("advanceSeconds", Whole)])),
];

/// Whether a POST to this path changes nothing.
pub(crate) fn is_read(path: &str) -> bool {
    [
        "/api-key-search",
        "/companies/{id}/deliveries/resend-range/count",
    ]
    .contains(&path)
}

impl Route {
    /// The fields of its body; `None` when it reads none.
    pub(crate) const fn fields(&self) -> Option<&'static [Field]> {
        match self.takes {
            Body(fields) | MaybeBody(fields) => Some(fields),
            Nothing | Pages => None,
        }
    }

    /// Whether its body may be empty: none of its fields is required.
    pub(crate) fn takes_an_empty_body(&self) -> bool {
        matches!(self.takes, MaybeBody(fields) if fields.iter().all(|field| !field.required))
    }

    /// Whether its `{id}` is a number; the others are UUIDs.
    pub(crate) fn is_numbered(&self) -> bool {
        let numbered = [
            "/operations/",
            "/extensions/",
            "/invoices/",
            "/payment-orders/",
        ];
        numbered.iter().any(|start| self.path.starts_with(start))
    }

    /// A body that is valid in form.
    pub(crate) async fn valid(&self, scene: &Scene) -> Value {
        let supplier = scene.sandbox.text("supplierCnpj").to_owned();
        match self.path {
            "/operators" => json!({"name": "Eva Lima", "role": "VIEWER"}),
            "/companies" => json!({"cnpj": "45723001000100", "name": "Azul", "kind": "SUPPLIER"}),
            "/companies/{id}/suspend" => json!({"reason": "Contrato em revisão"}),
            "/api-key-search" => json!({"text": "service_sk_ab"}),
            "/companies/{id}/credit-analysis" => {
                json!({"maxTermDays": 120, "maxInvoiceAmount": 250_000})
            }
            "/companies/{id}/users" => json!({
                "name": "Eva",
                "email": "eva@construtora.example.com",
                "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"],
            }),
            "/users/{id}" | "/companies/{id}" => json!({"name": "Eva"}),
            "/companies/{id}/api-keys" => {
                let users = scene
                    .get(&format!("/companies/{}/users", scene.company))
                    .await;
                let user = text(&users["data"][0]["id"]);
                json!({"name": "ERP", "responsibleUserId": user, "scopes": ["preauth:read"]})
            }
            "/companies/{id}/webhook-endpoint" => {
                json!({"url": scene.receiver.url(), "events": ["anticipation.paid"]})
            }
            "/companies/{id}/deliveries/resend" => json!({"since": "2026-11-21T12:00:00Z"}),
            "/companies/{id}/deliveries/resend-range"
            | "/companies/{id}/deliveries/resend-range/count" => {
                json!({"since": "2020-01-01T00:00:00Z"})
            }
            "/operations" | "/invoices" => scene.advance_body("NF-VALID"),
            CLOCK => json!({"advanceSeconds": 0}),
            "/operations/{id}/release" => json!({"netAmount": 1000}),
            "/operations/{id}/reprove" => json!({"by": "COMPANY"}),
            "/operations/{id}/extensions" => extension_body(),
            "/payment-orders" => json!({
                "payerCompanyId": scene.company,
                "supplierCnpj": supplier,
                "amount": 10,
                "scheduledFor": due_date(10).to_string(),
            }),
            _ => json!({}),
        }
    }
}

const fn route(method: &'static str, path: &'static str, takes: Takes) -> Route {
    Route {
        method,
        path,
        takes,
    }
}

const fn needs(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        required: true,
    }
}

const fn may(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        required: false,
    }
}
