//! Idempotency keys of the platform API: one key, one record, one answer.

use std::collections::BTreeSet;
use std::time::Duration;

use preauth_core::value::Cnpj;
use preauth_core::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::DESCRIPTION;
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, RawCaller, Sandbox, TestReceiver, on_each_database};

use crate::scene::{Scene, extension_body, text};

on_each_database! {
    every_create_is_done_once_under_its_key,
    a_key_answers_one_request_only,
    a_test_event_is_sent_once_under_its_key,
    a_repeated_api_key_is_answered_without_its_clear_text,
    a_refused_create_is_not_remembered,
    a_platform_key_that_is_none_is_refused,
    a_platform_key_is_forgotten_after_a_month,
    of_a_hundred_equal_creates_one_is_done,
    a_create_that_was_cut_off_is_settled_by_its_key,
}

const REPLAYED: &str = "idempotency-replayed";
const CONFLICT: u16 = 409;

/// The route of test events, which alone creates no record of its own.
const TEST: &str = "/companies/{id}/webhook-endpoint/test";

/// A create: its route, path and body.
struct Create {
    /// As the description has it, under the prefix.
    route: &'static str,
    path: String,
    body: Value,
}

/// One create of each kind.
async fn creates(scene: &Scene) -> Vec<Create> {
    creates_of_round(scene, 0).await
}

/// The same, of other records in every round.
async fn creates_of_round(scene: &Scene, round: usize) -> Vec<Create> {
    let company = &scene.company;
    let user = |name: &str| {
        json!({
            "name": "Eva",
            "email": format!("{name}{round}@construtora.example.com"),
            "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"],
        })
    };
    let users = format!("/companies/{company}/users");
    let responsible = scene.make(&users, user("eva")).await;
    let mut order = scene.advance_body("-");
    order["amount"] = json!(900.5);
    let billed = billed(scene, round).await.to_string();
    let create = |route: &'static str, id: &str, body| Create {
        route,
        path: route.replace("{id}", id),
        body,
    };
    vec![
        create(
            "/companies",
            "",
            json!({"cnpj": cnpj(round), "name": "Nova", "kind": "SUPPLIER"}),
        ),
        create("/companies/{id}/users", company, user("bia")),
        create(
            "/companies/{id}/api-keys",
            company,
            json!({
                "name": "ERP",
                "responsibleUserId": responsible["id"],
                "scopes": ["preauth:read"],
            }),
        ),
        create(
            "/operations",
            "",
            scene.advance_body(&format!("NF-1-{round}")),
        ),
        create(
            "/invoices",
            "",
            scene.advance_body(&format!("NF-2-{round}")),
        ),
        create("/payment-orders", "", order),
        create("/operations/{id}/extensions", &billed, extension_body()),
    ]
}

/// One create of each kind, an operator and a test event: every request that takes a key.
async fn keyed(scene: &Scene, round: usize) -> Vec<Create> {
    let mut all = creates_of_round(scene, round).await;
    all.push(Create {
        route: "/operators",
        path: "/operators".to_owned(),
        body: json!({"name": format!("Ana {round}"), "role": "VIEWER"}),
    });
    all.push(Create {
        route: TEST,
        path: TEST.replace("{id}", &scene.company),
        body: json!({}),
    });
    let routes: BTreeSet<_> = all.iter().map(|it| it.route.to_owned()).collect();
    assert_eq!(routes, described(scene).await, "the routes that take a key");
    all
}

/// The routes that take a key by the server's own description.
async fn described(scene: &Scene) -> BTreeSet<String> {
    let description = scene.platform.get(DESCRIPTION).await.json();
    let paths = description["paths"].as_object().unwrap().iter();
    let keyed = paths.filter(|(_, of_path)| {
        let parameters = of_path["post"]["parameters"].as_array();
        parameters.is_some_and(|all| all.iter().any(|it| it["name"] == "Idempotency-Key"))
    });
    let routes = keyed.map(|(path, _)| path.strip_prefix(PREFIX).unwrap().to_owned());
    routes.collect()
}

/// A tax id that nobody has.
fn cnpj(round: usize) -> String {
    let spelled = |check| format!("{:012}{check:02}", 200_000_000_000 + round);
    let mut all = (0..100).map(spelled);
    all.find(|it| Cnpj::parse(it).is_ok()).unwrap()
}

/// Creates an operation and advances it until its boleto is issued.
async fn billed(scene: &Scene, round: usize) -> i64 {
    let id = scene.advance(&format!("NF-BILLED-{round}")).await;
    scene
        .play(id, &["verify", "approve", "release", "pay", "bill"])
        .await;
    id
}

async fn every_create_is_done_once_under_its_key(backend: Backend) {
    let scene = Scene::new(backend).await;
    for (number, Create { path, body, .. }) in creates(&scene).await.into_iter().enumerate() {
        let key = format!("create-{number:04}");
        let before = total(&scene, &path).await;
        let first = send(&scene.platform, &path, &key, &body.to_string()).await;
        assert_eq!(
            (first.status, first.header(REPLAYED)),
            (201, ""),
            "{path}: {}",
            first.text
        );
        // The same request in another notation is a replay.
        let spelled = body.to_string().replace(',', " , ");
        let again = send(&scene.platform, &path, &key, &spelled).await;
        assert_eq!(
            (again.status, again.header(REPLAYED)),
            (201, "true"),
            "{path}: {}",
            again.text
        );
        if !path.ends_with("/api-keys") {
            assert_eq!(again.text, first.text, "{path}");
        }
        assert_eq!(total(&scene, &path).await, before + 1, "{path}");
    }
}

async fn a_key_answers_one_request_only(backend: Backend) {
    let scene = Scene::new(backend).await;
    let key = "pedido-0001";
    let creates = creates(&scene).await;
    let mut used = None;
    for Create { path, mut body, .. } in creates {
        let before = total(&scene, &path).await;
        let answer = send(&scene.platform, &path, key, &body.to_string()).await;
        if used.is_none() {
            assert_eq!(answer.status, 201, "{path}: {}", answer.text);
            used = Some(path.clone());
            body["name"] = json!("Outra");
            let other = send(&scene.platform, &path, key, &body.to_string()).await;
            reused(&other, &path);
            continue;
        }
        reused(&answer, &path);
        assert_eq!(total(&scene, &path).await, before, "{path}");
    }
    // An ERP's key with the same text is another key.
    let offer = test_support::offer_body(&scene.sandbox, "NF-9");
    let offered = scene
        .sandbox
        .caller("apiKey")
        .post_text(
            PRE_AUTHORIZATIONS,
            &[("idempotency-key", key)],
            offer.to_string(),
        )
        .await;
    assert_eq!((offered.status, offered.header(REPLAYED)), (201, ""));
}

fn reused(answer: &Answer, path: &str) {
    let expected = (CONFLICT, "IDEMPOTENCY_KEY_REUSED".to_owned());
    assert_eq!(answer.refusal(), expected, "{path}");
    assert_eq!(
        answer.header("retry-after"),
        "",
        "it must never be sent again"
    );
}

async fn a_test_event_is_sent_once_under_its_key(backend: Backend) {
    let scene = Scene::new(backend).await;
    let of_company = |kind: &str| format!("/companies/{}/{kind}", scene.company);
    let endpoint = of_company("webhook-endpoint");
    let test = format!("{endpoint}/test");
    // The body is ignored, as without a key.
    let first = send(&scene.platform, &test, "teste-0001", "{").await;
    assert_eq!((first.status, first.header(REPLAYED)), (200, ""));
    let events = scene.events(1).await;
    assert_eq!(events[0]["type"], "webhook.test");
    let again = send(&scene.platform, &test, "teste-0001", "").await;
    assert_eq!((again.status, again.header(REPLAYED)), (200, "true"));
    assert_eq!(again.text, first.text, "as it was queued");
    let queued = first.json();
    assert_eq!(queued["status"], "PENDING");
    assert_eq!(queued["eventId"], events[0]["id"]);
    let shown = scene
        .get(&format!("/deliveries/{}", text(&queued["id"])))
        .await;
    for field in ["id", "eventId", "eventType", "createdAt", "body"] {
        assert_eq!(shown[field], queued[field], "{field}");
    }
    assert_eq!(total(&scene, &of_company("deliveries")).await, 1);
    let paused = scene.post(&format!("{endpoint}/pause"), json!({})).await;
    assert_eq!(paused.status, 200, "{}", paused.text);
    let kept = send(&scene.platform, &test, "teste-0002", "").await.json();
    let shown = scene
        .get(&format!("/deliveries/{}", text(&kept["id"])))
        .await;
    assert_eq!(shown, kept, "one that waits is shown as it was queued");
}

async fn a_repeated_api_key_is_answered_without_its_clear_text(backend: Backend) {
    let scene = Scene::new(backend).await;
    let api_key = &creates(&scene).await[2];
    let body = api_key.body.to_string();
    let first = send(&scene.platform, &api_key.path, "chave-0001", &body).await;
    let mut shown = first.json();
    let clear_text = text(&shown["key"]);
    let again = send(&scene.platform, &api_key.path, "chave-0001", &body).await;
    assert_eq!((again.status, again.header(REPLAYED)), (201, "true"));
    assert!(!again.text.contains(&clear_text));
    shown.as_object_mut().unwrap().remove("key");
    assert_eq!(again.json(), shown);
    // The replay contains the key that the first answer showed; no other answer has it.
    let erp = RawCaller::new(scene.sandbox.text("baseUrl"), Some(&clear_text));
    assert_eq!(erp.get(PRE_AUTHORIZATIONS).await.status, 200);
}

async fn a_refused_create_is_not_remembered(backend: Backend) {
    let scene = Scene::new(backend).await;
    let taken = json!({
        "cnpj": scene.sandbox.text("supplierCnpj"), "name": "Nova", "kind": "SUPPLIER",
    })
    .to_string();
    for _ in 0..2 {
        let refused = send(&scene.platform, "/companies", "pedido-0002", &taken);
        let refused = refused.await;
        assert_eq!(refused.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
    }
    let free = json!({"cnpj": "45723001000100", "name": "Nova", "kind": "SUPPLIER"}).to_string();
    let made = send(&scene.platform, "/companies", "pedido-0002", &free);
    assert_eq!(made.await.status, 201);
}

async fn a_platform_key_that_is_none_is_refused(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (long, longest) = ("k".repeat(101), "k".repeat(100));
    for Create { path, body, .. } in creates(&scene).await {
        for key in ["", "1234567", long.as_str(), "com espaço", "a/b/c/d/e"] {
            let refused = send(&scene.platform, &path, key, &body.to_string()).await;
            let expected = (400, "IDEMPOTENCY_KEY_INVALID".to_owned());
            assert_eq!(refused.refusal(), expected, "{path} {key:?}");
        }
        let twice = [
            ("content-type", "application/json"),
            ("idempotency-key", "pedido-0003"),
            ("idempotency-key", "pedido-0003"),
        ];
        let twice = scene
            .platform
            .send(
                Method::POST,
                &format!("{PREFIX}{path}"),
                &twice,
                Some(body.to_string().into_bytes()),
            )
            .await;
        assert_eq!(
            twice.refusal(),
            (400, "IDEMPOTENCY_KEY_INVALID".to_owned()),
            "{path}"
        );
    }
    let free = json!({"cnpj": "45723001000100", "name": "Nova", "kind": "SUPPLIER"}).to_string();
    let made = send(&scene.platform, "/companies", &longest, &free);
    assert_eq!(made.await.status, 201);
}

async fn a_platform_key_is_forgotten_after_a_month(backend: Backend) {
    let scene = Scene::new(backend).await;
    let body = scene.advance_body("NF-1").to_string();
    let post = || send(&scene.platform, "/invoices", "fatura-0001", &body);
    let first = post().await;
    assert_eq!(first.status, 201, "{}", first.text);
    let pass = |seconds: u32| scene.post("/sandbox/clock", json!({"advanceSeconds": seconds}));
    let day = 24 * 60 * 60;
    assert_eq!(pass(29 * day).await.status, 200);
    let replayed = post().await;
    assert_eq!(replayed.header(REPLAYED), "true");
    assert_eq!(replayed.text, first.text);
    assert_eq!(pass(2 * day).await.status, 200);
    let anew = post().await;
    assert_eq!((anew.status, anew.header(REPLAYED)), (201, ""));
    assert_ne!(anew.json()["id"], first.json()["id"]);
}

async fn of_a_hundred_equal_creates_one_is_done(backend: Backend) {
    let scene = Scene::new(backend).await;
    for Create { path, body, .. } in creates(&scene).await {
        let before = total(&scene, &path).await;
        let key = format!("race{}", path.replace('/', "-"));
        let body = body.to_string();
        let sent = (0..100).map(|_| send(&scene.platform, &path, &key, &body));
        let answers = futures_util::future::join_all(sent).await;
        let mut made = 0;
        for answer in answers {
            match (answer.status, answer.header(REPLAYED)) {
                (201, "") => made += 1,
                (201, "true") => {}
                (CONFLICT, _) => assert_eq!(answer.code(), "IDEMPOTENCY_IN_PROGRESS", "{path}"),
                _ => panic!("{path}: {} {}", answer.status, answer.text),
            }
        }
        assert_eq!(made, 1, "{path}");
        assert_eq!(total(&scene, &path).await, before + 1, "{path}");
    }
}

/// The server is killed during or just after creates, one of each kind; repeated under the same key, each
/// has one record.
async fn a_create_that_was_cut_off_is_settled_by_its_key(backend: Backend) {
    const ROUNDS: usize = 5;
    let mut scene = Scene::new(backend).await;
    for round in 0..ROUNDS {
        let creates = keyed(&scene, round).await;
        let mut cut_off = Vec::new();
        for create in creates {
            let before = made(&scene, &create).await;
            let key = format!("queda-{round}{}", create.path.replace('/', "-"));
            let (caller, path) = (scene.sandbox.platform(), create.path.clone());
            let (sent_key, body) = (key.clone(), create.body.to_string());
            let sent =
                tokio::spawn(async move { try_send(&caller, &path, &sent_key, &body).await });
            cut_off.push((create, key, before, sent));
        }
        tokio::time::sleep(Duration::from_millis(5 * u64::try_from(round).unwrap())).await;
        let home = scene.sandbox.kill();
        let receiver = TestReceiver::start().await;
        let sandbox = Sandbox::start_in(home, &["--rate-limit", "1000000"]).await;
        scene = Scene::of(sandbox, receiver).await;
        for (create, key, before, sent) in cut_off {
            let Create { route, path, body } = &create;
            let again = send(&scene.platform, path, &key, &body.to_string()).await;
            assert_eq!(again.status, status(route), "{route}: {}", again.text);
            if let Some(answered) = sent.await.unwrap() {
                assert_eq!(again.json()["id"], answered.json()["id"], "{route}");
                assert_eq!(again.header(REPLAYED), "true", "{route}");
            }
            assert_eq!(made(&scene, &create).await, before + 1, "{route}");
        }
    }
}

/// The status of a successful answer.
fn status(route: &str) -> u16 {
    if route == TEST { 200 } else { 201 }
}

/// The number of records that requests to this route have made.
async fn made(scene: &Scene, create: &Create) -> i64 {
    if create.route == TEST {
        let tests = format!(
            "/companies/{}/deliveries?eventType=webhook.test",
            scene.company
        );
        return total(scene, &tests).await;
    }
    total(scene, &create.path).await
}

/// POST under the prefix with an idempotency key.
async fn send(caller: &RawCaller, path: &str, key: &str, body: &str) -> Answer {
    let sent = try_send(caller, path, key, body).await;
    sent.expect("the server answers")
}

/// The same; `None` when the connection closes before the answer.
async fn try_send(caller: &RawCaller, path: &str, key: &str, body: &str) -> Option<Answer> {
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", key),
    ];
    let path = format!("{PREFIX}{path}");
    let body = Some(body.to_owned().into_bytes());
    let sent = caller.try_send(Method::POST, &path, &headers, body);
    sent.await.ok()
}

/// The number of records in the list at a path.
async fn total(scene: &Scene, path: &str) -> i64 {
    let listed = scene.get(path).await;
    listed["pagination"]["total"].as_i64().unwrap()
}
