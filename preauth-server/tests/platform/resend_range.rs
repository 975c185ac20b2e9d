//! A receiver that lost its database gets the deliveries of a range of time once more.

use std::collections::HashMap;

use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, on_each_database, travel::advance};

use crate::audit_log::execute;
use crate::scene::{Scene, text};

on_each_database! {
    a_receiver_that_lost_everything_gets_each_event_once_more,
    time_type_and_status_select,
    what_waits_for_a_paused_endpoint_is_queued_once,
    deliveries_of_a_removed_endpoint_are_left_out_and_counted,
    a_malformed_request_changes_nothing,
    a_long_range_is_walked_in_several_requests,
    requests_beside_each_other_and_the_dispatcher_resend_each_delivery_once,
    a_removal_beside_a_resend_ends_only_what_that_had_queued,
}

const LONG_AGO: &str = "2020-01-01T00:00:00Z";
/// Deliveries that one request walks over.
const WALKED: u32 = 20_000;

async fn ask(scene: &Scene, rest: &str, body: Value) -> Answer {
    let path = format!("/companies/{}/deliveries/resend-range{rest}", scene.company);
    scene.post(&path, body).await
}

/// Queues, and returns the answer.
async fn resend(scene: &Scene, body: Value) -> Value {
    let answer = ask(scene, "", body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

async fn count(scene: &Scene, body: Value) -> Value {
    let is_first = body["after"].is_null();
    let answer = ask(scene, "/count", body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let mut counted = answer.json();
    assert_eq!(counted["first"].take().is_string(), is_first, "{counted}");
    counted
}

fn found(count: usize, paused: usize, endpoint_removed: usize) -> Value {
    json!({"count": count, "paused": paused, "endpointRemoved": endpoint_removed, "next": null, "first": null})
}

/// The company's deliveries of offers and their steps, newest first.
async fn deliveries(scene: &Scene) -> Vec<Value> {
    let path = format!("/companies/{}/deliveries?limit=100", scene.company);
    scene.get(&path).await["data"].as_array().unwrap().clone()
}

fn attempts(deliveries: &[Value]) -> usize {
    let of = |it: &Value| it["attempts"].as_array().unwrap().len();
    deliveries.iter().map(of).sum()
}

/// Waits until everything is delivered, by so many attempts.
async fn delivered(scene: &Scene, expected: usize) -> Vec<Value> {
    scene.receiver.requests(expected).await;
    let wait = async {
        loop {
            let all = deliveries(scene).await;
            let is_done = all.iter().all(|it| it["status"] == "DELIVERED");
            if is_done && attempts(&all) >= expected {
                return all;
            }
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_mins(1), wait).await;
    let all = waited.unwrap_or_else(|_| panic!("{expected} attempts are not made"));
    assert_eq!(attempts(&all), expected, "{all:#?}");
    all
}

/// Five events of two operations, which have arrived.
async fn five_arrived(scene: &Scene) -> Vec<Value> {
    let id = scene.offer("NF-1").await;
    scene.play(id, &["request", "approve"]).await;
    scene.advance("NF-2").await;
    let other = scene.offer("NF-3").await;
    scene.play(other, &["decline"]).await;
    let known = delivered_all(scene).await;
    assert!(known.len() >= 5, "{known:#?}");
    known
}

/// Waits until whatever was recorded is delivered.
async fn delivered_all(scene: &Scene) -> Vec<Value> {
    let recorded = deliveries(scene).await.len();
    delivered(scene, recorded).await
}

async fn a_receiver_that_lost_everything_gets_each_event_once_more(backend: Backend) {
    let scene = Scene::new(backend).await;
    let known = five_arrived(&scene).await;
    let all = known.len();
    let before = scene.receiver.requests(all).await;
    let request = json!({"since": LONG_AGO, "statuses": ["DELIVERED"]});
    assert_eq!(count(&scene, request.clone()).await, found(all, 0, 0));
    assert_eq!(deliveries(&scene).await, known, "a count changes nothing");
    let log = scene.get("/audit-log?limit=1").await;
    assert_ne!(log["data"][0]["action"], "countResendableDeliveries");
    for round in 2..=3 {
        // A second run sends what the first one delivered: the receiver may have lost that, too.
        assert_eq!(resend(&scene, request.clone()).await, found(all, 0, 0));
        let again = delivered(&scene, round * all).await;
        for delivery in &again {
            let made = delivery["attempts"].as_array().unwrap();
            let last = made.last().unwrap();
            assert_eq!((made.len(), &last["trigger"]), (round, &json!("RESEND")));
        }
    }
    let mut bodies: HashMap<String, Vec<Vec<u8>>> = HashMap::new();
    let arrived = scene.receiver.requests(3 * all).await;
    assert_eq!(arrived.len(), 3 * all);
    for request in arrived {
        let event: Value = serde_json::from_slice(&request.body).unwrap();
        let of_event = bodies.entry(text(&event["id"])).or_default();
        of_event.push(request.body);
    }
    assert_eq!(bodies.len(), all);
    for (event, sent) in &bodies {
        assert_eq!(sent.len(), 3, "{event}");
        assert!(sent.iter().all(|body| *body == sent[0]), "{event}");
    }
    assert_eq!(before.len(), all);
    scene.events(3 * all).await;
    let log = scene.get("/audit-log?limit=1").await;
    let row = &log["data"][0];
    assert_eq!(row["action"], "resendDeliveries");
    assert_eq!(row["companyId"], json!(scene.company));
    assert_eq!(row["record"], format!("companies/{}", scene.company));
}

async fn time_type_and_status_select(backend: Backend) {
    let scene = Scene::new(backend).await;
    for number in ["NF-1", "NF-2", "NF-3"] {
        scene.offer(number).await;
        advance(&scene.sandbox, 60).await;
    }
    let declined = scene.offer("NF-4").await;
    scene.play(declined, &["decline"]).await;
    let all = delivered_all(&scene).await;
    let at = |nth: usize| all[nth]["createdAt"].clone();
    assert_eq!(all.len(), 5, "{all:#?}");
    let oldest = 4;
    let failed = text(&all[oldest]["id"]);
    let fail = |id: &str| {
        format!(
            "UPDATE deliveries SET status = 'FAILED'
             WHERE id = {id} AND status = 'DELIVERED'"
        )
    };
    let hex = failed.replace('-', "");
    execute(
        &scene,
        fail(&format!("'{failed}'")),
        fail(&format!("x'{hex}'")),
    )
    .await;
    let of_type = json!(["pre_authorization.created"]);
    for (request, expected) in [
        (json!({"since": LONG_AGO}), 5),
        (
            json!({"since": LONG_AGO, "until": null, "eventTypes": null, "statuses": null}),
            5,
        ),
        (json!({"since": LONG_AGO, "statuses": ["FAILED"]}), 1),
        (json!({"since": LONG_AGO, "statuses": ["DELIVERED"]}), 4),
        (
            json!({"since": LONG_AGO, "statuses": ["FAILED", "DELIVERED"]}),
            5,
        ),
        (json!({"since": LONG_AGO, "eventTypes": of_type}), 4),
        (
            json!({"since": LONG_AGO, "eventTypes": of_type, "statuses": ["DELIVERED"]}),
            3,
        ),
        (
            json!({"since": LONG_AGO, "eventTypes": ["anticipation.paid"]}),
            0,
        ),
        // The first moment belongs to the range, the last one does not.
        (json!({"since": at(oldest), "until": at(oldest)}), 0),
        (json!({"since": at(3), "until": at(2)}), 1),
        (json!({"since": at(oldest), "until": at(2)}), 2),
        (json!({"since": at(3), "eventTypes": of_type}), 3),
    ] {
        assert_eq!(
            count(&scene, request.clone()).await,
            found(expected, 0, 0),
            "{request}"
        );
    }
    let one = json!({"since": LONG_AGO, "statuses": ["FAILED"]});
    assert_eq!(resend(&scene, one).await, found(1, 0, 0));
    let sent = delivered(&scene, all.len() + 1).await;
    let again = sent.iter().find(|it| it["id"] == json!(failed)).unwrap();
    assert_eq!(again["attempts"].as_array().unwrap().len(), 2);
}

async fn what_waits_for_a_paused_endpoint_is_queued_once(backend: Backend) {
    let scene = Scene::new(backend).await;
    let all = five_arrived(&scene).await.len();
    let endpoint = format!("/companies/{}/webhook-endpoint", scene.company);
    scene.post(&format!("{endpoint}/pause"), json!({})).await;
    let request = json!({"since": LONG_AGO});
    assert_eq!(count(&scene, request.clone()).await, found(all, all, 0));
    assert_eq!(resend(&scene, request.clone()).await, found(all, all, 0));
    for _ in 0..2 {
        // What waits is left as it is.
        assert_eq!(count(&scene, request.clone()).await, found(0, 0, 0));
        assert_eq!(resend(&scene, request.clone()).await, found(0, 0, 0));
    }
    let waiting = deliveries(&scene).await;
    assert!(waiting.iter().all(|it| it["status"] == "PAUSED"));
    assert_eq!(attempts(&waiting), all);
    scene.post(&format!("{endpoint}/resume"), json!({})).await;
    delivered(&scene, 2 * all).await;
}

async fn deliveries_of_a_removed_endpoint_are_left_out_and_counted(backend: Backend) {
    let scene = Scene::new(backend).await;
    let all = five_arrived(&scene).await.len();
    let endpoint = format!("/companies/{}/webhook-endpoint", scene.company);
    let removed = scene.send(Method::DELETE, &endpoint, None).await;
    assert_eq!(removed.status, 204, "{}", removed.text);
    let request = json!({"since": LONG_AGO});
    assert_eq!(count(&scene, request.clone()).await, found(0, 0, all));
    assert_eq!(resend(&scene, request.clone()).await, found(0, 0, all));
    scene.register(&scene.company, &scene.receiver.url()).await;
    scene.offer("NF-9").await;
    delivered(&scene, all + 1).await;
    assert_eq!(resend(&scene, request).await, found(1, 0, all));
    delivered(&scene, all + 2).await;
}

/// Requests with the fields that are wrong.
fn malformed() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (json!({}), &["since"][..]),
        (json!({"since": "2026-11-21"}), &["since"][..]),
        (
            json!({"since": "2026-11-21T12:00:00-03:00"}),
            &["since"][..],
        ),
        (
            json!({"since": LONG_AGO, "until": "2019-12-31T23:59:59Z"}),
            &["since"][..],
        ),
        (json!({"since": "2999-01-01T00:00:00Z"}), &["since"][..]),
        (
            json!({"since": LONG_AGO, "until": "tomorrow"}),
            &["until"][..],
        ),
        (
            json!({"since": LONG_AGO, "eventTypes": []}),
            &["eventTypes"][..],
        ),
        (
            json!({"since": LONG_AGO, "eventTypes": ["anticipation.lost"]}),
            &["eventTypes[0]"][..],
        ),
        (
            json!({"since": LONG_AGO, "statuses": []}),
            &["statuses"][..],
        ),
        (
            json!({"since": LONG_AGO, "statuses": ["DELIVERED", "PENDING"]}),
            &["statuses[1]"][..],
        ),
        (
            json!({"since": LONG_AGO, "statuses": "DELIVERED"}),
            &["statuses"][..],
        ),
        (json!({"since": LONG_AGO, "after": ""}), &["after"][..]),
        (json!({"since": LONG_AGO, "after": "AAAA"}), &["after"][..]),
        (
            json!({"since": LONG_AGO, "after": "x".repeat(66)}),
            &["after"][..],
        ),
        (
            json!({"statuses": ["PAUSED"], "until": 5}),
            &["since", "until", "statuses[0]"][..],
        ),
    ]
}

async fn a_malformed_request_changes_nothing(backend: Backend) {
    let scene = Scene::new(backend).await;
    let known = five_arrived(&scene).await;
    for (request, fields) in malformed() {
        for rest in ["", "/count"] {
            let refused = ask(&scene, rest, request.clone()).await;
            let what = format!("{rest} {request}: {}", refused.text);
            assert_eq!(
                refused.refusal(),
                (400, "VALIDATION_ERROR".to_owned()),
                "{what}"
            );
            assert_eq!(refused.fields(), fields, "{what}");
        }
    }
    let branch = scene.company_of("branchCnpj").await;
    let nobody = "018f2f3a-0000-7000-8000-000000000001";
    for (company, status, code) in [
        (branch.as_str(), 409, "RESOURCE_CONFLICT"),
        (nobody, 404, "RESOURCE_NOT_FOUND"),
    ] {
        let path = format!("/companies/{company}/deliveries/resend-range");
        for path in [path.clone(), format!("{path}/count")] {
            let refused = scene.post(&path, json!({"since": LONG_AGO})).await;
            assert_eq!(refused.refusal(), (status, code.to_owned()), "{path}");
        }
    }
    // Another company has none.
    let supplier = scene.company_of("supplierCnpj").await;
    let path = format!("/companies/{supplier}/deliveries/resend-range");
    let none = scene.post(&path, json!({"since": LONG_AGO})).await;
    assert_eq!(none.json(), found(0, 0, 0));
    assert_eq!(deliveries(&scene).await, known);
}

/// Adds deliveries of another type beside those of a company, at one moment after its first one.
async fn add_many(scene: &Scene, rows: u32) {
    let columns =
        "INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
             attempts_made, created_at, ended_at)";
    let first = "FROM (SELECT * FROM deliveries ORDER BY created_at, id LIMIT 1) d";
    let values = "d.head_office_id, d.endpoint_id";
    let rest = "'webhook.test', 'DELIVERED', 1, d.created_at + 1, d.ended_at";
    let postgres = format!(
        "{columns} SELECT gen_random_uuid(), {values}, gen_random_uuid(), {rest}
         {first} CROSS JOIN generate_series(1, {rows})"
    );
    let sqlite = format!(
        "PRAGMA foreign_keys = OFF;
         {columns} SELECT randomblob(16), {values}, randomblob(16), {rest}
         {first} CROSS JOIN (WITH RECURSIVE n (n) AS
             (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows}) SELECT n FROM n)"
    );
    execute(scene, postgres, sqlite).await;
}

async fn a_long_range_is_walked_in_several_requests(backend: Backend) {
    let scene = Scene::new(backend).await;
    scene.offer("NF-1").await;
    delivered(&scene, 1).await;
    advance(&scene.sandbox, 60).await;
    scene.offer("NF-2").await;
    delivered(&scene, 2).await;
    add_many(&scene, WALKED).await;
    let request = json!({"since": LONG_AGO, "eventTypes": ["pre_authorization.created"]});
    let with = |name: &str, value: &Value| {
        let mut request = request.clone();
        request[name] = value.clone();
        request
    };
    // A count is walked, too.
    let counted = count(&scene, request.clone()).await;
    assert_eq!(counted["count"], 1);
    let rest = count(&scene, with("after", &counted["next"])).await;
    assert_eq!(rest, found(1, 0, 0));
    let first = resend(&scene, request.clone()).await;
    assert_eq!(first["count"], 1);
    let next = &first["next"];
    scene.receiver.requests(3).await;
    let go_on = with("after", next);
    a_cursor_is_refused_elsewhere(&scene, &go_on).await;
    // The answer to the second request is lost, so that it is repeated, also once what it queued has arrived.
    assert_eq!(resend(&scene, go_on.clone()).await, found(1, 0, 0));
    assert_eq!(resend(&scene, go_on.clone()).await, found(0, 0, 0));
    scene.receiver.requests(4).await;
    let newest = async || {
        let path = format!(
            "/companies/{}/deliveries?eventType=pre_authorization.created",
            scene.company
        );
        scene.get(&path).await["data"].as_array().unwrap().clone()
    };
    while !newest().await.iter().all(|it| it["status"] == "DELIVERED") {
        tokio::task::yield_now().await;
    }
    assert_eq!(resend(&scene, go_on).await, found(0, 0, 0));
    assert_eq!(attempts(&newest().await), 4);
}

/// A cursor goes on with its own request alone.
async fn a_cursor_is_refused_elsewhere(scene: &Scene, go_on: &Value) {
    let with = |name: &str, value: &Value| {
        let mut request = go_on.clone();
        request[name] = value.clone();
        request
    };
    let place = text(&go_on["after"]);
    let mut forged = place.clone();
    let last = if place.ends_with('A') { "B" } else { "A" };
    forged.replace_range(place.len() - 1.., last);
    let mut others = vec![
        with("after", &json!(forged)),
        with("after", &json!(place[..place.len() - 1])),
        with("after", &json!(format!("{place}A"))),
    ];
    for (name, value) in [
        ("since", json!("2020-01-01T00:00:01Z")),
        ("until", json!("2999-01-01T00:00:00Z")),
        ("eventTypes", json!(["webhook.test"])),
        ("statuses", json!(["DELIVERED"])),
    ] {
        others.push(with(name, &value));
    }
    for other in others {
        let refused = ask(scene, "", other.clone()).await;
        assert_eq!(
            refused.refusal(),
            (400, "VALIDATION_ERROR".to_owned()),
            "{other}"
        );
        assert_eq!(refused.fields(), ["after"], "{other}");
    }
    let supplier = scene.company_of("supplierCnpj").await;
    let elsewhere = format!("/companies/{supplier}/deliveries/resend-range");
    let refused = scene.post(&elsewhere, go_on.clone()).await;
    assert_eq!(refused.fields(), ["after"], "{}", refused.text);
}

async fn requests_beside_each_other_and_the_dispatcher_resend_each_delivery_once(backend: Backend) {
    let scene = Scene::new(backend).await;
    let all = five_arrived(&scene).await.len();
    let request = json!({"since": LONG_AGO, "statuses": ["DELIVERED"]});
    let endpoint = format!("/companies/{}/webhook-endpoint", scene.company);
    let four = async || {
        let one = || resend(&scene, request.clone());
        let answers = tokio::join!(one(), one(), one(), one());
        let answers = [answers.0, answers.1, answers.2, answers.3];
        let counts = answers.iter().map(|it| it["count"].as_u64().unwrap());
        usize::try_from(counts.sum::<u64>()).unwrap()
    };
    // While nothing is sent, each is queued by one of them.
    scene.post(&format!("{endpoint}/pause"), json!({})).await;
    assert_eq!(four().await, all);
    scene.post(&format!("{endpoint}/resume"), json!({})).await;
    let mut expected = 2 * all;
    delivered(&scene, expected).await;
    // While everything is sent, each attempt belongs to an event or to a request that counted it.
    for round in 0..5 {
        let number = format!("NF-1{round}");
        let (queued, _) = tokio::join!(four(), scene.offer(&number));
        expected += queued + 1;
    }
    delivered(&scene, expected).await;
}

async fn a_removal_beside_a_resend_ends_only_what_that_had_queued(backend: Backend) {
    const ROUNDS: usize = 12;
    let scene = Scene::new(backend).await;
    let endpoint = format!("/companies/{}/webhook-endpoint", scene.company);
    for round in 0..ROUNDS {
        scene.offer(&format!("NF-{round}")).await;
        scene.receiver.requests(round + 1).await;
        let newest = async || deliveries(&scene).await.remove(0);
        while newest().await["status"] != "DELIVERED" {
            tokio::task::yield_now().await;
        }
        let arrived = newest().await;
        // So that nothing is sent meanwhile.
        scene.post(&format!("{endpoint}/pause"), json!({})).await;
        let resent = || ask(&scene, "", json!({"since": arrived["createdAt"]}));
        let removed = || scene.send(Method::DELETE, &endpoint, None);
        let (resent, removed) = if round % 2 == 0 {
            tokio::join!(resent(), removed())
        } else {
            let (removed, resent) = tokio::join!(removed(), resent());
            (resent, removed)
        };
        assert_eq!(
            (resent.status, removed.status),
            (200, 204),
            "{}",
            resent.text
        );
        let status = match resent.json()["count"].as_u64().unwrap() {
            0 => "DELIVERED",
            _ => "FAILED",
        };
        let after = newest().await;
        assert_eq!(after["id"], arrived["id"]);
        assert_eq!(after["status"], status, "{}", resent.text);
        assert_eq!(after["attempts"], arrived["attempts"]);
        scene.register(&scene.company, &scene.receiver.url()).await;
    }
    assert_eq!(scene.receiver.requests(ROUNDS).await.len(), ROUNDS);
}
