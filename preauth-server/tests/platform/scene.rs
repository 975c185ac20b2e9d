//! A sandbox with a receiver, and helpers for every actor.

use preauth_client::wire::path::{PRE_AUTHORIZATIONS, cancel};
use preauth_core::value::EventType;
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, Form, RawCaller, Sandbox, TestReceiver, due_date};

/// The net amount of a release in every scene.
pub(crate) const NET_AMOUNT: f64 = 11_987.65;

/// A sandbox whose company is subscribed to every event.
pub(crate) struct Scene {
    pub(crate) sandbox: Sandbox,
    pub(crate) platform: RawCaller,
    pub(crate) receiver: TestReceiver,
    /// The demo company's head office.
    pub(crate) company: String,
}

impl Scene {
    pub(crate) async fn new(backend: Backend) -> Self {
        let receiver = TestReceiver::start().await;
        let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
        Self::of(sandbox, receiver).await
    }

    /// For a sandbox whose webhooks go to `receiver`.
    pub(crate) async fn of(sandbox: Sandbox, receiver: TestReceiver) -> Self {
        let platform = sandbox.platform();
        let mut scene = Self {
            sandbox,
            platform,
            receiver,
            company: String::new(),
        };
        scene.company = scene.company_of("companyCnpj").await;
        scene
    }

    /// The platform's id of the company whose tax id the ready file has under `name`.
    pub(crate) async fn company_of(&self, name: &str) -> String {
        let sought = format!("/companies?cnpj={}", self.sandbox.text(name));
        let found = self.get(&sought).await;
        text(&found["data"][0]["id"])
    }

    /// Registers an endpoint for all events of a company; returns its secret.
    pub(crate) async fn register(&self, company: &str, url: &str) -> String {
        let all: Vec<_> = EventType::ALL.iter().map(|kind| kind.as_str()).collect();
        let body = json!({"url": url, "events": all});
        let path = format!("/companies/{company}/webhook-endpoint");
        let set = self.send(Method::PUT, &path, Some(body)).await;
        assert_eq!(set.status, 201, "{}", set.text);
        text(&set.json()["secret"])
    }

    /// GET under the prefix; expects 200.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.platform.get(&format!("{PREFIX}{path}")).await;
        assert_eq!(answer.status, 200, "GET {path}: {}", answer.text);
        answer.json()
    }

    /// Any request under the prefix, with a JSON body if there is one.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let path = format!("{PREFIX}{path}");
        let headers: &[_] = match body {
            Some(_) => &[("content-type", "application/json")],
            None => &[],
        };
        let body = body.map(|body| body.to_string().into_bytes());
        self.platform.send(method, &path, headers, body).await
    }

    /// POST under the prefix.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    /// POST under the prefix that creates a record; returns it.
    pub(crate) async fn make(&self, path: &str, body: Value) -> Value {
        let answer = self.post(path, body).await;
        assert_eq!(answer.status, 201, "POST {path}: {}", answer.text);
        answer.json()
    }

    /// Creates an offer of the demo company; returns its id.
    pub(crate) async fn offer(&self, number: &str) -> i64 {
        let body = test_support::offer_body(&self.sandbox, number);
        let caller = self.sandbox.caller("apiKey");
        let answer = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()["id"].as_i64().unwrap()
    }

    /// Offers the invoice of this number with a file; returns the operation's id.
    pub(crate) async fn offer_with_a_file(&self, number: &str) -> i64 {
        let form = Form::of(&test_support::offer_body(&self.sandbox, number));
        let form = form.file("nota.pdf", "application/pdf", b"%PDF-1.7");
        let caller = self.sandbox.caller("apiKey");
        let answer = caller.post_form(PRE_AUTHORIZATIONS, &[], form).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()["id"].as_i64().unwrap()
    }

    /// The body of a direct advance to the demo company.
    pub(crate) fn advance_body(&self, number: &str) -> Value {
        json!({
            "payerCompanyId": self.company,
            "supplierCnpj": self.sandbox.text("supplierCnpj"),
            "invoice": {
                "amount": 12500.5,
                "dueDate": due_date(60).to_string(),
                "number": number,
            },
        })
    }

    /// Creates a direct advance to the demo company; returns its id.
    pub(crate) async fn advance(&self, number: &str) -> i64 {
        let made = self.make("/operations", self.advance_body(number)).await;
        made["id"].as_i64().unwrap()
    }

    /// Creates an operation of this origin.
    pub(crate) async fn begin(&self, origin: &str, number: &str) -> i64 {
        match origin {
            "PRE_AUTH" => self.offer(number).await,
            "DIRECT" => self.advance(number).await,
            other => panic!("{other} is no origin"),
        }
    }

    pub(crate) async fn operation(&self, id: i64) -> Value {
        self.get(&format!("/operations/{id}")).await
    }

    /// Requests `action` of an operation, by its name in the table.
    pub(crate) async fn ask(&self, id: i64, action: &str) -> Answer {
        self.ask_with(id, action, &json!({})).await
    }

    /// The same, with `reason` in the body if it is given there.
    pub(crate) async fn ask_with(&self, id: i64, action: &str, extra: &Value) -> Answer {
        let mut body = match action {
            "release" => json!({"netAmount": NET_AMOUNT}),
            "reprove by COMPANY" => json!({"by": "COMPANY"}),
            "reprove by PLATFORM" => json!({"by": "PLATFORM"}),
            "extend" => extension_body(),
            _ => json!({}),
        };
        for (name, value) in extra.as_object().unwrap() {
            body[name] = value.clone();
        }
        let path = match action {
            "cancel" => {
                let caller = self.sandbox.caller("apiKey");
                return caller.post(&cancel(id.to_string().parse().unwrap())).await;
            }
            "extend" => format!("/operations/{id}/extensions"),
            "conclude extension" => format!("/extensions/{}/conclude", self.extension_of(id).await),
            "cancel extension" => format!("/extensions/{}/cancel", self.extension_of(id).await),
            "reprove by COMPANY" | "reprove by PLATFORM" => format!("/operations/{id}/reprove"),
            _ => format!("/operations/{id}/{action}"),
        };
        self.post(&path, body).await
    }

    /// Requests one action after the other; each must succeed.
    pub(crate) async fn play(&self, id: i64, actions: &[&str]) {
        for action in actions {
            let answer = self.ask(id, action).await;
            assert!(answer.status < 300, "{action} of {id}: {}", answer.text);
        }
    }

    /// The newest extension of an operation; 0, which is no id, without one.
    async fn extension_of(&self, id: i64) -> i64 {
        let listed = self.get(&format!("/operations/{id}/extensions")).await;
        listed["data"][0]["id"].as_i64().unwrap_or(0)
    }

    /// The company's events, verified, once `count` have arrived.
    pub(crate) async fn events(&self, count: usize) -> Vec<Value> {
        let secret = self.sandbox.text("webhookSecret");
        let arrived = self.receiver.arrived(count, secret).await;
        arrived.into_iter().map(|event| event.body).collect()
    }
}

/// An extension that is valid for the boleto of every scene.
pub(crate) fn extension_body() -> Value {
    json!({"newDueDate": due_date(90).to_string(), "totalAmount": 12_777.25})
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
