//! Payment orders have a second, smaller life cycle.

use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Backend, due_date, on_each_database};

use crate::records::parties;
use crate::scene::{Scene, text};

on_each_database! {
    a_payment_order_lives_by_a_table_of_its_own,
    a_payment_order_is_shown_as_it_was_made,
    a_payment_order_is_of_an_operation_between_the_same_two,
    an_operation_has_one_payment_order_at_a_time,
    of_a_hundred_orders_for_one_operation_one_is_generated,
}

/// The actions: last path segment, statuses it is allowed in, and the status afterwards.
const ACTIONS: [(&str, &[&str], &str); 5] = [
    ("review", &["CREATED"], "UNDER_REVIEW"),
    ("schedule", &["CREATED", "UNDER_REVIEW"], "SCHEDULED"),
    ("pay", &["SCHEDULED"], "PAID"),
    (
        "cancel",
        &["CREATED", "UNDER_REVIEW", "SCHEDULED"],
        "CANCELED",
    ),
    ("reprove", &["CREATED", "UNDER_REVIEW"], "REPROVED"),
];
/// Paths to every status.
const WAYS: [&[&str]; 6] = [
    &[],
    &["review"],
    &["review", "schedule"],
    &["schedule", "pay"],
    &["cancel"],
    &["review", "reprove"],
];

fn order_body(scene: &Scene) -> Value {
    let mut body = scene.advance_body("-");
    body.as_object_mut().unwrap().remove("invoice");
    body["amount"] = json!("900.07");
    body
}

async fn a_payment_order_lives_by_a_table_of_its_own(backend: Backend) {
    let scene = Scene::new(backend).await;
    for way in WAYS {
        for (action, from, to) in ACTIONS {
            let made = scene.make("/payment-orders", order_body(&scene)).await;
            let path = format!("/payment-orders/{}", made["id"]);
            for step in way {
                let answer = scene
                    .send(Method::POST, &format!("{path}/{step}"), None)
                    .await;
                assert_eq!(answer.status, 200, "{}", answer.text);
            }
            let before = scene.get(&path).await;
            let status = before["status"].as_str().unwrap();
            let answer = scene
                .send(Method::POST, &format!("{path}/{action}"), None)
                .await;
            if from.contains(&status) {
                let mut after = before.clone();
                after["status"] = json!(to);
                after["version"] = json!(before["version"].as_i64().unwrap() + 1);
                assert_eq!(
                    (answer.status, answer.json()),
                    (200, after),
                    "{action} in {status}"
                );
            } else {
                let refused = (409, "ANTICIPATION_INVALID_TRANSITION".to_owned());
                assert_eq!(answer.refusal(), refused, "{action} in {status}");
                assert_eq!(scene.get(&path).await, before);
            }
        }
    }
}

/// The body of an order for an operation.
fn order_for(scene: &Scene, operation: i64) -> Value {
    let mut body = order_body(scene);
    body["operationId"] = json!(operation);
    body
}

async fn an_operation_has_one_payment_order_at_a_time(backend: Backend) {
    let scene = Scene::new(backend).await;
    let operation = scene.offer("NF-1").await;
    let refused = |existing: Value| {
        let scene = &scene;
        async move {
            let again = scene.post("/payment-orders", order_for(scene, operation));
            let again = again.await;
            assert_eq!(again.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
            let sentence = text(&again.json()["errors"][0]["message"]);
            assert!(sentence.contains(&existing.to_string()), "{sentence}");
        }
    };
    for way in [&["cancel"][..], &["review", "cancel"], &["reprove"]] {
        let made = scene
            .make("/payment-orders", order_for(&scene, operation))
            .await;
        for action in way {
            refused(made["id"].clone()).await;
            act(&scene, &made, action).await;
        }
    }
    let paid = scene
        .make("/payment-orders", order_for(&scene, operation))
        .await;
    act(&scene, &paid, "schedule").await;
    act(&scene, &paid, "pay").await;
    refused(paid["id"].clone()).await;
    let to_paid = ["request", "approve", "release", "pay"];
    scene.play(operation, &to_paid).await;
    refused(paid["id"].clone()).await;
    scene.play(operation, &["return-payout"]).await;
    let second = scene
        .make("/payment-orders", order_for(&scene, operation))
        .await;
    refused(second["id"].clone()).await;
    // An order without an operation blocks no other.
    scene.make("/payment-orders", order_body(&scene)).await;
    scene.make("/payment-orders", order_body(&scene)).await;
}

async fn act(scene: &Scene, order: &Value, action: &str) {
    let path = format!("/payment-orders/{}/{action}", order["id"]);
    let done = scene.send(Method::POST, &path, None).await;
    assert_eq!(done.status, 200, "{action}: {}", done.text);
}

async fn of_a_hundred_orders_for_one_operation_one_is_generated(backend: Backend) {
    let scene = Scene::new(backend).await;
    let operation = scene.offer("NF-1").await;
    for _ in 0..3 {
        let sent = (0..100).map(|_| scene.post("/payment-orders", order_for(&scene, operation)));
        let answers = futures_util::future::join_all(sent).await;
        let (made, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.status == 201);
        assert_eq!(made.len(), 1);
        for answer in refused {
            assert_eq!(answer.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
        }
        act(&scene, &made[0].json(), "cancel").await;
    }
}

async fn a_payment_order_is_shown_as_it_was_made(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (payer, supplier) = parties(&scene).await;
    let first = scene.make("/payment-orders", order_body(&scene)).await;
    let made = scene.make("/payment-orders", order_body(&scene)).await;
    let expected = json!({
        "id": made["id"],
        "version": 1,
        "status": "CREATED",
        "payer": payer,
        "supplier": supplier,
        "amount": 900.07,
        "scheduledFor": null,
        "operationId": null,
        "reason": null,
        "createdAt": made["createdAt"],
    });
    assert_eq!(made, expected);
    assert_eq!(
        scene.get("/payment-orders?limit=1").await["data"],
        json!([expected])
    );
    let listed = scene.get("/payment-orders?limit=1&page=2").await;
    assert_eq!(listed["data"], json!([first]));
    assert_eq!(listed["pagination"]["total"], 2);
    // Scheduling without a date keeps the date.
    let day = due_date(9).to_string();
    let mut scheduled = order_body(&scene);
    scheduled["scheduledFor"] = json!(day);
    let made = scene.make("/payment-orders", scheduled).await;
    let path = format!("/payment-orders/{}/schedule", made["id"]);
    let answer = scene.send(Method::POST, &path, None).await;
    assert_eq!(answer.json()["scheduledFor"], day);
}

// Contract: error-code-of-ours/RESOURCE_CONFLICT
async fn a_payment_order_is_of_an_operation_between_the_same_two(backend: Backend) {
    let scene = Scene::new(backend).await;
    let operation = scene.offer("NF-1").await;
    let mut body = order_body(&scene);
    body["operationId"] = json!(operation);
    let made = scene.make("/payment-orders", body.clone()).await;
    assert_eq!(made["operationId"], json!(operation));
    let mut of_others = body.clone();
    of_others["payerCompanyId"] = json!(scene.company_of("branchCnpj").await);
    let refused = scene.post("/payment-orders", of_others).await;
    assert_eq!(refused.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
    body["operationId"] = json!(operation + 1);
    let refused = scene.post("/payment-orders", body).await;
    assert_eq!(refused.refusal(), (404, "RESOURCE_NOT_FOUND".to_owned()));
}
