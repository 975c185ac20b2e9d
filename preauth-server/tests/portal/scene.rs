//! An offer, its page, and what the platform knows of it.

use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, Sandbox, offer_body, office};

use crate::browser::Browser;

pub(crate) const ADDRESS: &str = "financeiro@fornecedor.example.com";
/// Not registered.
pub(crate) const INVITED: &str = "45723001000100";
const PREFIX: &str = "/api/platform/v1";

/// A sandbox with an open offer.
pub(crate) struct Scene {
    pub(crate) sandbox: Sandbox,
    pub(crate) browser: Browser,
    pub(crate) operation: i64,
    /// The path of the offer's page.
    pub(crate) page: String,
}

impl Scene {
    /// To a registered supplier.
    pub(crate) async fn new(backend: Backend) -> Self {
        let sandbox = Sandbox::start(backend).await;
        let operation = office::offer(&sandbox, "NF-1", ADDRESS).await;
        Self::of(sandbox, operation)
    }

    /// To a supplier that this offer invites under a name.
    pub(crate) async fn inviting(backend: Backend, name: &str) -> Self {
        let sandbox = Sandbox::start(backend).await;
        let operation = invite(&sandbox, "NF-1", name).await;
        Self::of(sandbox, operation)
    }

    pub(crate) fn of(sandbox: Sandbox, operation: i64) -> Self {
        Self {
            browser: Browser::of(&sandbox),
            page: sandbox.page_of(operation),
            operation,
            sandbox,
        }
    }

    /// The path of a page with the offer's link.
    pub(crate) fn path(&self, action: &str) -> String {
        format!("{}/{action}", self.page)
    }

    /// What the platform API says of the operation.
    pub(crate) async fn status(&self) -> String {
        let found = self
            .platform(&format!("/operations/{}", self.operation))
            .await;
        found["status"].as_str().unwrap().to_owned()
    }

    /// The types and actors of the operation's events, oldest first.
    pub(crate) async fn history(&self) -> Vec<(String, String)> {
        let found = self
            .platform(&format!("/operations/{}", self.operation))
            .await;
        let history = found["history"].clone();
        let entries = history.as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        entries
            .map(|entry| (text(&entry["type"]), text(&entry["actor"]["kind"])))
            .collect()
    }

    /// GET of the platform API.
    pub(crate) async fn platform(&self, path: &str) -> Value {
        let answer = self
            .sandbox
            .platform()
            .get(&format!("{PREFIX}{path}"))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    pub(crate) async fn send(&self, method: Method, path: &str) -> Answer {
        let path = format!("{PREFIX}{path}");
        self.sandbox.platform().send(method, &path, &[], None).await
    }

    /// Plays another party.
    pub(crate) async fn act(&self, action: &str, body: Value) {
        let path = format!("{PREFIX}/operations/{}/{action}", self.operation);
        let done = self.sandbox.platform().post_json(&path, &body).await;
        assert_eq!(done.status, 200, "{}", done.text);
    }

    /// The ERP cancels the offer.
    pub(crate) async fn cancel(&self) {
        let path = format!(
            "/api/integration/v1/pre-authorizations/{}/cancel",
            self.operation
        );
        let done = self.sandbox.caller("apiKey").post(&path).await;
        assert_eq!(done.status, 201, "{}", done.text);
    }
}

/// Offers an advance to a supplier that is not registered.
pub(crate) async fn invite(sandbox: &Sandbox, number: &str, name: &str) -> i64 {
    let mut body = offer_body(sandbox, number);
    body["supplier"] = json!({
        "cnpj": INVITED, "email": ADDRESS, "name": name, "contactName": "Ana Souza",
    });
    office::offer_as(sandbox, &body).await
}
