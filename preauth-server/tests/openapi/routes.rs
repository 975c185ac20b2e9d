//! Exactly the existing routes are described.

use std::collections::BTreeSet;

use preauth_core::ErrorCode;
use preauth_server::http::integration::Magic;
use preauth_server::http::openapi::{self, Form};
use preauth_server::http::platform::{LIVEZ, METRICS, PREFIX, READYZ, routes};
use preauth_server::http::{DESCRIPTION, DESCRIPTION_IN_3_0, MULTIPART_DESCRIPTION_IN_3_0};
use reqwest::Method;
use test_support::{Backend, RawCaller, Sandbox};

use crate::description::Description;

/// Returned for paths and methods without an operation.
const OF_NO_OPERATION: [ErrorCode; 2] = [ErrorCode::NotFound, ErrorCode::MethodNotAllowed];

fn described(description: &Description) -> BTreeSet<(String, String)> {
    let operations = description.operations();
    operations
        .map(|each| (each.method.to_uppercase(), each.path.to_owned()))
        .collect()
}

#[test]
fn the_platform_api_is_described_route_by_route() {
    let mut expected: BTreeSet<_> = routes()
        .into_iter()
        .filter(|(method, _)| method != "HEAD")
        .collect();
    expected.insert(("POST".to_owned(), format!("{PREFIX}/sandbox/clock")));
    for path in [LIVEZ, READYZ, METRICS] {
        expected.insert(("GET".to_owned(), path.to_owned()));
    }
    assert_eq!(described(&Description::platform()), expected);
}

#[tokio::test]
async fn every_described_path_has_the_described_methods_and_no_other() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let apis = [
        (Description::integration(), sandbox.caller("apiKey")),
        (Description::platform(), sandbox.platform()),
    ];
    for (description, caller) in apis {
        let paths: BTreeSet<_> = description.operations().map(|each| each.path).collect();
        for path in paths {
            let methods = description.operations();
            let methods = methods.filter(|each| each.path == path || is_id(path, each.path));
            let mut expected: BTreeSet<_> =
                methods.map(|each| each.method.to_uppercase()).collect();
            if expected.contains("GET") {
                expected.insert("HEAD".to_owned());
            }
            assert_eq!(allowed(&caller, path).await, expected, "{path}");
        }
    }
}

/// Whether the last part of `path` is also one that `route` takes for an id, and refuses.
fn is_id(path: &str, route: &str) -> bool {
    let parent = |path: &str| path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
    route.ends_with("/{id}") && parent(route) == parent(path)
}

/// The methods in the server's `allow` header.
async fn allowed(caller: &RawCaller, path: &str) -> BTreeSet<String> {
    let path = path
        .replace("{id}", "1")
        .replace("{cnpj}", "11444777000161");
    let answer = caller.send(Method::TRACE, &path, &[], None).await;
    assert_eq!(answer.status, 405, "{path}: {}", answer.text);
    let methods = answer.header("allow").split(',');
    methods.map(|method| method.trim().to_owned()).collect()
}

#[test]
fn every_code_is_described_where_it_is_answered() {
    let (integration, platform) = (Description::integration(), Description::platform());
    let of_integration: BTreeSet<_> = Magic::codes().collect();
    for code in ErrorCode::ALL {
        if *code == ErrorCode::MethodNotAllowed {
            continue;
        }
        let described = |description: &Description| {
            let quoted = format!("\"{code}\"");
            let codes = ["paths", "components"].map(|part| &description.document[part]);
            codes
                .iter()
                .any(|part| x_error_codes(part).contains(&quoted))
        };
        let is_of_operations = !OF_NO_OPERATION.contains(code);
        if of_integration.contains(code) && is_of_operations {
            assert!(described(&integration), "{code}");
        }
        if !of_integration.contains(code) {
            assert!(described(&platform), "{code}");
            assert!(!described(&integration), "{code}");
        }
    }
}

/// All lists of codes, in one text.
fn x_error_codes(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(members) => members
            .iter()
            .map(|(name, member)| match name.as_str() {
                "x-error-codes" => member.to_string(),
                _ => x_error_codes(member),
            })
            .collect(),
        serde_json::Value::Array(elements) => elements.iter().map(x_error_codes).collect(),
        _ => String::new(),
    }
}

#[tokio::test]
async fn both_listeners_serve_their_description_to_anybody() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let platform = RawCaller::new(sandbox.text("platformUrl"), None);
    for (caller, path, expected) in [
        (sandbox.stranger(), DESCRIPTION, openapi::integration()),
        (
            sandbox.stranger(),
            DESCRIPTION_IN_3_0,
            openapi::integration_in_3_0(Form::Json),
        ),
        (
            sandbox.stranger(),
            MULTIPART_DESCRIPTION_IN_3_0,
            openapi::integration_in_3_0(Form::Multipart),
        ),
        (platform, DESCRIPTION, openapi::platform()),
    ] {
        let answer = caller.get(path).await;
        assert_eq!(answer.status, 200);
        assert_eq!(
            answer.header("content-type"),
            "application/json; charset=utf-8"
        );
        assert!(
            answer.text == expected,
            "it is the document that is checked in"
        );
        let head = caller.send(Method::HEAD, path, &[], None).await;
        assert_eq!((head.status, head.text.as_str()), (200, ""));
        assert_eq!(head.header("content-length"), expected.len().to_string());
    }
}
