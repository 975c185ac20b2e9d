//! Every route, tested with every class of bad input.

use std::collections::BTreeSet;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::platform::{PREFIX, routes};
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, on_each_database};

use crate::routes::{CLOCK, Field, Kind, ROUTES, Route, Takes};
use crate::scene::{Scene, text};

on_each_database! {
    a_body_that_is_no_object_is_refused_everywhere,
    a_body_that_is_not_plain_json_is_refused_everywhere,
    every_field_is_held_to_its_kind,
    unknown_fields_and_unexpected_bodies_are_ignored,
    a_malformed_or_unknown_id_is_not_found,
    pages_are_held_to_their_bounds,
    unknown_paths_and_wrong_methods_have_different_errors,
    a_body_that_may_be_absent_may_be_empty_beside_its_type,
}

const JSON: (&str, &str) = ("content-type", "application/json");

/// Larger than the maximum body of 256 KiB.
const TOO_LARGE: usize = 300 * 1024;

#[test]
fn every_route_is_in_the_table() {
    let mut served: BTreeSet<_> = routes().into_iter().collect();
    served.insert(("POST".to_owned(), format!("{PREFIX}{CLOCK}")));
    let mut listed = BTreeSet::new();
    for route in ROUTES {
        let path = format!("{PREFIX}{}", route.path);
        if route.method == "GET" {
            listed.insert(("HEAD".to_owned(), path.clone()));
        }
        listed.insert((route.method.to_owned(), path));
    }
    assert_eq!(listed, served);
}

/// A path of the table, with the scene's records as its parameters.
pub(crate) async fn filled(scene: &Scene, path: &str) -> String {
    let path = path.strip_prefix(PREFIX).unwrap_or(path);
    let of_company = |kind: &str| format!("/companies/{}/{kind}", scene.company);
    let id = match path.split('/').nth(1).unwrap() {
        "companies" => scene.company.clone(),
        kind @ ("users" | "api-keys" | "deliveries" | "notices") => {
            text(&scene.get(&of_company(kind)).await["data"][0]["id"])
        }
        "operators" => operator(scene).await,
        "suppressed-addresses" => {
            let listed = scene.get("/suppressed-addresses").await;
            listed["data"][0]["id"].as_str().unwrap_or("1").to_owned()
        }
        _ => "1".to_owned(),
    };
    let cnpj = scene.sandbox.text("blockedSupplierCnpj");
    let path = path.replace("{id}", &id).replace("{cnpj}", cnpj);
    format!("{PREFIX}{path}")
}

/// The id of an operator, who is added unless there is one.
async fn operator(scene: &Scene) -> String {
    let id = scene.get("/operators").await["data"][0]["id"].clone();
    if id.is_null() {
        let ana = json!({"name": "Ana Souza", "role": "VIEWER"});
        return text(&scene.make("/operators", ana).await["id"]);
    }
    text(&id)
}

/// A scene with one record of each kind, with the number 1 where numbers are ids.
async fn inhabited(backend: Backend) -> Scene {
    let scene = Scene::new(backend).await;
    let id = scene.offer_with_a_file("NF-1").await;
    let unwanted = format!("{}/nao-receber", scene.sandbox.page_of(id));
    let ended = scene.sandbox.suppliers().post(&unwanted).await;
    assert_eq!(ended.status, 200, "{}", ended.text);
    scene
        .play(
            id,
            &["request", "approve", "release", "pay", "bill", "extend"],
        )
        .await;
    scene.make("/invoices", scene.advance_body("NF-1")).await;
    let mut order = scene.advance_body("-");
    order["amount"] = json!(10);
    scene.make("/payment-orders", order).await;
    scene
}

/// Sends bytes to a route, with a content type unless it is empty.
async fn send(scene: &Scene, route: &Route, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let path = filled(scene, route.path).await;
    let method: Method = route.method.parse().unwrap();
    scene
        .platform
        .send(method, &path, headers, Some(body.to_vec()))
        .await
}

/// Checks status, code, and the form of every error.
fn refused(answer: &Answer, status: u16, code: &str, what: &str) {
    assert_eq!(
        answer.refusal(),
        (status, code.to_owned()),
        "{what}: {}",
        answer.text
    );
    assert!(
        answer
            .header("content-type")
            .starts_with("application/json"),
        "{what}"
    );
    assert!(!answer.header("x-request-id").is_empty(), "{what}");
    for error in answer.json()["errors"].as_array().unwrap() {
        let names: Vec<_> = error.as_object().unwrap().keys().collect();
        assert_eq!(names, ["code", "message"], "{what}");
    }
}

fn with_bodies() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.fields().is_some())
}

async fn a_body_that_is_no_object_is_refused_everywhere(backend: Backend) {
    let scene = inhabited(backend).await;
    let before = scene.operation(1).await;
    for route in with_bodies() {
        for body in ["[]", "null", "5", "true", "\"x\"", "[{}]"] {
            let answer = send(&scene, route, &[JSON], body.as_bytes()).await;
            let what = format!("{} {} {body}", route.method, route.path);
            refused(&answer, 400, "VALIDATION_ERROR", &what);
            assert_eq!(answer.fields(), ["body"], "{what}");
        }
    }
    assert_eq!(scene.operation(1).await, before);
}

async fn a_body_that_is_not_plain_json_is_refused_everywhere(backend: Backend) {
    let scene = inhabited(backend).await;
    let before = scene.operation(1).await;
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(100), "]".repeat(100));
    let large = format!("{{\"x\":\"{}\"}}", "a".repeat(TOO_LARGE));
    for route in with_bodies() {
        let what = |case: &str| format!("{} {} {case}", route.method, route.path);
        for body in [
            &b"{"[..],
            b"{\"reason\":\"a\",}",
            b"{\"reason\":\"a\",\"reason\":\"a\"}",
            b"{\"unknown\":1,\"unkno\\u0077n\":2}",
            b"{\"reason\":\"a\x01b\"}",
            b"{\"reason\":\"\xff\"}",
            b"",
            deep.as_bytes(),
        ] {
            if body.is_empty() && route.takes_an_empty_body() {
                continue;
            }
            let answer = send(&scene, route, &[JSON], body).await;
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            refused(&answer, 400, "VALIDATION_ERROR", &what(&shown));
        }
        for headers in [
            &[][..],
            &[("content-type", "text/plain")],
            &[("content-type", "application/vnd.api+json")],
            &[("content-type", "application/json; charset=iso-8859-1")],
            &[JSON, ("content-encoding", "gzip")],
        ] {
            let answer = send(&scene, route, headers, b"{}").await;
            refused(&answer, 400, "BAD_REQUEST", &what(&format!("{headers:?}")));
        }
        let answer = send(&scene, route, &[JSON], large.as_bytes()).await;
        refused(&answer, 413, "PAYLOAD_TOO_LARGE", &what("too large"));
    }
    assert_eq!(scene.operation(1).await, before);
}

/// Invalid values for a field of this kind.
fn wrong(field: &Field) -> Vec<Value> {
    let mut wrong = match field.kind {
        Kind::Text => vec![
            json!(5),
            json!(true),
            json!([]),
            json!({}),
            json!("a\u{0}b"),
        ],
        Kind::Url => vec![json!(5), json!(true), json!([]), json!({})],
        Kind::Amount => vec![json!(true), json!([]), json!({}), json!("1,5"), json!("x")],
        Kind::Whole => vec![
            json!(true),
            json!([]),
            json!({}),
            json!("5"),
            json!(1.5),
            json!(-1),
        ],
        Kind::Bool => vec![json!(0), json!("true"), json!([])],
        Kind::List => vec![json!(5), json!("x"), json!({}), json!([5]), json!(["x"])],
        Kind::Object => vec![json!(5), json!("x"), json!([]), json!([{}])],
    };
    if field.required {
        wrong.push(Value::Null);
    }
    wrong
}

/// The place of a field in a body.
fn pointer(name: &str) -> (String, &str) {
    match name.rsplit_once('.') {
        Some((parent, name)) => (format!("/{parent}"), name),
        None => (String::new(), name),
    }
}

async fn every_field_is_held_to_its_kind(backend: Backend) {
    let scene = inhabited(backend).await;
    let before = scene.operation(1).await;
    for route in with_bodies() {
        let valid = route.valid(&scene).await;
        for field in route.fields().unwrap() {
            let (parent, name) = pointer(field.name);
            let mut bodies = Vec::new();
            for value in wrong(field) {
                let mut body = valid.clone();
                body.pointer_mut(&parent).unwrap()[name] = value;
                bodies.push(body);
            }
            if field.required {
                let mut body = valid.clone();
                let object = body.pointer_mut(&parent).unwrap().as_object_mut().unwrap();
                object.remove(name);
                bodies.push(body);
            }
            for body in bodies {
                let text = body.to_string();
                let answer = send(&scene, route, &[JSON], text.as_bytes()).await;
                let what = format!("{} {} {text}", route.method, route.path);
                refused(&answer, 400, "VALIDATION_ERROR", &what);
                let named = answer.fields();
                assert_eq!(named.len(), 1, "{what}: {named:?}");
                let plain = named[0].split('[').next().unwrap();
                assert_eq!(plain, field.name, "{what}");
            }
        }
    }
    assert_eq!(scene.operation(1).await, before);
}

async fn unknown_fields_and_unexpected_bodies_are_ignored(backend: Backend) {
    let scene = inhabited(backend).await;
    for route in ROUTES {
        let body = match &route.takes {
            Takes::Body(_) | Takes::MaybeBody(_) => {
                let mut body = route.valid(&scene).await;
                body["unknown"] = json!({"deep": ["\u{0}", null, 1e300]});
                body.to_string()
            }
            // A DELETE would remove the record for the routes after it.
            Takes::Nothing if route.method == "DELETE" => continue,
            Takes::Nothing | Takes::Pages => "[{\"what\": ".to_owned(),
        };
        let answer = send(&scene, route, &[JSON], body.as_bytes()).await;
        let is_read = answer.status < 300 || answer.status == 409;
        assert!(is_read, "{} {}: {}", route.method, route.path, answer.text);
    }
}

// Contract: error-code-of-ours/RESOURCE_NOT_FOUND
async fn a_malformed_or_unknown_id_is_not_found(backend: Backend) {
    let scene = inhabited(backend).await;
    let unknown = "018f2f3a-0000-7000-8000-000000000001";
    let huge = "9".repeat(400);
    let no_numbers = [
        "abc", "1%00", "%2B1", "1.0", "NaN", "%7Bid%7D", "1%2F2", "%20", "1'--", unknown,
    ];
    let no_records = [
        "0",
        "-1",
        "999",
        "9223372036854775807",
        "9223372036854775808",
        huge.as_str(),
    ];
    let no_uuids = [
        "1",
        "abc",
        "%00",
        "%7Bid%7D",
        "018f2f3a000070008000000000000001",
        unknown,
    ];
    for route in ROUTES.iter().filter(|route| route.path.contains("{id}")) {
        let method: Method = route.method.parse().unwrap();
        let cnpj = scene.sandbox.text("blockedSupplierCnpj");
        let valid = route.valid(&scene).await.to_string().into_bytes();
        let ask = async |id: &str| {
            let path = route.path.replace("{id}", id).replace("{cnpj}", cnpj);
            let path = format!("{PREFIX}{path}");
            let (headers, body): (&[_], _) = match route.fields() {
                Some(_) => (&[JSON], Some(valid.clone())),
                None => (&[], None),
            };
            scene
                .platform
                .send(method.clone(), &path, headers, body)
                .await
        };
        let missing = if route.path.starts_with("/operations/") {
            "ANTICIPATION_NOT_FOUND"
        } else {
            "RESOURCE_NOT_FOUND"
        };
        let what = |id: &str| format!("{} {} {id}", route.method, route.path);
        if route.is_numbered() {
            for id in no_numbers {
                refused(&ask(id).await, 400, "VALIDATION_ERROR", &what(id));
            }
            for id in no_records {
                refused(&ask(id).await, 404, missing, &what(id));
            }
        } else {
            for id in no_uuids {
                refused(&ask(id).await, 404, missing, &what(id));
            }
        }
    }
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        for cnpj in ["11222333000180", "abc", "%00", "99999999999999999999"] {
            let path = format!("/companies/{}/blocked-suppliers/{cnpj}", scene.company);
            let answer = scene.send(method.clone(), &path, None).await;
            refused(&answer, 400, "VALIDATION_ERROR", cnpj);
        }
    }
}

async fn pages_are_held_to_their_bounds(backend: Backend) {
    let scene = inhabited(backend).await;
    for route in ROUTES
        .iter()
        .filter(|route| matches!(route.takes, Takes::Pages))
    {
        let path = filled(&scene, route.path).await;
        for (query, fields) in [
            ("page=0", &["page"][..]),
            ("page=-1", &["page"]),
            ("page=1.5", &["page"]),
            ("page=", &["page"]),
            ("page=9223372036854775808", &["page"]),
            ("page=1&page=2", &["page"]),
            ("limit=0", &["limit"]),
            ("limit=101", &["limit"]),
            ("limit=%FF&page=x", &["page", "limit"]),
        ] {
            let answer = scene.platform.get(&format!("{path}?{query}")).await;
            refused(&answer, 400, "VALIDATION_ERROR", &format!("{path}?{query}"));
            assert_eq!(answer.fields(), fields, "{path}?{query}");
        }
        let far = scene
            .platform
            .get(&format!("{path}?page=1000000&unknown=1"))
            .await;
        assert_eq!(far.status, 200, "{path}: {}", far.text);
        assert_eq!(far.json()["data"], json!([]), "{path}");
        assert_eq!(far.json()["pagination"]["page"], 1_000_000, "{path}");
    }
}

async fn unknown_paths_and_wrong_methods_have_different_errors(backend: Backend) {
    let scene = inhabited(backend).await;
    for path in [
        "",
        "/",
        "/nowhere",
        "/companies/",
        "/Companies",
        "/operations/1/approve/",
    ] {
        let answer = scene.platform.get(&format!("{PREFIX}{path}")).await;
        refused(&answer, 404, "NOT_FOUND", path);
        assert_eq!(
            answer.text.contains("há uma barra a mais"),
            path.ends_with('/'),
            "{path}: {}",
            answer.text
        );
    }
    for (path, hint) in [
        (
            "/companies",
            "os endereços dela começam com /api/platform/v1.",
        ),
        (
            PRE_AUTHORIZATIONS,
            "/api/integration/v1 é da API de integração, no listener público.",
        ),
    ] {
        let answer = scene.platform.get(path).await;
        refused(&answer, 404, "NOT_FOUND", path);
        assert!(answer.text.contains(hint), "{path}: {}", answer.text);
    }
    let paths: BTreeSet<_> = ROUTES.iter().map(|route| route.path).collect();
    for path in paths {
        let of_path = ROUTES.iter().filter(|route| route.path == path);
        let mut allowed: BTreeSet<_> = of_path.map(|route| route.method).collect();
        if allowed.contains("GET") {
            allowed.insert("HEAD");
        }
        let target = filled(&scene, path).await;
        let asked = [
            "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY",
        ];
        for method in asked.into_iter().filter(|method| !allowed.contains(method)) {
            let answer = scene
                .platform
                .send(method.parse().unwrap(), &target, &[], None)
                .await;
            refused(
                &answer,
                405,
                "METHOD_NOT_ALLOWED",
                &format!("{method} {path}"),
            );
            let listed: BTreeSet<_> = answer.header("allow").split(", ").collect();
            assert_eq!(listed, allowed, "{method} {path}");
        }
    }
}

async fn a_body_that_may_be_absent_may_be_empty_beside_its_type(backend: Backend) {
    let scene = Scene::new(backend).await;
    let id = scene.offer("NF-1").await;
    let act = async |action: &str| {
        let path = format!("{PREFIX}/operations/{id}/{action}");
        scene.platform.post_text(&path, &[], String::new()).await
    };
    for (action, status) in [("request", "TO_APPROVE"), ("approve", "IN_ANALYSIS")] {
        let done = act(action).await;
        assert_eq!(done.status, 200, "{action}: {}", done.text);
        assert_eq!(done.json()["status"], status, "{action}");
    }
    let without_amount = act("release").await;
    refused(&without_amount, 400, "VALIDATION_ERROR", "release");
    assert_eq!(without_amount.fields(), ["netAmount"]);
    let again = act("approve").await;
    refused(&again, 409, "ANTICIPATION_INVALID_TRANSITION", "approve");
    assert!(
        again.text.contains("situação atual: IN_ANALYSIS"),
        "{}",
        again.text
    );
}
