//! Endpoints that fail for days, and the deliveries after they recover.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::{Value, json};
use test_support::{
    Backend, Sandbox, TestReceiver, offer_body, on_each_database,
    travel::{DAY, advance, retry_delays},
};

use crate::clock::eventually;

on_each_database! {
    an_endpoint_without_success_for_five_days_is_paused_and_misses_nothing,
    failed_deliveries_are_sent_again_on_request,
}

/// A sandbox and the company's endpoint, as the platform API shows it.
struct Scene {
    sandbox: Sandbox,
    company: String,
}

impl Scene {
    async fn sending_to(backend: Backend, receiver: &TestReceiver) -> Self {
        let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
        let company = sandbox.company().await;
        Self {
            company: format!("/api/platform/v1/companies/{company}"),
            sandbox,
        }
    }

    async fn offer(&self, number: &str) {
        let body = offer_body(&self.sandbox, number);
        let created = self.sandbox.caller("apiKey");
        let created = created.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(created.status, 201, "{}", created.text);
    }

    async fn get(&self, path: &str) -> Value {
        let platform = self.sandbox.platform();
        platform
            .get(&format!("{}{path}", self.company))
            .await
            .json()
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let path = format!("{}{path}", self.company);
        let answer = self.sandbox.platform().post_json(&path, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    async fn deliveries(&self, status: &str) -> u64 {
        let list = self.get(&format!("/deliveries?status={status}")).await;
        list["pagination"]["total"].as_u64().unwrap()
    }

    /// Waits until the newest delivery has this many attempts.
    async fn tried(&self, times: usize) {
        eventually("it is tried", || async {
            let list = self.get("/deliveries").await;
            list["data"][0]["attempts"].as_array().unwrap().len() == times
        })
        .await;
    }

    async fn metric(&self, name: &str) -> String {
        let scraped = self.sandbox.platform().get("/metrics").await.text;
        let line = scraped
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        line.unwrap().rsplit(' ').next().unwrap().to_owned()
    }
}

async fn an_endpoint_without_success_for_five_days_is_paused_and_misses_nothing(backend: Backend) {
    let receiver = TestReceiver::start_failing(2).await;
    let scene = Scene::sending_to(backend, &receiver).await;
    scene.offer("NF-1").await;
    scene.tried(1).await;
    assert_eq!(scene.get("/webhook-endpoint").await["status"], "ACTIVE");
    advance(&scene.sandbox, 5 * DAY).await;
    scene.tried(2).await;
    assert_eq!(scene.get("/webhook-endpoint").await["status"], "PAUSED");
    assert_eq!(scene.metric("preauth_endpoint_pauses_total").await, "1");
    scene.offer("NF-2").await;
    assert_eq!(scene.deliveries("PAUSED").await, 2);
    assert_eq!(scene.metric("preauth_deliveries_paused").await, "2");
    assert_eq!(scene.metric("preauth_endpoints_paused").await, "1");
    advance(&scene.sandbox, 60 * DAY).await;
    // The offers expire, which adds one event each.
    eventually("all of it is kept, for as long as it takes", || async {
        scene.deliveries("PAUSED").await == 4
    })
    .await;
    scene.post("/webhook-endpoint/resume", &json!({})).await;
    eventually("everything has arrived", || async {
        scene.deliveries("DELIVERED").await == 4
    })
    .await;
    let arrived = receiver
        .arrived(6, scene.sandbox.text("webhookSecret"))
        .await;
    assert_eq!(arrived.len(), 6, "two that failed, and four");
}

async fn failed_deliveries_are_sent_again_on_request(backend: Backend) {
    let receiver = TestReceiver::start_failing(11).await;
    let scene = Scene::sending_to(backend, &receiver).await;
    scene.offer("NF-1").await;
    for (made, delay) in (1..).zip(retry_delays()) {
        scene.tried(made).await;
        advance(&scene.sandbox, delay).await;
    }
    scene.tried(11).await;
    assert_eq!(scene.deliveries("FAILED").await, 1);
    let since = |moment: &str| json!({"since": moment});
    let resend = "/deliveries/resend";
    let none = scene.post(resend, &since("2100-01-01T00:00:00Z")).await;
    assert_eq!(none, json!({"count": 0}));
    let one = scene.post(resend, &since("2026-01-01T00:00:00Z")).await;
    assert_eq!(one, json!({"count": 1}));
    eventually("it has arrived", || async {
        scene.deliveries("DELIVERED").await == 1
    })
    .await;
    let arrived = receiver
        .arrived(12, scene.sandbox.text("webhookSecret"))
        .await;
    assert!(
        arrived
            .iter()
            .all(|it| it.request.body == arrived[0].request.body)
    );
    let attempts = &scene.get("/deliveries").await["data"][0]["attempts"];
    assert_eq!(attempts[11]["trigger"], "RESEND");
    assert_eq!(attempts[11]["httpStatus"], 204);
}
