//! A key's rate window, whoever uses it and over however many connections.

use std::collections::BTreeSet;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use tokio::task::JoinSet;

use crate::support::{Answer, Backend, Sandbox};

on_each_database! {
    a_window_grants_its_limit_over_all_connections_and_never_gives_back,
}

const LIMIT: usize = 40;

fn number(answer: &Answer, name: &str) -> usize {
    let text = answer.header(name);
    text.parse().unwrap_or_else(|_| panic!("{name}: {text:?}"))
}

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
