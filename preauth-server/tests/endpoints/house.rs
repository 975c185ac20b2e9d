//! A server in production mode with the test's settings, and a company whose endpoint is tested.

use std::time::Duration;

use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, Home, RawCaller, Server};

use crate::dns::Dns;

const TOKEN: &str = "an-operator-token-of-the-tests";
/// Timeout for everything the test waits for.
const PATIENCE: Duration = Duration::from_mins(1);

/// This machine's network, where the tests' receivers listen.
pub(crate) const THIS_MACHINE: &str = "127.0.0.0/8";

/// A server, its DNS, and a company without an endpoint.
pub(crate) struct House {
    pub(crate) server: Server,
    pub(crate) dns: Dns,
    platform: RawCaller,
    company: String,
}

impl House {
    /// A server that sends to public addresses only.
    pub(crate) async fn public() -> Self {
        Self::start(Backend::Sqlite, &[]).await
    }

    /// A server that also sends to this machine.
    pub(crate) async fn on_this_machine() -> Self {
        let listed = ("PREAUTH_WEBHOOKS_ALLOWED_NETWORKS", THIS_MACHINE.to_owned());
        Self::start(Backend::Sqlite, &[listed]).await
    }

    /// A server with these environment variables and a DNS of its own.
    pub(crate) async fn start(backend: Backend, variables: &[(&str, String)]) -> Self {
        let dns = Dns::start().await;
        let mut all = variables.to_vec();
        all.push(("PREAUTH_WEBHOOKS_RESOLVER", dns.address.to_string()));
        let server = Server::start_with(Home::new(backend).await, TOKEN, &all).await;
        let mut house = Self {
            platform: RawCaller::new(&server.platform_url, Some(TOKEN)),
            server,
            dns,
            company: String::new(),
        };
        let company =
            json!({"cnpj": "11222333000181", "name": "Construtora Azul", "kind": "CONSTRUCTION"});
        let made = house.send(Method::POST, "/companies", Some(company)).await;
        made.json()["id"]
            .as_str()
            .unwrap()
            .clone_into(&mut house.company);
        house
    }

    /// Registers or changes the endpoint.
    pub(crate) async fn put(&self, url: &str) -> Answer {
        let body = json!({"url": url, "events": ["webhook.test"]});
        self.send(Method::PUT, &self.endpoint(), Some(body)).await
    }

    /// Registers the endpoint, which must be accepted.
    pub(crate) async fn register(&self, url: &str) {
        let put = self.put(url).await;
        assert!(matches!(put.status, 200 | 201), "{url}: {}", put.text);
    }

    /// The stored URL of the endpoint, if there is one.
    pub(crate) async fn kept_url(&self) -> Option<String> {
        let answer = self.send(Method::GET, &self.endpoint(), None).await;
        (answer.status == 200).then(|| answer.json()["url"].as_str().unwrap().to_owned())
    }

    /// Sends a test event, and returns the first recorded attempt.
    pub(crate) async fn attempt(&self) -> Value {
        let test = format!("{}/test", self.endpoint());
        let sent = self.send(Method::POST, &test, None).await;
        assert!(matches!(sent.status, 200 | 201), "{}", sent.text);
        let delivery = format!("/deliveries/{}", sent.json()["id"].as_str().unwrap());
        let recorded = async {
            loop {
                let mut found = self.send(Method::GET, &delivery, None).await.json();
                if found["attempts"][0].is_object() {
                    return found["attempts"][0].take();
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let recorded = tokio::time::timeout(PATIENCE, recorded).await;
        recorded.unwrap_or_else(|_| panic!("no attempt: {}", self.server.log()))
    }

    /// The outcome of an attempt: the status, or the error's code.
    pub(crate) async fn outcome(&self) -> String {
        let attempt = self.attempt().await;
        let status = attempt["httpStatus"].as_u64();
        status.map_or_else(
            || attempt["error"].as_str().unwrap().to_owned(),
            |status| status.to_string(),
        )
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let headers: &[_] = match body {
            Some(_) => &[("content-type", "application/json")],
            None => &[],
        };
        let body = body.map(|body| body.to_string().into_bytes());
        let path = format!("{PREFIX}{path}");
        self.platform.send(method, &path, headers, body).await
    }

    fn endpoint(&self) -> String {
        format!("/companies/{}/webhook-endpoint", self.company)
    }
}
