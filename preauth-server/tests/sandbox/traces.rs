//! OpenTelemetry traces, as a collector receives them.

use std::collections::BTreeMap;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::trace::v1::Span;
use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use prost::Message;
use reqwest::Method;
use test_support::travel::{advance, retry_delays};
use test_support::{Backend, Home, Sandbox, TestReceiver, offer_body};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

const PATIENCE: Duration = Duration::from_mins(1);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

struct Collector(MockServer);

/// A span with its attributes as texts.
#[derive(Debug)]
struct Seen {
    span: Span,
    attributes: BTreeMap<String, String>,
}

impl Collector {
    async fn start(answer: ResponseTemplate) -> Self {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(answer).mount(&server).await;
        Self(server)
    }

    /// A sandbox that sends its traces here at once.
    async fn sandbox(&self, webhook_url: &str, more: &[(&str, &str)]) -> Sandbox {
        let endpoint = format!("{}/v1/traces", self.0.uri());
        let mut variables = vec![
            ("PREAUTH_TRACES_ENDPOINT", endpoint.as_str()),
            ("OTEL_BSP_SCHEDULE_DELAY", "50"),
        ];
        variables.extend_from_slice(more);
        let flags = ["--rate-limit", "1000000", "--webhook-url", webhook_url];
        Sandbox::start_as(
            Home::of_a_sandbox(Backend::Sqlite).await,
            &flags,
            &variables,
        )
        .await
    }

    async fn bodies(&self) -> Vec<Vec<u8>> {
        let requests = self.0.received_requests().await.unwrap();
        requests.into_iter().map(|request| request.body).collect()
    }

    async fn spans(&self) -> Vec<Seen> {
        let mut all = Vec::new();
        for body in self.bodies().await {
            let sent = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
            let scopes = sent
                .resource_spans
                .into_iter()
                .flat_map(|it| it.scope_spans);
            all.extend(scopes.flat_map(|it| it.spans).map(Seen::of));
        }
        all
    }

    /// Waits until there are `count` spans that `wanted` is true of.
    async fn until(&self, count: usize, wanted: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let wait = async {
            loop {
                let mut found = self.spans().await;
                found.retain(&wanted);
                if found.len() >= count {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait)
            .await
            .expect("the spans arrive")
    }
}

impl Seen {
    fn of(span: Span) -> Self {
        let text = |value: any_value::Value| match value {
            any_value::Value::StringValue(text) => text,
            any_value::Value::IntValue(number) => number.to_string(),
            other => panic!("{other:?}"),
        };
        let attributes = span.attributes.iter().cloned().map(|attribute| {
            let value = attribute.value.and_then(|it| it.value).unwrap();
            (attribute.key, text(value))
        });
        Self {
            attributes: attributes.collect(),
            span,
        }
    }

    fn fact(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    fn trace(&self) -> String {
        hex::encode(&self.span.trace_id)
    }

    fn id(&self) -> String {
        hex::encode(&self.span.span_id)
    }

    fn parent(&self) -> String {
        hex::encode(&self.span.parent_span_id)
    }

    fn is_failed(&self) -> bool {
        self.span
            .status
            .as_ref()
            .is_some_and(|status| status.code == 2)
    }

    fn is_linked_with(&self, other: &Self) -> bool {
        let is_other = |it: &opentelemetry_proto::tonic::trace::v1::span::Link| {
            it.trace_id == other.span.trace_id && it.span_id == other.span.span_id
        };
        self.span.links.iter().any(is_other)
    }
}

/// Creates an offer in the course of a caller's trace.
async fn offer(sandbox: &Sandbox, number: &str, traceparent: &str) {
    let body = offer_body(sandbox, number).to_string();
    let headers = [("traceparent", traceparent)];
    let caller = sandbox.caller("apiKey");
    let created = caller.post_text(PRE_AUTHORIZATIONS, &headers, body).await;
    assert_eq!(created.status, 201, "{}", created.text);
}

#[tokio::test]
async fn a_request_continues_its_callers_trace_and_its_event_is_followed_to_each_attempt() {
    let receiver = TestReceiver::start_failing(1).await;
    let collector = Collector::start(ResponseTemplate::new(200)).await;
    let mut sandbox = collector.sandbox(&receiver.url(), &[]).await;
    offer(&sandbox, "NF-1", &format!("00-{TRACE}-{CALLER}-01")).await;
    let is_attempt = |seen: &Seen| seen.span.name == "attempt";
    collector.until(1, is_attempt).await;
    advance(&sandbox, retry_delays().next().unwrap()).await;
    let attempts = collector.until(2, is_attempt).await;
    let arrived = receiver.arrived(2, sandbox.text("webhookSecret")).await;

    let of_caller = collector.until(2, |seen| seen.trace() == TRACE).await;
    let request = of_caller
        .iter()
        .find(|seen| seen.parent() == CALLER)
        .unwrap();
    assert_eq!(request.span.name, format!("POST {PRE_AUTHORIZATIONS}"));
    assert_eq!(request.fact("http.route"), PRE_AUTHORIZATIONS);
    assert_eq!(request.fact("http.response.status_code"), "201");
    assert_eq!(request.fact("preauth.request.id").len(), 36);
    let commit = of_caller
        .iter()
        .find(|seen| seen.parent() == request.id())
        .unwrap();
    assert_eq!(commit.span.name, "commit");
    assert_eq!(commit.fact("preauth.commit.outcome"), "ok");

    let event_id = arrived[0].body["id"].as_str().unwrap();
    let trace = event_id.replace('-', "");
    let events = collector
        .until(1, |seen| seen.trace() == trace && seen.parent().is_empty())
        .await;
    let event = &events[0];
    assert_eq!(event.span.name, "pre_authorization.created");
    assert_eq!(event.fact("preauth.event.id"), event_id);
    assert!(event.is_linked_with(commit) && commit.is_linked_with(event));

    let facts = |name| {
        attempts
            .iter()
            .map(|seen| seen.fact(name))
            .collect::<Vec<_>>()
    };
    assert_eq!(facts("preauth.attempt"), ["1", "2"]);
    assert_eq!(facts("http.response.status_code"), ["500", "204"]);
    assert_eq!(
        attempts.iter().map(Seen::is_failed).collect::<Vec<_>>(),
        [true, false]
    );
    for attempt in &attempts {
        assert_eq!(
            (attempt.trace(), attempt.parent()),
            (trace.clone(), event.id())
        );
        assert!(attempt.span.start_time_unix_nano <= attempt.span.end_time_unix_nano);
    }

    assert!(sandbox.stop());
    let all = collector.spans().await;
    let probes = all.iter().filter(|seen| seen.span.name.contains("livez"));
    assert_eq!(probes.count(), 0);
    let told: Vec<u8> = collector.bodies().await.concat();
    let told = String::from_utf8_lossy(&told);
    for secret in ["apiKey", "platformToken", "webhookSecret"] {
        assert!(!told.contains(sandbox.text(secret)), "{secret}");
    }
    for personal in ["NF-1", "127.0.0.1"] {
        assert!(!told.contains(personal), "{personal}");
    }
}

#[tokio::test]
async fn a_caller_decides_that_its_request_is_not_traced_and_no_bad_header_hurts() {
    let receiver = TestReceiver::start().await;
    let collector = Collector::start(ResponseTemplate::new(200)).await;
    let sandbox = collector.sandbox(&receiver.url(), &[]).await;
    offer(&sandbox, "NF-1", &format!("00-{TRACE}-{CALLER}-00")).await;
    let bad = [
        String::new(),
        "00".to_owned(),
        format!("ff-{TRACE}-{CALLER}-01"),
        format!("00-{}-{CALLER}-01", "0".repeat(32)),
        format!("00-{TRACE}-{}-01", "0".repeat(16)),
        format!("00-{}-{CALLER}-01", TRACE.to_uppercase()),
        "x".repeat(5_000),
    ];
    for (n, header) in bad.iter().enumerate() {
        offer(&sandbox, &format!("NF-1{n}"), header).await;
    }
    let is_request = |seen: &Seen| seen.fact("http.response.status_code") == "201";
    let requests = collector.until(bad.len(), is_request).await;
    assert_eq!(requests.len(), bad.len());
    for request in &requests {
        assert_ne!(request.trace(), TRACE);
        assert_eq!(request.parent(), "");
    }
    let refused = sandbox.stranger().get(PRE_AUTHORIZATIONS).await;
    assert_eq!(refused.status, 401);
    let refusals = collector
        .until(1, |seen| seen.fact("http.response.status_code") == "401")
        .await;
    assert_eq!(refusals[0].fact("preauth.error.code"), refused.code());
    assert!(
        !refusals[0].is_failed(),
        "a refusal is no failure of the service"
    );
    // What matches no route is not named by what was sent.
    let strange = sandbox
        .stranger()
        .send(Method::PUT, "/12345678000195", &[], None)
        .await;
    assert_eq!(strange.status, 404);
    let unknown = collector
        .until(1, |seen| seen.fact("http.response.status_code") == "404")
        .await;
    assert_eq!(unknown[0].span.name, "PUT");
}

#[tokio::test]
async fn a_collector_that_is_away_or_refuses_costs_spans_only() {
    let receiver = TestReceiver::start().await;
    for (collector, words) in [
        (
            Collector::start(ResponseTemplate::new(503)).await,
            "it answered 503",
        ),
        (
            Collector::start(ResponseTemplate::new(200).set_delay(Duration::from_hours(1))).await,
            "",
        ),
    ] {
        let more = [("RUST_LOG", "warn")];
        let mut sandbox = collector.sandbox(&receiver.url(), &more).await;
        for n in 0..20 {
            offer(&sandbox, &format!("NF-{n}"), "").await;
        }
        receiver.requests(20).await;
        assert!(sandbox.stop(), "it stops in order");
        assert!(sandbox.log().contains(words), "{}", sandbox.log());
        assert!(sandbox.log().matches("takes no traces").count() <= 1);
    }
}

#[tokio::test]
async fn nothing_is_sent_unless_it_is_asked_for_and_a_share_can_be_chosen() {
    let receiver = TestReceiver::start().await;
    let collector = Collector::start(ResponseTemplate::new(200)).await;
    let mut sandbox = collector
        .sandbox(&receiver.url(), &[("PREAUTH_TRACES_PERCENT", "50")])
        .await;
    for n in 0..60 {
        offer(&sandbox, &format!("NF-{n}"), "").await;
    }
    assert!(sandbox.stop());
    let all = collector.spans().await;
    let requests = all
        .iter()
        .filter(|seen| seen.parent().is_empty() && seen.fact("http.route") == PRE_AUTHORIZATIONS);
    // Outside of these bounds with a chance of one in ten million.
    assert!((9..=51).contains(&requests.count()), "{all:?}");
    let mut sandbox = collector
        .sandbox(&receiver.url(), &[("PREAUTH_TRACES_ENDPOINT", "")])
        .await;
    let before = collector.bodies().await.len();
    offer(&sandbox, "NF-1", &format!("00-{TRACE}-{CALLER}-01")).await;
    assert!(sandbox.stop());
    assert_eq!(collector.bodies().await.len(), before);
}
