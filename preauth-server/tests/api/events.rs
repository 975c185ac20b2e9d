//! GET /events: events on request.

use std::time::Duration;

use preauth_client::value::OperationId;
use preauth_client::wire::path::{EVENTS, PRE_AUTHORIZATIONS, cancel};
use reqwest::Method;
use serde_json::{Value, json};
use test_support::travel::{DAY, advance};
use test_support::{Backend, RawCaller, Sandbox, offer_body, on_each_database};
use tokio::time::Instant;

on_each_database! {
    events_are_those_of_webhooks_byte_for_byte,
    a_reader_goes_on_where_it_stopped,
    a_wait_ends_with_the_next_event_or_with_its_time,
    a_wait_counts_once_in_the_rate_window,
    parameters_and_cursors_that_are_not_ours_are_refused,
    a_cursor_is_of_one_company_alone,
    a_cursor_of_another_environment_is_none,
    events_are_kept_for_their_days,
}

/// The page at `query`.
async fn events(caller: &RawCaller, query: &str) -> Value {
    let answer = caller.get(&format!("{EVENTS}?{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

fn types(page: &Value) -> Vec<&str> {
    let data = page["data"].as_array().unwrap();
    data.iter().map(|it| it["type"].as_str().unwrap()).collect()
}

fn next(page: &Value) -> String {
    format!("after={}", page["pagination"]["next"].as_str().unwrap())
}

async fn offer(sandbox: &Sandbox, number: &str) -> OperationId {
    let body = offer_body(sandbox, number);
    let made = sandbox
        .caller("apiKey")
        .post_json(PRE_AUTHORIZATIONS, &body)
        .await;
    assert_eq!(made.status, 201, "{}", made.text);
    OperationId::new(made.json()["id"].as_i64().unwrap()).unwrap()
}

async fn events_are_those_of_webhooks_byte_for_byte(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let id = offer(&sandbox, "NF-1").await;
    assert_eq!(caller.post(&cancel(id)).await.status, 201);
    let company = sandbox.company().await;
    let test = format!("/api/platform/v1/companies/{company}/webhook-endpoint/test");
    assert_eq!(sandbox.platform().post(&test).await.status, 200);
    let answer = caller.get(&format!("{EVENTS}?limit=100")).await;
    let page = answer.json();
    assert_eq!(
        types(&page),
        ["pre_authorization.created", "pre_authorization.revoked"]
    );
    assert_eq!(page["pagination"]["hasMore"], json!(false));
    assert_eq!(page.as_object().unwrap().len(), 2);
    assert_eq!(page["pagination"].as_object().unwrap().len(), 2);
    let deliveries = format!("/api/platform/v1/companies/{company}/deliveries?limit=100");
    let deliveries = sandbox.platform().get(&deliveries).await.json();
    let mut compared = 0;
    for delivery in deliveries["data"].as_array().unwrap() {
        if delivery["eventType"] == "webhook.test" {
            continue;
        }
        let path = format!(
            "/api/platform/v1/deliveries/{}",
            delivery["id"].as_str().unwrap()
        );
        let delivery = sandbox.platform().get(&path).await.json();
        let body = delivery["body"].as_str().unwrap();
        assert!(answer.text.contains(body), "{body}\n{}", answer.text);
        compared += 1;
    }
    assert_eq!(compared, 2);
    let filtered = events(
        &caller,
        "type=pre_authorization.revoked&type=anticipation.paid",
    )
    .await;
    assert_eq!(types(&filtered), ["pre_authorization.revoked"]);
    assert_eq!(
        events(&caller, "type=webhook.test").await["data"],
        json!([])
    );
}

async fn a_reader_goes_on_where_it_stopped(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let empty = events(&caller, "").await;
    assert_eq!(empty["data"], json!([]));
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(offer(&sandbox, &format!("NF-{n}")).await.get());
    }
    let mut cursor = next(&empty);
    let mut seen = Vec::new();
    loop {
        let page = events(&caller, &format!("{cursor}&limit=2")).await;
        let data = page["data"].as_array().unwrap();
        seen.extend(
            data.iter()
                .map(|it| it["data"]["anticipationId"].as_i64().unwrap()),
        );
        cursor = next(&page);
        if page["pagination"]["hasMore"] == false {
            break;
        }
        assert_eq!(data.len(), 2);
    }
    assert_eq!(seen, ids);
    assert_eq!(events(&caller, &cursor).await["data"], json!([]));
    let all = events(&caller, "").await;
    assert_eq!(all["data"].as_array().unwrap().len(), 5);
    assert_eq!(next(&all), cursor);
    let head = caller.send(Method::HEAD, EVENTS, &[], None).await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
}

async fn a_wait_ends_with_the_next_event_or_with_its_time(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let begin = Instant::now();
    let empty = events(&caller, "wait=1").await;
    assert_eq!(empty["data"], json!([]));
    assert!(begin.elapsed() >= Duration::from_millis(900));
    let query = format!("{}&wait=30", next(&empty));
    let begin = Instant::now();
    let (page, _) = tokio::join!(events(&caller, &query), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        offer(&sandbox, "NF-1").await
    });
    assert_eq!(types(&page), ["pre_authorization.created"]);
    assert!(
        begin.elapsed() < Duration::from_secs(15),
        "{:?}",
        begin.elapsed()
    );
    // It answers at once when there is something.
    let begin = Instant::now();
    assert_eq!(events(&caller, &query).await, page);
    assert!(begin.elapsed() < Duration::from_secs(10));
}

/// Although the key is looked at again when the wait ends.
async fn a_wait_counts_once_in_the_rate_window(backend: Backend) {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", "120"]).await;
    let caller = sandbox.caller("apiKey");
    let mut remaining = Vec::new();
    for query in ["limit=1", "wait=2", "limit=1"] {
        let answer = caller.get(&format!("{EVENTS}?{query}")).await;
        let left: usize = answer.header("x-ratelimit-remaining").parse().unwrap();
        remaining.push(left);
    }
    assert_eq!(remaining, [119, 118, 117]);
}

async fn parameters_and_cursors_that_are_not_ours_are_refused(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    offer(&sandbox, "NF-1").await;
    let cursor = next(&events(&caller, "").await);
    let shorter = &cursor[..cursor.len() - 1];
    for (query, field) in [
        ("wait=31", "wait"),
        ("wait=-1", "wait"),
        ("wait=1.5", "wait"),
        ("wait=1&wait=1", "wait"),
        ("wait=", "wait"),
        ("wait=+1", "wait"),
        ("wait=agora", "wait"),
        ("wait=18446744073709551616", "wait"),
        ("limit=", "limit"),
        ("limit=10&limit=10", "limit"),
        ("limit=4294967297", "limit"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("type=pre_authorization.invented", "type"),
        ("type=", "type"),
        ("type[]=pre_authorization.created", "type"),
        ("type=pre_authorization.created,anticipation.paid", "type"),
        ("after=", "after"),
        ("after=42", "after"),
        ("after=%00%ff", "after"),
        ("after=../../etc/passwd", "after"),
        (shorter, "after"),
        (&format!("{cursor}A"), "after"),
        (&format!("{cursor}&{cursor}"), "after"),
        (&format!("after={}", "A".repeat(2_000)), "after"),
    ] {
        let answer = caller.get(&format!("{EVENTS}?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
        let body = answer.json();
        assert_eq!(body["errors"][0]["code"], "VALIDATION_ERROR", "{query}");
        assert_eq!(body["details"][0]["field"], field, "{query}");
    }
    let several = caller
        .get(&format!("{EVENTS}?limit=0&wait=99&after=x"))
        .await
        .json();
    assert_eq!(several["errors"].as_array().unwrap().len(), 3);
    assert_eq!(caller.post(EVENTS).await.status, 405);
}

async fn a_cursor_is_of_one_company_alone(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let (head_office, branch) = (sandbox.caller("apiKey"), sandbox.caller("branchApiKey"));
    offer(&sandbox, "NF-1").await;
    let of_head_office = events(&head_office, "").await;
    let of_branch = events(&branch, "").await;
    assert_eq!(of_head_office["data"].as_array().unwrap().len(), 1);
    assert_eq!(of_branch["data"], json!([]));
    for (caller, page) in [(&branch, &of_head_office), (&head_office, &of_branch)] {
        let answer = caller.get(&format!("{EVENTS}?{}", next(page))).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
    }
}

/// Each sandbox has a master key of its own, as each environment does.
async fn a_cursor_of_another_environment_is_none(backend: Backend) {
    let (here, there) = (Sandbox::start(backend).await, Sandbox::start(backend).await);
    let (caller, stranger) = (here.caller("apiKey"), there.caller("apiKey"));
    offer(&here, "NF-1").await;
    offer(&there, "NF-1").await;
    let cursor = next(&events(&stranger, "").await);
    let refused = caller.get(&format!("{EVENTS}?{cursor}&wait=30")).await;
    assert_eq!(refused.refusal(), (400, "VALIDATION_ERROR".to_owned()));
    assert_eq!(refused.fields(), ["after"]);
    assert_eq!(types(&events(&stranger, &cursor).await), [""; 0]);
}

// Contract: error-code-of-ours/EVENT_CURSOR_EXPIRED
async fn events_are_kept_for_their_days(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let before = next(&events(&caller, "").await);
    offer(&sandbox, "NF-1").await;
    let all = next(&events(&caller, "").await);
    advance(&sandbox, 31 * DAY).await;
    // In that time the first offer has expired.
    offer(&sandbox, "NF-2").await;
    let begin = Instant::now();
    loop {
        let page = events(&caller, "").await;
        if types(&page).first() != Some(&"pre_authorization.created")
            || page["data"][0]["data"]["invoice"]["number"] == "NF-2"
        {
            break;
        }
        assert!(begin.elapsed() < Duration::from_mins(3), "{page}");
        tokio::time::sleep(Duration::from_millis(200)).await;
        advance(&sandbox, 1).await;
    }
    let page = events(&caller, &all).await;
    let numbers: Vec<_> = page["data"].as_array().unwrap().iter().collect();
    assert!(
        numbers
            .iter()
            .any(|it| it["data"]["invoice"]["number"] == "NF-2"),
        "{page}"
    );
    let expired = caller.get(&format!("{EVENTS}?{before}&wait=30")).await;
    assert_eq!(expired.status, 410, "{}", expired.text);
    assert_eq!(expired.json()["errors"][0]["code"], "EVENT_CURSOR_EXPIRED");
}
