//! After known traffic the counters have exactly the expected values.

use std::time::Duration;

use preauth_client::wire::path::{CANCEL_ROUTE, PRE_AUTHORIZATION_ROUTE, PRE_AUTHORIZATIONS};

use test_support::{Backend, Sandbox, TestReceiver, offer_body, on_each_database};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::exposition::Exposition;
use super::server::{name, scrape, scrape_until};

on_each_database! {
    counters_match_the_traffic_exactly,
    requests_beyond_the_rate_of_a_key_are_counted,
    a_delivery_waiting_for_its_receiver_is_in_progress_and_not_overdue,
    a_slow_endpoint_is_counted_until_it_answers_sooner,
}

const MAIL_SENT: &str = r#"preauth_notice_attempts_total{outcome="sent"} 1"#;
const KEY: (&str, &str) = ("idempotency-key", "traffic-1");

/// The counters after [`pass`] and the arrival of its two events; the receiver fails once.
const AFTER_PASS: &str = r#"
preauth_http_requests_total{api="integration",method="POST",route="/api/integration/v1/pre-authorizations",status="2xx"} 2
preauth_http_requests_total{api="integration",method="POST",route="/api/integration/v1/pre-authorizations",status="4xx"} 1
preauth_http_requests_total{api="integration",method="GET",route="/api/integration/v1/pre-authorizations/{id}",status="2xx"} 1
preauth_http_requests_total{api="integration",method="GET",route="/api/integration/v1/pre-authorizations/{id}",status="4xx"} 1
preauth_http_requests_total{api="integration",method="POST",route="/api/integration/v1/pre-authorizations/{id}/cancel",status="2xx"} 1
preauth_http_requests_total{api="integration",method="GET",route="unmatched",status="4xx"} 1
preauth_http_request_duration_seconds_count{api="integration",method="POST",route="/api/integration/v1/pre-authorizations"} 3
preauth_http_requests_in_flight{api="integration"} 0
preauth_http_requests_in_flight{api="platform"} 1
preauth_refusals_total{api="integration",code="PRE_AUTH_DUPLICATE_INVOICE"} 1
preauth_refusals_total{api="integration",code="API_KEY_INVALID"} 1
preauth_refusals_total{api="integration",code="NOT_FOUND"} 1
preauth_refusals_total{api="integration",code="VALIDATION_ERROR"} 0
preauth_rate_limited_requests_total{limit="key"} 0
preauth_idempotent_replays_total 1
preauth_commits_total{outcome="ok",write="new_operation"} 1
preauth_commits_total{outcome="conflict",write="new_operation"} 0
preauth_commits_total{outcome="ok",write="operation"} 1
preauth_commits_total{outcome="unknown",write="operation"} 0
preauth_commit_duration_seconds_count{write="new_operation"} 1
preauth_events_recorded_total{type="pre_authorization.created"} 1
preauth_events_recorded_total{type="pre_authorization.revoked"} 1
preauth_events_recorded_total{type="pre_authorization.expired"} 0
preauth_delivery_attempts_total{outcome="delivered"} 2
preauth_delivery_attempts_total{outcome="retried"} 1
preauth_delivery_attempts_total{outcome="given_up"} 0
preauth_delivery_attempts_total{outcome="lease_lost"} 0
preauth_delivery_attempt_duration_seconds_count{result="2xx"} 2
preauth_delivery_attempt_duration_seconds_count{result="5xx"} 1
preauth_endpoint_pauses_total 0
preauth_dispatcher_slots 1536
preauth_deliveries_due 0
preauth_deliveries_oldest_due_age_seconds 0
preauth_deliveries_oldest_retrying_age_seconds 0
preauth_deliveries_paused 0
preauth_deliveries_retrying 0
preauth_endpoints_failing 0
preauth_endpoints_paused 0
preauth_endpoints_slow 0
preauth_notices_staged 0
preauth_offers_overdue 0
preauth_offers_oldest_overdue_age_seconds 0
preauth_key_end_seconds{kind="operator_token"} 5184000
preauth_notice_attempts_total{outcome="sent"} 1
preauth_notice_attempts_total{outcome="given_up"} 0
preauth_loop_failures_total{loop="dispatcher"} 0
preauth_database_up 1
"#;

/// An offer, created and replayed under its key, refused without it, read, cancelled; two invalid
/// requests.
async fn pass(sandbox: &Sandbox) {
    let caller = sandbox.caller("apiKey");
    let body = offer_body(sandbox, "NF-1").to_string();
    let mut statuses = Vec::new();
    for headers in [&[KEY][..], &[KEY], &[]] {
        let answer = caller.post_text(PRE_AUTHORIZATIONS, headers, body.as_str());
        statuses.push(answer.await.status);
    }
    let one = PRE_AUTHORIZATION_ROUTE.replace("{id}", "1");
    statuses.push(caller.get(&one).await.status);
    // The mail of a closed offer would not be sent.
    scrape_until(sandbox, |scraped| scraped.has_line(MAIL_SENT)).await;
    let cancel = CANCEL_ROUTE.replace("{id}", "1");
    statuses.push(caller.post(&cancel).await.status);
    statuses.push(sandbox.stranger().get(&one).await.status);
    statuses.push(caller.get("/nowhere").await.status);
    assert_eq!(statuses, [201, 201, 409, 200, 201, 401, 404]);
}

async fn counters_match_the_traffic_exactly(backend: Backend) {
    let receiver = TestReceiver::start_failing(1).await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    pass(&sandbox).await;
    let both = r#"preauth_delivery_attempts_total{outcome="delivered"} 2"#;
    // What is due is counted in the database, a little apart from the attempts.
    let is_over = |scraped: &Exposition| {
        scraped.has_line(both) && scraped.has_line("preauth_deliveries_due 0")
    };
    let scraped = scrape_until(&sandbox, is_over).await;
    for line in AFTER_PASS.trim().lines() {
        assert!(scraped.has_line(line), "{line} in {}", scraped.text);
    }
    let (version, database) = (env!("CARGO_PKG_VERSION"), name(backend));
    let build = format!(r#"preauth_build_info{{database="{database}",version="{version}"}} 1"#);
    assert!(scraped.has_line(&build), "{build} in {}", scraped.text);
    loops_have_stepped(&scraped, backend);
}

fn loops_have_stepped(scraped: &Exposition, backend: Backend) {
    let started_at = scraped.value("process_start_time_seconds", &[]);
    let mut expected = vec![
        "dispatcher",
        "janitor",
        "notices",
        "numberer",
        "sealer",
        "sweeper",
    ];
    if backend == Backend::Sqlite {
        expected.push("writer");
    }
    let name = "preauth_loop_last_step_timestamp_seconds";
    let loops: Vec<String> = scraped.labels(name, "loop").into_iter().collect();
    assert_eq!(loops, expected);
    let last = scraped.value(name, &[("loop", "dispatcher")]);
    assert!(last >= started_at, "{last} is before {started_at}");
}

async fn requests_beyond_the_rate_of_a_key_are_counted(backend: Backend) {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", "2"]).await;
    let caller = sandbox.caller("apiKey");
    for _ in 0..5 {
        caller.get(PRE_AUTHORIZATIONS).await;
    }
    let scraped = scrape(&sandbox).await;
    for line in [
        r#"preauth_refusals_total{api="integration",code="RATE_LIMITED"} 3"#,
        r#"preauth_rate_limited_requests_total{limit="key"} 3"#,
        r#"preauth_rate_limited_requests_total{limit="address"} 0"#,
    ] {
        assert!(scraped.has_line(line), "{line} in {}", scraped.text);
    }
}

async fn a_delivery_waiting_for_its_receiver_is_in_progress_and_not_overdue(backend: Backend) {
    // Accepts connections and answers nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let sandbox = Sandbox::start_sending_to(backend, &url).await;
    let body = offer_body(&sandbox, "NF-1");
    let caller = sandbox.caller("apiKey");
    let created = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(created.status, 201);
    let under_way = "preauth_dispatcher_slots_in_use 1";
    scrape_until(&sandbox, |scraped| scraped.has_line(under_way)).await;
    // The figures that this scrape read first may be from before the lease.
    let scraped = scrape(&sandbox).await;
    for line in [
        "preauth_deliveries_due 1",
        // Under a lease, so no other worker has to take it.
        "preauth_deliveries_oldest_due_age_seconds 0",
    ] {
        assert!(scraped.has_line(line), "{line} in {}", scraped.text);
    }
}

async fn a_slow_endpoint_is_counted_until_it_answers_sooner(backend: Backend) {
    let receiver = MockServer::start().await;
    let late = ResponseTemplate::new(204).set_delay(Duration::from_millis(1_100));
    let once = Mock::given(any()).respond_with(late).up_to_n_times(1);
    once.with_priority(1).mount(&receiver).await;
    let at_once = Mock::given(any()).respond_with(ResponseTemplate::new(204));
    at_once.mount(&receiver).await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.uri()).await;
    let caller = sandbox.caller("apiKey");
    for (number, counted, delivered) in [("NF-1", 1, 1), ("NF-2", 0, 2)] {
        let body = offer_body(&sandbox, number);
        let created = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(created.status, 201);
        // It counts as slow before its answer is there: the next offer must not overtake that.
        let lines = [
            format!("preauth_endpoints_slow {counted}"),
            format!("preauth_delivery_attempts_total{{outcome=\"delivered\"}} {delivered}"),
        ];
        scrape_until(&sandbox, |scraped| {
            lines.iter().all(|it| scraped.has_line(it))
        })
        .await;
    }
    let scraped = scrape(&sandbox).await;
    assert!(scraped.value("process_cpu_seconds_total", &[]) > 0.0);
    assert!(scraped.value("process_threads", &[]) >= 1.0);
}
