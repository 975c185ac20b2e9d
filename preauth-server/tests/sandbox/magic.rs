//! Every code on demand: `sandbox:<CODE>`.

use preauth_client::value::{Cnpj, DueDate, Email, InvoiceNumber, Money};
use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_client::{Client, NewPreAuthorization, RetryPolicy};
use preauth_core::ErrorCode;
use preauth_server::http::integration::{MAGIC_PREFIX, Magic};
use reqwest::Method;
use serde_json::json;
use test_support::{Answer, Backend, RawCaller, Sandbox, due_date, offer_body, with};

fn magic(code: ErrorCode) -> String {
    format!("{MAGIC_PREFIX}{}", code.as_str())
}

/// The status of a code, by the contract and, for our own codes, docs/decisions.md.
pub(crate) fn status(code: ErrorCode) -> u16 {
    use ErrorCode as C;
    match code {
        C::ValidationError | C::BadRequest | C::IdempotencyKeyInvalid => 400,
        C::ApiKeyInvalid | C::ApiKeyRevoked | C::ApiKeyExpired | C::PlatformTokenInvalid => 401,
        C::IntegrationScopeForbidden
        | C::IntegrationResponsibleForbidden
        | C::RbacForbidden
        | C::PreAuthOnlyConstrutora
        | C::OperatorForbidden
        | C::FourEyesRequired => 403,
        C::AnticipationNotFound | C::NotFound | C::ResourceNotFound => 404,
        C::MethodNotAllowed => 405,
        C::RequestTimeout => 408,
        C::PreAuthDuplicateInvoice
        | C::AnticipationInvalidTransition
        | C::IdempotencyKeyReused
        | C::IdempotencyInProgress
        | C::ResourceConflict => 409,
        C::EventCursorExpired => 410,
        C::FileTooLarge | C::PayloadTooLarge => 413,
        C::RateLimited => 429,
        C::InternalError => 500,
        C::ServiceUnavailable => 503,
        _ => 422,
    }
}

/// Whether a refusal with this code has the headers of the caller's window.
fn reports_the_window(code: ErrorCode) -> bool {
    !matches!(status(code), 401 | 405) && code != ErrorCode::NotFound
}

/// Checks that an answer has everything that a real refusal with this code has.
fn assert_is_real(answer: &Answer, code: ErrorCode) {
    let name = code.as_str();
    assert_eq!(answer.refusal(), (status(code), name.to_owned()));
    assert!(!answer.header("x-request-id").is_empty(), "{name}");
    assert_eq!(
        answer.header("content-type"),
        "application/json; charset=utf-8"
    );
    let body = answer.json();
    let errors = body["errors"].as_array().unwrap();
    assert!(errors.iter().all(|each| each["code"] == name), "{body}");
    assert!(
        errors.iter().all(
            |each| each["message"].as_str().is_some_and(|it| it.ends_with('.'))
                || name == "IDEMPOTENCY_KEY_INVALID"
        ),
        "{body}"
    );
    assert_eq!(
        body["details"].is_array(),
        matches!(
            name,
            "VALIDATION_ERROR"
                | "PRE_AUTH_DUPLICATE_INVOICE"
                | "IDEMPOTENCY_KEY_REUSED"
                | "CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED"
        ) || name.contains("DUE_DATE"),
        "{body}"
    );
    let header = |name| answer.headers.contains_key(name);
    assert_eq!(
        header("retry-after"),
        matches!(status(code), 429 | 503) || name == "IDEMPOTENCY_IN_PROGRESS",
        "{name}"
    );
    assert_eq!(header("www-authenticate"), status(code) == 401, "{name}");
    assert_eq!(header("allow"), status(code) == 405, "{name}");
    for window in [
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
        "ratelimit",
        "ratelimit-policy",
    ] {
        assert_eq!(header(window), reports_the_window(code), "{name} {window}");
    }
    assert!(!header("idempotency-replayed"), "{name}");
}

// Contract: error-body/errors[].code error-body/details every-call/errors error-code/a-code-each
// Contract: error-code-of-ours/SERVICE_UNAVAILABLE error-code-of-ours/IDEMPOTENCY_IN_PROGRESS
// Contract: version/v2
#[tokio::test]
async fn a_create_is_refused_as_its_number_asks_and_creates_nothing() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let caller = sandbox.caller("apiKey");
    for code in Magic::codes() {
        let body = offer_body(&sandbox, &magic(code)).to_string();
        let key = format!("pedido-{}", code.as_str());
        let headers = [("idempotency-key", key.as_str())];
        for _ in 0..2 {
            let refused = caller
                .post_text(PRE_AUTHORIZATIONS, &headers, body.clone())
                .await;
            assert_is_real(&refused, code);
        }
        // A refusal is not stored for replays.
        if code == ErrorCode::PreAuthSupplierSelf {
            let ordinary = offer_body(&sandbox, "NF-1").to_string();
            let created = caller
                .post_text(PRE_AUTHORIZATIONS, &headers, ordinary)
                .await;
            assert_eq!(created.status, 201, "{}", created.text);
        }
    }
    let listed = caller.get(PRE_AUTHORIZATIONS).await.json();
    assert_eq!(listed["pagination"]["total"], 1, "{listed}");
    let log = sandbox.log();
    assert_eq!(log.matches("status    operation").count(), 1, "{log}");
}

// Contract: every-call/X-Request-Id every-call/errors every-call/401-403-429-500
#[tokio::test]
async fn get_cancel_and_list_are_refused_as_the_reference_asks() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let caller = sandbox.caller("apiKey");
    for (id, code) in (1..).zip(Magic::codes()) {
        let reference = magic(code);
        let body = with(
            offer_body(&sandbox, &format!("NF-{id}")),
            "/externalReference",
            json!(reference),
        );
        let created = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(
            (created.status, created.json()["id"].as_i64()),
            (201, Some(id))
        );
        let one = format!("{PRE_AUTHORIZATIONS}/{id}");
        assert_is_real(&caller.get(&one).await, code);
        assert_is_real(&caller.post(&format!("{one}/cancel")).await, code);
        let filtered = format!("{PRE_AUTHORIZATIONS}?externalReference={reference}");
        assert_is_real(&caller.get(&filtered).await, code);
        // The platform shows the real operation: nothing was cancelled.
        let real = sandbox
            .platform()
            .get(&format!("/api/platform/v1/operations/{id}"))
            .await;
        assert_eq!(real.json()["status"], "IN_PRE_AUTH");
    }
}

#[tokio::test]
async fn the_key_and_the_request_are_validated_before_a_magic_number_acts() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let body = offer_body(&sandbox, "sandbox:INTERNAL_ERROR");
    let refused = |key: &'static str, body: serde_json::Value| {
        let caller = sandbox.caller(key);
        async move { caller.post_json(PRE_AUTHORIZATIONS, &body).await.code() }
    };
    assert_eq!(
        refused("expiredApiKey", body.clone()).await,
        "API_KEY_EXPIRED"
    );
    assert_eq!(
        refused("readOnlyApiKey", body.clone()).await,
        "INTEGRATION_SCOPE_FORBIDDEN"
    );
    assert_eq!(
        refused("branchApiKey", body.clone()).await,
        "PRE_AUTH_ONLY_CONSTRUTORA"
    );
    let broken = with(body.clone(), "/invoice/amount", json!(1));
    assert_eq!(refused("apiKey", broken).await, "VALIDATION_ERROR");
    // Business rules are checked afterwards.
    let blocked = with(
        body,
        "/supplier/cnpj",
        json!(sandbox.text("blockedSupplierCnpj")),
    );
    assert_eq!(refused("apiKey", blocked).await, "INTERNAL_ERROR");
}

#[tokio::test]
async fn a_mistyped_code_is_reported_with_the_valid_codes() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let caller = sandbox.caller("apiKey");
    for (pointer, field) in [
        ("/invoice/number", "invoice.number"),
        ("/externalReference", "externalReference"),
    ] {
        let body = with(
            offer_body(&sandbox, "NF-1"),
            pointer,
            json!("sandbox:RATE_LIMTED"),
        );
        let refused = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(refused.refusal(), (400, "VALIDATION_ERROR".to_owned()));
        assert_eq!(refused.fields(), [field]);
        assert!(refused.text.contains("RATE_LIMITED"), "{}", refused.text);
        assert!(
            !refused.text.contains("RESOURCE_CONFLICT"),
            "{}",
            refused.text
        );
    }
}

#[tokio::test]
async fn a_provoked_duplicate_names_an_operation_that_can_be_looked_up() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let caller = sandbox.caller("apiKey");
    for number in ["NF-1", "NF-2"] {
        caller
            .post_json(PRE_AUTHORIZATIONS, &offer_body(&sandbox, number))
            .await;
    }
    let body = offer_body(&sandbox, "sandbox:PRE_AUTH_DUPLICATE_INVOICE");
    let refused = caller.post_json(PRE_AUTHORIZATIONS, &body).await.json();
    assert_eq!(refused["details"], json!([{"anticipationId": 2}]));
    assert_eq!(
        caller.get(&format!("{PRE_AUTHORIZATIONS}/2")).await.status,
        200
    );
}

#[tokio::test]
async fn a_provoked_limit_is_like_one_that_was_reached() {
    let sandbox = Sandbox::start_with(Backend::Sqlite, &["--rate-limit", "2"]).await;
    let caller = sandbox.caller("apiKey");
    let body = offer_body(&sandbox, "sandbox:RATE_LIMITED");
    let provoked = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    caller.get(PRE_AUTHORIZATIONS).await;
    let real = caller.get(PRE_AUTHORIZATIONS).await;
    for refused in [&provoked, &real] {
        assert_is_real(refused, ErrorCode::RateLimited);
        assert_eq!(refused.header("x-ratelimit-remaining"), "0");
        assert_eq!(
            refused.header("retry-after"),
            refused.header("x-ratelimit-reset")
        );
    }
    assert_eq!(provoked.text, real.text);
}

#[tokio::test]
async fn a_provoked_wrong_method_names_the_methods_like_a_real_one() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let caller = sandbox.caller("apiKey");
    let body = offer_body(&sandbox, "sandbox:METHOD_NOT_ALLOWED");
    let provoked = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    let real = caller
        .send(Method::DELETE, PRE_AUTHORIZATIONS, &[], None)
        .await;
    assert_eq!(methods(&provoked), methods(&real));
    assert_eq!(provoked.text, real.text);
}

fn methods(answer: &Answer) -> Vec<&str> {
    let mut methods: Vec<_> = answer.header("allow").split(", ").collect();
    methods.sort_unstable();
    methods
}

#[tokio::test]
async fn the_seeded_keys_give_the_codes_that_no_request_can() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    for (key, code) in [
        ("expiredApiKey", ErrorCode::ApiKeyExpired),
        ("revokedApiKey", ErrorCode::ApiKeyRevoked),
        ("legacyApiKey", ErrorCode::IntegrationScopeForbidden),
        (
            "forbiddenUserApiKey",
            ErrorCode::IntegrationResponsibleForbidden,
        ),
        ("deactivatedUserApiKey", ErrorCode::RbacForbidden),
    ] {
        assert_is_real(&sandbox.caller(key).get(PRE_AUTHORIZATIONS).await, code);
    }
    let mistyped = RawCaller::new(sandbox.text("baseUrl"), Some("service_sk_mistyped"));
    assert_is_real(
        &mistyped.get(PRE_AUTHORIZATIONS).await,
        ErrorCode::ApiKeyInvalid,
    );
    let branch = sandbox.caller("branchApiKey");
    let refused = branch
        .post_json(PRE_AUTHORIZATIONS, &offer_body(&sandbox, "NF-1"))
        .await;
    assert_is_real(&refused, ErrorCode::PreAuthOnlyConstrutora);
}

#[tokio::test]
async fn the_client_reads_every_provoked_refusal() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let client = Client::builder(sandbox.text("baseUrl"), sandbox.text("apiKey"))
        .retry(RetryPolicy::never())
        .build()
        .unwrap();
    let offer = |number: &str| {
        NewPreAuthorization::new(
            Cnpj::parse(sandbox.text("supplierCnpj")).unwrap(),
            Email::parse("financeiro@fornecedor.example.com").unwrap(),
            Money::parse("12500.50").unwrap(),
            DueDate::from_date(due_date(60)).unwrap(),
            InvoiceNumber::parse(number).unwrap(),
        )
    };
    let first = client.create(&offer("NF-1")).await.unwrap();
    for code in Magic::codes() {
        let error = client.create(&offer(&magic(code))).await.unwrap_err();
        assert_eq!(error.code().unwrap().as_str(), code.as_str());
        assert_eq!(error.status(), Some(status(code)));
        let names_fields = error.problems().any(|problem| problem.field.is_some());
        let is_of_one_field = code.as_str().contains("DUE_DATE")
            || code == ErrorCode::CreditAnalysisInvoiceAmountExceeded;
        let is_of_fields = is_of_one_field || code == ErrorCode::ValidationError;
        assert_eq!(names_fields, is_of_fields, "{code:?}");
        let is_duplicate = code == ErrorCode::PreAuthDuplicateInvoice;
        assert_eq!(
            error.existing_operation_id(),
            is_duplicate.then_some(first.id)
        );
        assert_eq!(
            error.rate_limit().is_some(),
            reports_the_window(code),
            "{code:?}"
        );
    }
}
