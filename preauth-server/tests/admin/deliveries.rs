//! Endpoints and the deliveries to them.

use serde_json::json;
use test_support::{
    Backend, Sandbox, TestReceiver,
    travel::{advance, retry_delays},
};

use crate::operator::{COMPANY, Operator, value};

#[tokio::test]
async fn an_endpoint_is_set_paused_rotated_and_deleted() {
    let operator = Operator::start().await;
    let url = "http://127.0.0.1:9/webhooks";
    let set = [
        "endpoint",
        "set",
        COMPANY,
        url,
        "--event",
        "anticipation.paid,anticipation.billed",
    ];
    let changed = operator.stdout(&set);
    assert_eq!(value(&changed, "URL"), url);
    assert_eq!(
        value(&changed, "events"),
        "anticipation.paid, anticipation.billed"
    );
    assert!(!changed.contains("whsec_"), "{changed}");
    assert_eq!(operator.stdout(&["endpoint", "show", COMPANY]), changed);

    assert_eq!(
        value(&operator.stdout(&["endpoint", "pause", COMPANY]), "status"),
        "PAUSED"
    );
    assert_eq!(
        operator.json(&["endpoint", "resume", COMPANY])["status"],
        "ACTIVE"
    );

    let rotated = operator.stdout(&["endpoint", "rotate", COMPANY, "--overlap-hours", "24"]);
    let secret = rotated.lines().last().unwrap();
    assert!(
        secret.starts_with("whsec_") && !secret.contains(' '),
        "{rotated}"
    );
    let again = operator.json(&["endpoint", "rotate", COMPANY, "--yes"]);
    assert_ne!(again["secret"], secret);

    let delete = ["endpoint", "delete", COMPANY, "--yes"];
    assert_eq!(operator.stdout(&delete), "the endpoint is deleted\n");
    operator.run(&delete).failed(1, &["RESOURCE_NOT_FOUND"]);
    let without_events = operator.run(&["endpoint", "set", COMPANY, url]);
    without_events.failed(1, &["VALIDATION_ERROR", "events"]);
    let registered = operator.json(&["endpoint", "set", COMPANY, url, "--all-events"]);
    assert_eq!(registered["events"].as_array().unwrap().len(), 25);
    let chosen = ["--event", "anticipation.paid"];
    let changed = operator.json(&[&["endpoint", "set", COMPANY, url][..], &chosen].concat());
    assert_eq!(changed["events"], json!(["anticipation.paid"]));
    let moved = operator.json(&["endpoint", "set", COMPANY, &format!("{url}/new")]);
    assert_eq!(moved["url"], format!("{url}/new"));
    assert_eq!(moved["events"], json!(["anticipation.paid"]));
    assert!(registered["secret"].as_str().unwrap().starts_with("whsec_"));
    assert_eq!(operator.json(&delete), json!({}));
}

#[tokio::test]
async fn deliveries_are_listed_shown_and_resent() {
    let receiver = TestReceiver::start().await;
    let operator = Operator::of(Sandbox::start_sending_to(Backend::Sqlite, &receiver.url()).await);
    operator.offer("NF-1").await;
    receiver
        .arrived(1, operator.sandbox.text("webhookSecret"))
        .await;
    let id = loop {
        // The receiver may have answered before the delivery is marked as delivered.
        let found = operator.json(&["delivery", "list", COMPANY, "--status", "delivered"]);
        if let Some(id) = found["data"][0]["id"].as_str() {
            break id.to_owned();
        }
        tokio::task::yield_now().await;
    };
    let listed = operator.stdout(&[
        "delivery",
        "list",
        COMPANY,
        "--event",
        "pre_authorization.created",
    ]);
    let row = listed.lines().nth(1).unwrap();
    assert!(
        row.starts_with(&id) && row.contains("DELIVERED"),
        "{listed}"
    );

    let shown = operator.stdout(&["delivery", "show", &id]);
    assert_eq!(value(&shown, "type"), "pre_authorization.created");
    let attempt = shown
        .lines()
        .skip_while(|line| *line != "Attempts")
        .nth(2)
        .unwrap();
    assert!(
        attempt.starts_with("1 ") && attempt.contains(" 204 "),
        "{shown}"
    );
    let body = shown.lines().last().unwrap();
    assert!(body.starts_with(r#"{"id":"#), "{shown}");

    let resent = operator.json(&["delivery", "resend", &id]);
    assert_eq!(resent["id"], id.as_str());
    receiver
        .arrived(2, operator.sandbox.text("webhookSecret"))
        .await;
}

#[tokio::test]
async fn a_test_event_is_sent_and_what_failed_is_sent_again() {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(Backend::Sqlite, &receiver.url()).await;
    let operator = Operator::of(sandbox);
    let tested = operator.stdout(&["endpoint", "test", COMPANY]);
    assert_eq!(value(&tested, "type"), "webhook.test");
    receiver
        .arrived(1, operator.sandbox.text("webhookSecret"))
        .await;
    assert_eq!(
        operator.json(&["endpoint", "test", COMPANY])["eventType"],
        "webhook.test"
    );

    // Queued deliveries of a deleted endpoint have failed and are not resent.
    let since = "2026-01-01 00:00:00Z";
    let resend = ["delivery", "resend-failed", COMPANY, "--since", since];
    let none = operator.stdout(&resend);
    assert_eq!(value(&none, "deliveries sent again"), "0");
    assert_eq!(operator.json(&resend), json!({"count": 0}));
    operator
        .run(&["delivery", "resend-failed", COMPANY, "--since", "today"])
        .failed(2, &["not of the form"]);
}

#[tokio::test]
async fn master_keys_are_shown_and_every_secret_is_encrypted_anew() {
    let operator = Operator::start().await;
    let shown = operator.json(&["master-key", "show"]);
    assert_eq!(shown["keys"][0]["secrets"], 1);
    let table = operator.stdout(&["master-key", "show"]);
    assert_eq!(value(&table, "active"), shown["active"].as_str().unwrap());
    assert!(table.contains("KNOWN HERE"), "{table}");
    let done = operator.stdout(&["master-key", "reencrypt"]);
    assert_eq!(value(&done, "secrets encrypted anew"), "0");
    assert_eq!(value(&done, "secrets that no key opens"), "0");
}

#[tokio::test]
async fn one_command_sends_all_failed_deliveries_again() {
    let receiver = TestReceiver::start_failing(11).await;
    let sandbox = Sandbox::start_sending_to(Backend::Sqlite, &receiver.url()).await;
    let operator = Operator::of(sandbox);
    operator.offer("NF-1").await;
    let newest = || operator.json(&["delivery", "list", COMPANY])["data"][0].take();
    for (made, delay) in (1..).zip(retry_delays()) {
        receiver.requests(made).await;
        while newest()["attempts"].as_array().unwrap().len() < made {
            tokio::task::yield_now().await;
        }
        advance(&operator.sandbox, delay).await;
    }
    while newest()["status"] != "FAILED" {
        tokio::task::yield_now().await;
    }
    let since = "2026-01-01 00:00:00Z";
    let resend = ["delivery", "resend-failed", COMPANY, "--since", since];
    let one = operator.stdout(&resend);
    assert_eq!(value(&one, "deliveries sent again"), "1");
    receiver.requests(12).await;
}
