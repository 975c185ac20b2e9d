//! A wrong clock destroys nothing: `serve` with clocks that faketime sets wrong.

use std::path::Path;

use chrono::TimeDelta;
use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use test_support::{Backend, SettableClock, TestReceiver, faketime, set_by};

use super::served::{Offered, Served, offered};

/// Nothing listens there.
const NOWHERE: &str = "http://127.0.0.1:9/webhooks";
/// 31 days in seconds, give or take half a minute.
const ABOUT_A_MONTH: std::ops::Range<f64> = 2_678_370.0..2_678_430.0;

#[tokio::test]
async fn an_instance_a_month_ahead_closes_no_offer_forgets_no_key_and_reports_itself() {
    let offered = offered(Backend::Postgres, NOWHERE).await;
    let right = offered.serve(&[]).await;
    let library = faketime();
    let wrong = offered.serve(&set_by(&library, "+31d")).await;
    let reason = wrong.wait_until_ready_is(503).await["reason"].to_string();
    assert!(reason.contains("ahead of the database's"), "{reason}");
    wrong.let_loops_step().await;

    assert_eq!(right.status().await, "IN_PRE_AUTH");
    let repeated = right.offer_again(&offered).await;
    assert_eq!(repeated.status, 201, "{}", repeated.text);
    assert_eq!(repeated.header("idempotency-replayed"), "true");

    for answer in [
        wrong.erp.get(PRE_AUTHORIZATIONS).await,
        wrong.offer_again(&offered).await,
        wrong.platform.get("/api/platform/v1/companies").await,
    ] {
        assert_eq!(answer.refusal(), (503, "SERVICE_UNAVAILABLE".to_owned()));
        assert_eq!(answer.header("retry-after"), "30");
        assert!(answer.text.contains("relógio"), "{}", answer.text);
    }
    assert_eq!(wrong.probe("/livez").await.status, 200);
    let scraped = wrong.scrape().await;
    let offset = scraped.value("preauth_clock_offset_seconds", &[]);
    assert!(ABOUT_A_MONTH.contains(&offset), "{offset}");
    assert!(scraped.has_line("preauth_held{reason=\"clock_off\"} 1"));
    assert!(wrong.server.log().contains("ahead of the database's"));
    // The other instance is not affected.
    assert_eq!(right.probe("/readyz").await.text, r#"{"status":"ok"}"#);
}

#[tokio::test]
async fn a_database_a_month_ahead_for_a_while_closes_no_offer_and_forgets_no_key() {
    let offered = offered(Backend::Postgres, NOWHERE).await;
    let clock = settable_clock(&offered).await;
    let before = offered.serve(&[]).await;
    before.wait_until_ready_is(200).await;
    clock.set_ahead(TimeDelta::days(31)).await;
    // This one goes by the wrong clock from its start.
    let during = offered.serve(&[]).await;
    for (server, seen) in [(&during, 0.0), (&before, 1.0)] {
        is_held(server, &offered, "behind the database's", seen).await;
    }
    clock.set_ahead(TimeDelta::zero()).await;
    for server in [&before, &during] {
        serves_again(server, &offered).await;
    }
}

#[tokio::test]
async fn a_database_minutes_behind_for_a_while_closes_no_offer_and_sends_nothing_twice() {
    let receiver = TestReceiver::start().await;
    let offered = offered(Backend::Postgres, &receiver.url()).await;
    let clock = settable_clock(&offered).await;
    let here = [("PREAUTH_WEBHOOKS_ALLOWED_NETWORKS", "127.0.0.0/8")];
    let before = offered.serve(&here).await;
    before.wait_until_ready_is(200).await;
    let offer = async |number: &str| {
        let mut body = offered.body.clone();
        body["invoice"]["number"] = number.into();
        let created = before.erp.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(created.status, 201, "{}", created.text);
    };
    offer("NF-2").await;
    arrived(&receiver, "NF-2").await;
    clock.set_ahead(TimeDelta::minutes(-15)).await;
    // This one goes by the wrong clock from its start.
    let during = offered.serve(&here).await;
    for (server, seen) in [(&during, 0.0), (&before, 1.0)] {
        is_held(server, &offered, "ahead of the database's", seen).await;
    }
    clock.set_ahead(TimeDelta::zero()).await;
    for server in [&before, &during] {
        serves_again(server, &offered).await;
    }
    offer("NF-3").await;
    arrived(&receiver, "NF-3").await;
    assert_eq!(arrived(&receiver, "NF-2").await, 1);
}

async fn settable_clock(offered: &Offered) -> SettableClock {
    let [_, url] = &offered.home.database_flags()[..] else {
        panic!("it has a URL");
    };
    SettableClock::at(url).await
}

/// Waits until an event of this offer has arrived, and returns the number of its requests.
async fn arrived(receiver: &TestReceiver, number: &str) -> usize {
    let mut enough = 1;
    loop {
        let requests = receiver.requests(enough).await;
        let number = format!("\"number\":\"{number}\"");
        let bodies = requests.iter().map(|it| String::from_utf8_lossy(&it.body));
        match bodies.filter(|body| body.contains(&number)).count() {
            0 => enough = requests.len() + 1,
            of_this => return of_this,
        }
    }
}

/// Waits until the server refuses everything for this reason, and has seen the clock jump so often.
async fn is_held(server: &Served, offered: &Offered, expected: &str, seen: f64) {
    let reason = server.wait_until_ready_is(503).await["reason"].to_string();
    assert!(reason.contains(expected), "{reason}");
    let jumps = server.scrape().await.find("preauth_clock_jumps_total", &[]);
    assert_eq!(jumps, Some(seen));
    server.let_loops_step().await;
    let repeated = server.offer_again(offered).await;
    assert_eq!(repeated.refusal(), (503, "SERVICE_UNAVAILABLE".to_owned()));
}

/// The first request that is answered is answered by the right time.
async fn serves_again(server: &Served, offered: &Offered) {
    let repeated = server.offer_again_until_answered(offered).await;
    assert_eq!(repeated.status, 201, "{}", repeated.text);
    assert_eq!(repeated.header("idempotency-replayed"), "true");
    server.wait_until_ready_is(200).await;
    server.let_loops_step().await;
    assert_eq!(server.status().await, "IN_PRE_AUTH");
}

#[tokio::test]
async fn a_clock_that_is_some_seconds_off_serves_by_the_databases_time_and_warns() {
    let offered = offered(Backend::Postgres, NOWHERE).await;
    let library = faketime();
    let server = offered.serve(&set_by(&library, "+20s")).await;
    let warning = server.wait_until_ready_is(200).await["warning"].to_string();
    assert!(warning.contains("s ahead of the database's"), "{warning}");
    let before = preauth_server::clock::Clock::now(&preauth_server::clock::SystemClock);
    let mut body = offered.body.clone();
    body["invoice"]["number"] = "NF-2".into();
    let created = server.erp.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(created.status, 201, "{}", created.text);
    let at = created.json()["createdAt"].as_str().unwrap().to_owned();
    let at = preauth_core::value::Timestamp::parse(&at).unwrap();
    assert!(at.since(before).num_seconds() < 10, "{at} after {before}");
}

#[tokio::test]
async fn a_clock_behind_the_latest_recorded_moment_serves_nothing_unless_it_is_vouched_for() {
    let offered = offered(Backend::Sqlite, NOWHERE).await;
    let library = faketime();
    let late = set_by(&library, "-1h");
    let server = offered.serve(&late).await;
    let reason = server.wait_until_ready_is(503).await["reason"].to_string();
    assert!(
        reason.contains("behind the latest recorded moment"),
        "{reason}"
    );
    assert!(reason.contains("--trust-clock"), "{reason}");
    let refused = server.erp.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(refused.refusal(), (503, "SERVICE_UNAVAILABLE".to_owned()));
    assert_eq!(server.probe("/livez").await.status, 200);
    server.server.stop();
    let [preload, offset, timers] = late;
    let vouched = [preload, offset, timers, ("PREAUTH_TRUST_CLOCK", "true")];
    let server = offered.serve(&vouched).await;
    server.wait_until_ready_is(200).await;
    assert_eq!(server.status().await, "IN_PRE_AUTH");
}

#[tokio::test]
async fn a_clock_that_jumps_a_month_ahead_while_it_runs_closes_no_offer_and_forgets_no_key() {
    let offered = offered(Backend::Sqlite, NOWHERE).await;
    let (library, file) = (faketime(), offered.home.folder().join("clock"));
    set(&file, "+0");
    let settings = [
        ("LD_PRELOAD", library.as_str()),
        ("FAKETIME_TIMESTAMP_FILE", file.to_str().unwrap()),
        ("FAKETIME_NO_CACHE", "1"),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    let server = offered.serve(&settings).await;
    server.wait_until_ready_is(200).await;
    set(&file, "+31d");
    let jumped = [("reason", "clock_jumped")];
    server.wait_for("preauth_held", &jumped, 1.0).await;
    server.let_loops_step().await;
    assert_eq!(server.status().await, "IN_PRE_AUTH");
    let repeated = server.offer_again(&offered).await;
    assert_eq!(repeated.header("idempotency-replayed"), "true");
    let scraped = server.scrape().await;
    assert_eq!(scraped.find("preauth_clock_jumps_total", &[]), Some(1.0));
    let ready = server.wait_until_ready_is(200).await["warning"].to_string();
    assert!(ready.contains("jumped by 2678"), "{ready}");
    // Corrected before the clock was stable for a minute: it was never used.
    set(&file, "+0");
    server.wait_for("preauth_held", &jumped, 0.0).await;
    assert_eq!(server.status().await, "IN_PRE_AUTH");
    let log = server.server.stop();
    assert!(log.contains("this machine's clock jumped by"));
    assert!(log.contains("no longer held"));
}

/// Replaces the file atomically, so that a reader never sees half of it.
fn set(file: &Path, offset: &str) {
    let new = file.with_extension("new");
    std::fs::write(&new, format!("{offset}\n")).unwrap();
    std::fs::rename(new, file).unwrap();
}
