//! A key's rate window is shared by all its users and connections.

use std::collections::BTreeSet;
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use test_support::{Answer, Backend, Sandbox, offer_body, on_each_database};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::write_lock::WriteLock;

on_each_database! {
    a_window_grants_its_limit_over_all_connections_and_never_gives_back,
    gets_and_lists_are_counted_while_no_operation_can_be_written,
    an_exhausted_key_is_refused_while_nothing_can_be_written,
    an_exhausted_key_that_is_revoked_is_refused_as_revoked_at_once,
}

const LIMIT: usize = 40;

fn number(answer: &Answer, name: &str) -> usize {
    let text = answer.header(name);
    text.parse().unwrap_or_else(|_| panic!("{name}: {text:?}"))
}

// Contract: every-call/X-RateLimit-Remaining limit/Retry-After
async fn a_window_grants_its_limit_over_all_connections_and_never_gives_back(backend: Backend) {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", &LIMIT.to_string()]).await;
    let mut connections = JoinSet::new();
    for _ in 0..8 {
        let caller = sandbox.caller("apiKey");
        connections.spawn(async move {
            let mut answers = Vec::new();
            for _ in 0..10 {
                answers.push(caller.get(PRE_AUTHORIZATIONS).await);
            }
            answers
        });
    }
    let by_connection = connections.join_all().await;
    let mut windows = 1;
    for answers in &by_connection {
        let began = answers.windows(2).filter(|pair| {
            let [resets, left] = ["x-ratelimit-reset", "x-ratelimit-remaining"]
                .map(|name| [number(&pair[0], name), number(&pair[1], name)]);
            let is_new = resets[1] > resets[0];
            assert!(
                is_new || left[1] <= left[0],
                "{left:?} left within one window"
            );
            is_new
        });
        windows = windows.max(1 + began.count());
    }
    let all = || by_connection.iter().flatten();
    let granted: Vec<_> = all().filter(|answer| answer.status == 200).collect();
    assert!(
        granted.len() <= LIMIT * windows,
        "{} in {windows} windows",
        granted.len()
    );
    for answer in all().filter(|answer| answer.status != 200) {
        assert_eq!(answer.refusal(), (429, "RATE_LIMITED".to_owned()));
        assert_eq!(number(answer, "x-ratelimit-remaining"), 0);
        assert_eq!(
            answer.header("retry-after"),
            answer.header("x-ratelimit-reset")
        );
    }
    if windows == 1 {
        let left: BTreeSet<_> = granted
            .iter()
            .map(|answer| number(answer, "x-ratelimit-remaining"))
            .collect();
        assert_eq!(left, (0..LIMIT).collect(), "each place is given once");
    }
}

/// A sandbox with a key whose window is used up.
async fn exhausted(backend: Backend) -> Sandbox {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", "3"]).await;
    let caller = sandbox.caller("apiKey");
    for status in [200, 200, 200, 429] {
        assert_eq!(caller.get(PRE_AUTHORIZATIONS).await.status, status);
    }
    sandbox
}

async fn gets_and_lists_are_counted_while_no_operation_can_be_written(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let offer = offer_body(&sandbox, "NF-1");
    let created = caller.post_json(PRE_AUTHORIZATIONS, &offer).await;
    let id = &created.json()["id"];
    let paths = [
        PRE_AUTHORIZATIONS.to_owned(),
        format!("{PRE_AUTHORIZATIONS}/{id}"),
    ];
    let lock = WriteLock::of_operations(&sandbox).await;
    let mut left = number(&created, "x-ratelimit-remaining");
    for path in paths.iter().cycle().take(20) {
        // Waiting for the lock would take five seconds.
        let asked = timeout(Duration::from_secs(3), caller.get(path)).await;
        let answer = asked.expect("reading waits for no commit");
        assert_eq!(answer.status, 200, "{}", answer.text);
        left -= 1;
        assert_eq!(number(&answer, "x-ratelimit-remaining"), left);
    }
    lock.let_go().await;
}

async fn an_exhausted_key_is_refused_while_nothing_can_be_written(backend: Backend) {
    let sandbox = exhausted(backend).await;
    let caller = sandbox.caller("apiKey");
    let lock = WriteLock::of_all(&sandbox).await;
    for _ in 0..50 {
        // Waiting for the lock would take five seconds.
        let asked = timeout(Duration::from_secs(3), caller.get(PRE_AUTHORIZATIONS)).await;
        let answer = asked.expect("a refusal waits for no commit");
        assert_eq!(answer.refusal(), (429, "RATE_LIMITED".to_owned()));
        assert_eq!(number(&answer, "x-ratelimit-limit"), 3);
        assert_eq!(number(&answer, "x-ratelimit-remaining"), 0);
        let reset = number(&answer, "x-ratelimit-reset");
        assert!((1..=60).contains(&reset), "{reset}");
        assert_eq!(number(&answer, "retry-after"), reset);
    }
    lock.let_go().await;
    let other = sandbox.caller("readOnlyApiKey");
    assert_eq!(other.get(PRE_AUTHORIZATIONS).await.status, 200);
}

async fn an_exhausted_key_that_is_revoked_is_refused_as_revoked_at_once(backend: Backend) {
    let sandbox = exhausted(backend).await;
    let (caller, platform) = (sandbox.caller("apiKey"), sandbox.platform());
    let company = sandbox.company().await;
    let keys = format!("/api/platform/v1/companies/{company}/api-keys?limit=100");
    let keys = platform.get(&keys).await.json();
    for key in keys["data"].as_array().unwrap() {
        let id = key["id"].as_str().unwrap();
        let key = format!("/api/platform/v1/api-keys/{id}");
        let revoked = platform.send(Method::DELETE, &key, &[], None).await;
        assert!(revoked.status < 300, "{}", revoked.text);
    }
    let refused = caller.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(refused.refusal(), (401, "API_KEY_REVOKED".to_owned()));
}
