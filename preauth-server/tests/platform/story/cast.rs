//! The actors of the story, and the requests of each step.

use std::collections::BTreeMap;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Backend, TestReceiver, offer_body, with};

use crate::scene::Scene;

use super::listener::Listener;
use super::steps::{ReceivedBy, Step};

const DAY_SECONDS: u64 = 86_400;

/// A scene in which the supplier has an endpoint, too.
pub(super) struct Cast {
    scene: Scene,
    today: u64,
    at_supplier: TestReceiver,
    company: Listener,
    supplier: Listener,
    /// The record behind each name of the story, as events identify it: `{"anticipationId": 1}`.
    subjects: BTreeMap<&'static str, Value>,
}

impl Cast {
    pub(super) async fn new(backend: Backend) -> Self {
        let scene = Scene::new(backend).await;
        let at_supplier = TestReceiver::start().await;
        let supplier = scene.company_of("supplierCnpj").await;
        let secret = scene.register(&supplier, &at_supplier.url()).await;
        let company_secret = scene.sandbox.text("webhookSecret").to_owned();
        Self {
            today: 1,
            at_supplier,
            company: Listener::new(scene.company.clone(), company_secret),
            supplier: Listener::new(supplier, secret),
            subjects: BTreeMap::new(),
            scene,
        }
    }

    /// Advances the clock to `day`.
    pub(super) async fn wait_for(&mut self, day: u64) {
        let passed = json!({"advanceSeconds": (day - self.today) * DAY_SECONDS});
        let jumped = self.scene.post("/sandbox/clock", passed).await;
        assert_eq!(jumped.status, 200, "{}", jumped.text);
        self.today = day;
    }

    /// Performs the step; returns its subject.
    pub(super) async fn play(&mut self, step: &Step) -> Value {
        let name = step.name;
        let begun = match step.action {
            "offer" => json!({"anticipationId": self.scene.offer(name).await}),
            "offer to a newcomer" => json!({"anticipationId": self.offer_to_newcomer(name).await}),
            "advance" => json!({"anticipationId": self.scene.advance(name).await}),
            "receive" => json!({"invoiceId": self.record("/invoices", name).await}),
            "order" => json!({"paymentOrderId": self.record("/payment-orders", name).await}),
            "test" => {
                self.send_a_test().await;
                return Value::Null;
            }
            action => {
                let subject = self.subjects[name].clone();
                self.go_on(&subject, action).await;
                return subject;
            }
        };
        self.subjects.insert(name, begun.clone());
        begun
    }

    /// Waits until the step's receivers have its event, and no other.
    pub(super) async fn receive(&mut self, step: &Step, subject: Value) {
        let expected = step.expected_event(&subject);
        self.company.expect(&expected);
        if step.received_by == ReceivedBy::Both {
            self.supplier.expect(&expected);
        }
        self.company.listen(&self.scene.receiver).await;
        self.supplier.listen(&self.at_supplier).await;
    }

    /// Checks at the end that no delivery is pending.
    pub(super) async fn ends(&self) {
        let (company, supplier) = (&self.company, &self.supplier);
        company
            .has_nothing_to_come(&self.scene.receiver, &self.scene)
            .await;
        supplier
            .has_nothing_to_come(&self.at_supplier, &self.scene)
            .await;
    }

    async fn go_on(&self, subject: &Value, action: &str) {
        if action == "time passes" {
            return;
        }
        if let Some(order) = subject.get("paymentOrderId") {
            let path = format!("/payment-orders/{order}/{action}");
            let answer = self.scene.post(&path, json!({})).await;
            assert_eq!(answer.status, 200, "{action}: {}", answer.text);
        } else {
            let id = subject["anticipationId"].as_i64().unwrap();
            self.scene.play(id, &[action]).await;
        }
    }

    async fn offer_to_newcomer(&self, number: &str) -> Value {
        let newcomer = json!({
            "cnpj": "BRASIL00123400",
            "email": "contato@areia.example.com",
            "name": "Brasil Areia Ltda.",
            "contactName": "Rui Areia",
        });
        let body = offer_body(&self.scene.sandbox, number);
        let body = with(body, "/supplier", newcomer);
        let caller = self.scene.sandbox.caller("apiKey");
        let made = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(made.status, 201, "{}", made.text);
        made.json()["id"].clone()
    }

    /// Creates an invoice or a payment order, depending on the path.
    async fn record(&self, path: &str, number: &str) -> Value {
        let mut body = self.scene.advance_body(number);
        body["amount"] = json!(1200.07);
        self.scene.make(path, body).await["id"].clone()
    }

    async fn send_a_test(&self) {
        let path = format!("/companies/{}/webhook-endpoint/test", self.scene.company);
        let sent = self.scene.send(Method::POST, &path, None).await;
        assert_eq!(sent.status, 200, "{}", sent.text);
    }
}
