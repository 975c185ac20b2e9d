//! `serve` on a sandbox's data: what operators see of it, and what it does.

use std::sync::Arc;
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::Value;
use test_support::{Answer, Backend, Home, RawCaller, Sandbox, Server, offer_body};

use super::exposition::Exposition;

/// Timeout for everything the test waits for.
const PATIENCE: Duration = Duration::from_mins(3);
/// The steps after which a worker has done all due work.
const STEPS: u32 = 3;
pub(crate) const KEY: (&str, &str) = ("idempotency-key", "pedido-0001");

/// A home with one open offer under [`KEY`], and its callers' credentials.
pub(crate) struct Offered {
    pub(crate) home: Arc<Home>,
    api_key: String,
    pub(crate) token: String,
    pub(crate) body: Value,
}

/// Creates an offer in a sandbox, and takes its data over.
pub(crate) async fn offered(backend: Backend, webhook_url: &str) -> Offered {
    let sandbox = Sandbox::start_sending_to(backend, webhook_url).await;
    let body = offer_body(&sandbox, "NF-1");
    let caller = sandbox.caller("apiKey");
    let created = caller
        .post_text(PRE_AUTHORIZATIONS, &[KEY], body.to_string())
        .await;
    assert_eq!(created.status, 201, "{}", created.text);
    let [api_key, token] = ["apiKey", "platformToken"].map(|name| sandbox.text(name).to_owned());
    Offered {
        home: Arc::new(sandbox.kill()),
        api_key,
        token,
        body,
    }
}

/// A server and its callers.
pub(crate) struct Served {
    pub(crate) server: Server,
    pub(crate) erp: RawCaller,
    pub(crate) platform: RawCaller,
    /// Without a token.
    operator: RawCaller,
}

impl Offered {
    /// Serves the data with these additional settings.
    pub(crate) async fn serve(&self, settings: &[(&str, &str)]) -> Served {
        self.serve_in(&self.home, settings).await
    }

    /// Serves the data of another home.
    pub(crate) async fn serve_in(&self, home: &Arc<Home>, settings: &[(&str, &str)]) -> Served {
        let server = Server::start_with(Arc::clone(home), &self.token, settings).await;
        Served {
            erp: RawCaller::new(&server.base_url, Some(&self.api_key)),
            platform: RawCaller::new(&server.platform_url, Some(&self.token)),
            operator: RawCaller::new(&server.platform_url, None),
            server,
        }
    }
}

impl Served {
    /// Repeats the offer under its key.
    pub(crate) async fn offer_again(&self, offered: &Offered) -> Answer {
        let body = offered.body.to_string();
        self.erp.post_text(PRE_AUTHORIZATIONS, &[KEY], body).await
    }

    /// The same until the answer is not 503.
    pub(crate) async fn offer_again_until_answered(&self, offered: &Offered) -> Answer {
        let wait = async {
            loop {
                let answer = self.offer_again(offered).await;
                if answer.status != 503 {
                    return answer;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, wait).await;
        waited.unwrap_or_else(|_| panic!("never answered: {}", self.server.log()))
    }

    /// The status of the offer.
    pub(crate) async fn status(&self) -> String {
        let found = self.erp.get(&format!("{PRE_AUTHORIZATIONS}/1")).await;
        assert_eq!(found.status, 200, "{}", found.text);
        found.json()["status"].as_str().unwrap().to_owned()
    }

    /// Calls a probe.
    pub(crate) async fn probe(&self, path: &str) -> Answer {
        self.operator.get(path).await
    }

    pub(crate) async fn scrape(&self) -> Exposition {
        let answer = self.operator.get("/metrics").await;
        Exposition::parse(&answer.text).unwrap()
    }

    /// Waits until `/readyz` answers with this status, and returns its body.
    pub(crate) async fn wait_until_ready_is(&self, status: u16) -> Value {
        let wait = async {
            loop {
                let answer = self.probe("/readyz").await;
                if answer.status == status {
                    return answer.json();
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, wait).await;
        waited.unwrap_or_else(|_| panic!("never {status}: {}", self.server.log()))
    }

    /// Waits until a scrape has this value.
    pub(crate) async fn wait_for(&self, name: &str, labels: &[(&str, &str)], value: f64) {
        let wait = async {
            while self.scrape().await.find(name, labels) != Some(value) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, wait).await;
        waited.unwrap_or_else(|_| panic!("never {value}: {}", self.server.log()));
    }

    /// Waits until every worker has stepped several times.
    pub(crate) async fn let_loops_step(&self) {
        for name in ["sweeper", "dispatcher", "notices"] {
            for _ in 0..STEPS {
                let before = self.last_step(name).await;
                let stepped = async {
                    while self.last_step(name).await <= before {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                };
                let waited = tokio::time::timeout(PATIENCE, stepped).await;
                waited.unwrap_or_else(|_| panic!("{name} hangs: {}", self.server.log()));
            }
        }
    }

    async fn last_step(&self, name: &str) -> f64 {
        let scraped = self.scrape().await;
        scraped.value(
            "preauth_loop_last_step_timestamp_seconds",
            &[("loop", name)],
        )
    }
}
