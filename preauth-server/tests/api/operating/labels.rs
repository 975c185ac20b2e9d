//! Label values come from closed sets, for any request.

use reqwest::Method;
use test_support::{Backend, RawCaller, Sandbox};

use super::server::scrape;

const ODD_PATHS: [&str; 6] = [
    "/nowhere",
    "/api/integration/v1/pre-authorizations/",
    "/api/integration/v1/pre-authorizations/99999999999999999999",
    "/api/integration/v1/pre-authorizations/1/cancel/service_sk_0123",
    "/api/platform/v1/companies/11222333000181",
    "/%22%7D%0Apreauth_forged_total%201",
];

#[tokio::test]
async fn odd_requests_make_no_labels_of_their_own() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let callers = [
        sandbox.caller("apiKey"),
        RawCaller::new(sandbox.text("platformUrl"), None),
    ];
    let odd_methods = ["PURGE", "SERVICE_SK_0123", "get", "TRACE", "OPTIONS", "GET"];
    for caller in &callers {
        for path in ODD_PATHS {
            for method in odd_methods {
                let method = Method::from_bytes(method.as_bytes()).unwrap();
                let answer = caller.send(method, path, &[], None).await;
                assert!(answer.status >= 400, "{path}: {}", answer.status);
            }
        }
        for number in 0..20 {
            caller.get(&format!("/random-{number}")).await;
        }
    }
    let scraped = scrape(&sandbox).await;
    let requests = "preauth_http_requests_total";
    let methods = scraped.labels(requests, "method");
    let expected = ["GET", "OPTIONS", "OTHER", "TRACE"];
    assert_eq!(methods.into_iter().collect::<Vec<_>>(), expected);
    let routes = scraped.labels(requests, "route");
    let expected = [
        "/api/integration/v1/pre-authorizations/{id}",
        "/api/platform/v1/companies/{id}",
        "unmatched",
    ];
    assert_eq!(routes.into_iter().collect::<Vec<_>>(), expected);
    for value in scraped.label_values() {
        let strange = [
            "random",
            "nowhere",
            "service_sk",
            "11222333000181",
            "forged",
        ];
        let is_strange = strange.iter().any(|it| value.to_lowercase().contains(it));
        assert!(!is_strange && value.len() < 80, "{value}");
    }
}

#[tokio::test]
async fn metrics_contain_no_secret_and_no_name_and_need_no_token() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let text = super::server::ask(&sandbox, "/metrics").await.text;
    for name in [
        "apiKey",
        "platformToken",
        "webhookSecret",
        "companyCnpj",
        "supplierCnpj",
    ] {
        assert!(!text.contains(sandbox.text(name)), "{name}");
    }
    let public = sandbox.stranger().get("/metrics").await;
    assert_eq!(
        public.status, 404,
        "only the private listener serves metrics"
    );
}
