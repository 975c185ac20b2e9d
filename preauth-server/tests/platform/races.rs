//! Concurrent commands: one wins, and sends one event.

use serde_json::json;
use test_support::{Backend, on_each_database};

use crate::scene::Scene;

on_each_database! {
    of_two_commands_on_one_operation_one_wins,
    of_two_commands_on_one_payment_order_one_wins,
    an_extension_is_opened_once_however_many_ask,
}

const ROUNDS: usize = 15;

async fn of_two_commands_on_one_operation_one_wins(backend: Backend) {
    let scene = Scene::new(backend).await;
    for round in 0..ROUNDS {
        let id = scene.offer(&format!("NF-{round}")).await;
        scene.play(id, &["request"]).await;
        let (approved, reproved) = tokio::join!(
            scene.ask(id, "approve"),
            scene.ask(id, "reprove by COMPANY")
        );
        let mut outcomes = [approved.status, reproved.status];
        outcomes.sort_unstable();
        // In either order: the company cannot reprove what it has approved.
        assert_eq!(outcomes, [200, 409], "{} {}", approved.text, reproved.text);
        let lost = if approved.status == 409 {
            &approved
        } else {
            &reproved
        };
        assert_eq!(lost.code(), "ANTICIPATION_INVALID_TRANSITION");
        let operation = scene.operation(id).await;
        assert_eq!(
            operation["history"].as_array().unwrap().len(),
            3,
            "{operation}"
        );
        assert_eq!(operation["version"], 3);
    }
    let events = scene.events(3 * ROUNDS).await;
    assert_eq!(events.len(), 3 * ROUNDS);
}

async fn of_two_commands_on_one_payment_order_one_wins(backend: Backend) {
    let scene = Scene::new(backend).await;
    for _ in 0..ROUNDS {
        let mut body = scene.advance_body("-");
        body["amount"] = json!(10);
        let made = scene.make("/payment-orders", body).await;
        let path = |action: &str| format!("/payment-orders/{}/{action}", made["id"]);
        let [review, cancel, reprove] = ["review", "cancel", "reprove"].map(path);
        let (cancelled, reproved) = tokio::join!(
            scene.post(&cancel, json!({})),
            scene.post(&reprove, json!({}))
        );
        let mut outcomes = [cancelled.status, reproved.status];
        outcomes.sort_unstable();
        assert_eq!(outcomes, [200, 409], "{} {}", cancelled.text, reproved.text);
        let refused = scene.post(&review, json!({})).await;
        assert_eq!(
            refused.refusal(),
            (409, "ANTICIPATION_INVALID_TRANSITION".to_owned())
        );
        let order = scene.get(&format!("/payment-orders/{}", made["id"])).await;
        assert_eq!(order["version"], 2);
    }
    assert_eq!(scene.events(2 * ROUNDS).await.len(), 2 * ROUNDS);
}

// Contract: transition/extensions
async fn an_extension_is_opened_once_however_many_ask(backend: Backend) {
    let scene = Scene::new(backend).await;
    let id = scene.offer("NF-1").await;
    scene
        .play(id, &["request", "approve", "release", "pay", "bill"])
        .await;
    let asked = (0..8).map(|_| scene.ask(id, "extend"));
    let answers = futures_util::future::join_all(asked).await;
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    let refused = answers.iter().filter(|answer| answer.status == 409).count();
    assert_eq!((made, refused), (1, 7));
    let listed = scene.get(&format!("/operations/{id}/extensions")).await;
    assert_eq!(listed["pagination"]["total"], 1);
}
