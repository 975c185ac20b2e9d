//! The operator token is rotated without downtime: two are accepted for a while.

use std::sync::Arc;

use test_support::{Backend, Home, LOG_EVERYTHING, RawCaller, Server, on_each_database};

const OLD: &str = "the-operator-token-in-force";
const NEW: &str = "the-operator-token-to-come";
const NEXT: &str = "PREAUTH_PLATFORM_TOKEN_NEXT";
const PATH: &str = "/api/platform/v1/companies";

on_each_database! {
    two_tokens_are_accepted_and_the_log_names_the_one_in_use,
}

async fn status(server: &Server, token: &str) -> u16 {
    let caller = RawCaller::new(&server.platform_url, Some(token));
    caller.get(PATH).await.status
}

#[track_caller]
fn uses(log: &str, setting: &str) -> usize {
    let lines = log
        .lines()
        .filter(|line| line.contains("used within this hour"));
    lines
        .filter(|line| line.contains(&format!("\"{setting}\"")))
        .count()
}

async fn two_tokens_are_accepted_and_the_log_names_the_one_in_use(backend: Backend) {
    let home = Home::new(backend).await;
    let server = Server::start_with(home, OLD, &[(NEXT, NEW), LOG_EVERYTHING]).await;
    for _ in 0..3 {
        assert_eq!(status(&server, OLD).await, 200);
    }
    assert_eq!(uses(&server.log(), "platform_token_next"), 0);
    assert_eq!(status(&server, NEW).await, 200);
    for wrong in [
        "",
        "the-operator-token-in-force2",
        "the-operator-token-to-com",
    ] {
        assert_eq!(status(&server, wrong).await, 401, "{wrong}");
    }
    let log = server.stop();
    assert_eq!(uses(&log, "platform_token"), 1, "{log}");
    assert_eq!(uses(&log, "platform_token_next"), 1, "{log}");
    assert!(
        !log.contains(OLD) && !log.contains(NEW),
        "a token is in the log"
    );
}

#[tokio::test]
async fn instances_change_the_token_one_after_the_other() {
    let home = Arc::new(Home::new(Backend::Postgres).await);
    let start = async |token, next: &[(&str, &str)]| {
        Server::start_with(Arc::clone(&home), token, next).await
    };
    let both: &[_] = &[(NEXT, NEW)];
    let [mut here, mut there] = [start(OLD, &[]).await, start(OLD, &[]).await];
    // First each instance accepts the new token, too; the old one is valid everywhere.
    for step in 0..2 {
        let one = if step == 0 { &mut here } else { &mut there };
        *one = start(OLD, both).await;
        for server in [&here, &there] {
            assert_eq!(status(server, OLD).await, 200);
        }
    }
    // Then no client uses the old token, and each instance drops it; the new one is valid
    // everywhere.
    for step in 0..2 {
        let one = if step == 0 { &mut here } else { &mut there };
        *one = start(NEW, &[]).await;
        for server in [&here, &there] {
            assert_eq!(status(server, NEW).await, 200);
        }
    }
    for server in [&here, &there] {
        assert_eq!(status(server, OLD).await, 401);
    }
}
