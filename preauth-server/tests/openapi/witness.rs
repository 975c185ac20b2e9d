//! Sends requests and validates every answer by the description.

use std::collections::BTreeSet;
use std::sync::Mutex;

use reqwest::Method;
use serde_json::Value;
use test_support::{Answer, RawCaller};

use crate::description::{Description, Operation, members};

/// Described headers that only some answers have.
const AT_TIMES: [&str; 1] = ["Idempotency-Replayed"];

/// A caller that validates every answer.
pub(crate) struct Witness {
    pub(crate) description: Description,
    caller: RawCaller,
    /// Operations and statuses that were answered.
    seen: Mutex<BTreeSet<(String, String)>>,
}

impl Witness {
    pub(crate) fn new(description: Description, caller: RawCaller) -> Self {
        Self {
            description,
            caller,
            seen: Mutex::default(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, Some(body)).await
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        self.send_with(method, path, &[], body).await
    }

    pub(crate) async fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Answer {
        let mut headers = headers.to_vec();
        if body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        let body = body.map(|body| body.to_string().into_bytes());
        let verb: Method = method.parse().unwrap();
        let answer = self.caller.send(verb, path, &headers, body).await;
        self.validate(method, path, &answer);
        answer
    }

    /// Fails unless the description lists the answer.
    pub(crate) fn validate(&self, method: &str, path: &str, answer: &Answer) {
        let found = self.description.operation(method, path);
        let operation = found.unwrap_or_else(|| panic!("{method} {path} is not described"));
        let id = operation.id();
        let context = format!("{id}: {} {}", answer.status, answer.text);
        let response = self.response(operation, answer.status, &context);
        for (name, _) in members(&response["headers"]) {
            let is_there = answer.headers.contains_key(name);
            assert!(
                is_there || AT_TIMES.contains(&name) || is_retry(name, answer),
                "{name} of {context}"
            );
        }
        let contents: Vec<_> = members(&response["content"]).collect();
        match contents.first() {
            None => assert_eq!(answer.text, "", "{context}"),
            Some((media_type, body)) => {
                assert!(
                    answer.header("content-type").starts_with(media_type),
                    "{context}"
                );
                let value = match *media_type {
                    "application/json" => answer.json(),
                    _ => answer.text.clone().into(),
                };
                let validated = self.description.validate(&body["schema"], &value);
                assert_eq!(validated, Ok(()), "{context}");
            }
        }
        let codes = response["x-error-codes"].as_array();
        if let Some(codes) = codes {
            assert!(codes.contains(&answer.code().into()), "{context}");
        }
        self.seen
            .lock()
            .unwrap()
            .insert((id, answer.status.to_string()));
    }

    fn response(&self, operation: Operation<'_>, status: u16, context: &str) -> Value {
        let response = &operation.body["responses"][status.to_string()];
        assert!(
            !response.is_null(),
            "the status is not described: {context}"
        );
        self.description.resolve(response).clone()
    }

    /// Whether this operation was answered with this status.
    pub(crate) fn has_seen(&self, id: &str, status: &str) -> bool {
        let seen = self.seen.lock().unwrap();
        seen.contains(&(id.to_owned(), status.to_owned()))
    }

    /// Described successes that were never answered.
    pub(crate) fn unseen_successes(&self) -> Vec<String> {
        let operations = self.description.operations();
        let successes = operations.flat_map(|each| {
            let statuses = members(&each.body["responses"]).map(|(status, _)| status);
            let good = statuses.filter(|status| status.starts_with('2'));
            good.map(move |status| (each.id(), status.to_owned()))
        });
        let unseen = successes.filter(|(id, status)| !self.has_seen(id, status));
        unseen
            .map(|(id, status)| format!("{id} {status}"))
            .collect()
    }
}

/// A status may have several codes, one of which is retryable.
fn is_retry(name: &str, answer: &Answer) -> bool {
    name == "Retry-After" && answer.status == 409 && answer.code() != "IDEMPOTENCY_IN_PROGRESS"
}
