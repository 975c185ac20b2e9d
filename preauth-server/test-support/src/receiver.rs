//! A webhook receiver that records what arrives.

use std::time::Duration;

use serde_json::Value;
use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

const ARRIVAL_DEADLINE: Duration = Duration::from_mins(1);

/// A receiver on a free port.
pub struct TestReceiver(MockServer);

/// A delivery whose signature was verified.
pub struct Arrived {
    /// The event.
    pub body: Value,
    /// The request as it came.
    pub request: Request,
}

impl TestReceiver {
    /// Starts a receiver that answers 204.
    pub async fn start() -> Self {
        Self::start_failing(0).await
    }

    /// Starts a receiver that first answers 500 `times` times.
    pub async fn start_failing(times: u64) -> Self {
        let server = MockServer::start().await;
        if times > 0 {
            let failing = Mock::given(any()).respond_with(ResponseTemplate::new(500));
            failing
                .up_to_n_times(times)
                .with_priority(1)
                .mount(&server)
                .await;
        }
        Mock::given(any())
            .respond_with(ResponseTemplate::new(204))
            .mount(&server)
            .await;
        Self(server)
    }

    /// Where it receives.
    pub fn url(&self) -> String {
        format!("{}/webhooks", self.0.uri())
    }

    /// Waits until `count` requests have arrived and verifies every one with `secret`.
    pub async fn arrived(&self, count: usize, secret: &str) -> Vec<Arrived> {
        let verifier = Verifier::new(Secret::parse(secret).unwrap());
        let requests = self.requests(count).await;
        requests
            .into_iter()
            .map(|request| verified(&verifier, request))
            .collect()
    }

    /// Waits until `count` requests have arrived; returns all of them in order.
    pub async fn requests(&self, count: usize) -> Vec<Request> {
        let wait = async {
            loop {
                let requests = self.0.received_requests().await.unwrap();
                if requests.len() >= count {
                    return requests;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(ARRIVAL_DEADLINE, wait).await;
        waited.expect("events arrive")
    }
}

fn verified(verifier: &Verifier, request: Request) -> Arrived {
    let signature = request
        .headers
        .get(SIGNATURE_HEADER)
        .map(reqwest::header::HeaderValue::as_bytes);
    let holds = verifier
        .verify_now(signature, &request.body)
        .expect("the signature holds");
    let body = serde_json::from_slice(holds.body()).unwrap();
    Arrived { body, request }
}
