//! Endpoints and the deliveries to them.

use std::io::{BufRead as _, BufReader};

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};
use test_support::{
    Backend, Sandbox, TestReceiver,
    travel::{advance, retry_delays},
};

use crate::operator::{COMPANY, NEW_COMPANY, Operator, value};

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
    for action in ["delete", "show", "test"] {
        let done = operator.run(&["endpoint", action, COMPANY, "--yes"]);
        done.failed(1, &["RESOURCE_NOT_FOUND", "next: `endpoint set`"]);
    }
    let without_events = operator.run(&["endpoint", "set", COMPANY, url]);
    let next = "next: --event or --all-events is needed to register an endpoint";
    without_events.failed(1, &["VALIDATION_ERROR", next]);
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
        .failed(2, &["no time in UTC like"]);
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

const RANGE: [&str; 6] = [
    "deliveries",
    "resend",
    "--company",
    COMPANY,
    "--since",
    "2020-01-01 00:00:00Z",
];

/// Waits until every delivery has arrived; returns the number of attempts.
fn attempts_of_delivered(operator: &Operator) -> usize {
    loop {
        let listed = operator.json(&["delivery", "list", COMPANY, "--all"]);
        let all = listed["data"].as_array().unwrap();
        if all.iter().all(|it| it["status"] == "DELIVERED") {
            let attempts = all
                .iter()
                .map(|it| it["attempts"].as_array().unwrap().len());
            return attempts.sum();
        }
    }
}

fn mistyped_ranges_are_refused(operator: &Operator) {
    let with = |more: &[&'static str]| [&RANGE[..], more].concat();
    for (arguments, code, expected) in [
        (&["--status", "pending"][..], 2, "pending"),
        (&["--type", "anticipation.lost"][..], 2, "anticipation.lost"),
        (&["--until", "today"][..], 2, "no time in UTC like"),
        (
            &["01a1fe3a-25a3-7ffb-8504-107e7be706e3"][..],
            2,
            "cannot be used with",
        ),
        (
            &["--yes", "--until", "2019-12-31 00:00:00Z"][..],
            1,
            "since",
        ),
        (&["--yes", "--after", "AAAA"][..], 1, "after"),
    ] {
        let done = operator.run(&with(arguments));
        done.failed(code, &[expected]);
    }
    let without_since = ["delivery", "resend", "--company", COMPANY];
    operator.run(&without_since).failed(2, &["--since"]);
    let without_company = ["delivery", "resend", "--since", "2020-01-01 00:00:00Z"];
    operator.run(&without_company).failed(2, &["--company"]);
    operator
        .run(&["delivery", "resend"])
        .failed(2, &["<DELIVERY>"]);
    let unknown = [
        "--company",
        NEW_COMPANY,
        "--since",
        "2020-01-01 00:00:00Z",
        "--dry-run",
    ];
    operator
        .run(&[&["delivery", "resend"][..], &unknown].concat())
        .failed(1, &[]);
}

#[tokio::test]
async fn what_a_receiver_lost_is_sent_again() {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(Backend::Sqlite, &receiver.url()).await;
    let operator = Operator::of(sandbox);
    for number in ["NF-1", "NF-2", "NF-3"] {
        operator.offer(number).await;
    }
    receiver.requests(3).await;
    assert_eq!(attempts_of_delivered(&operator), 3);
    let with = |more: &[&'static str]| [&RANGE[..], more].concat();

    let shown = operator.stdout(&with(&["--dry-run"]));
    assert_eq!(value(&shown, "deliveries to send again"), "3");
    assert_eq!(value(&shown, "left out, endpoint removed"), "0");
    let counted = operator.json(&with(&["--dry-run", "--status", "failed"]));
    let nothing =
        json!({"count": 0, "paused": 0, "endpointRemoved": 0, "next": null, "first": null});
    assert_eq!(counted, nothing);
    assert_eq!(attempts_of_delivered(&operator), 3);
    // Without a terminal nobody can answer.
    operator.run(&with(&[])).failed(4, &["give --yes to go on"]);
    assert_eq!(attempts_of_delivered(&operator), 3);

    let of_type = [
        "--yes",
        "--type",
        "pre_authorization.created,anticipation.paid",
    ];
    let done = operator.run(&with(&of_type));
    assert_eq!(done.code, 0, "{}", done.err);
    // From its beginning on an interrupted run can go on.
    assert!(done.err.contains("0 sent again so far"), "{}", done.err);
    let sent = done.out;
    assert_eq!(value(&sent, "deliveries sent again"), "3");
    receiver.requests(6).await;
    assert_eq!(attempts_of_delivered(&operator), 6);
    let none = [
        "--yes",
        "--status",
        "FAILED,delivered",
        "--type",
        "anticipation.paid",
    ];
    assert_eq!(operator.json(&with(&none)), nothing);

    mistyped_ranges_are_refused(&operator);
    assert_eq!(attempts_of_delivered(&operator), 6);
}

#[tokio::test]
async fn a_resend_asks_at_a_terminal_and_sends_after_a_yes_alone() {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(Backend::Sqlite, &receiver.url()).await;
    let operator = Operator::of(sandbox);
    for number in ["NF-1", "NF-2"] {
        operator.offer(number).await;
    }
    receiver.requests(2).await;
    assert_eq!(attempts_of_delivered(&operator), 2);
    let question = "Send 2 deliveries again, with the same event ids?";
    // An end of input is a no as well.
    for no in ["n\n", "\n", "yep\n", "no\ny\n", ""] {
        let declined = operator.run_at_terminal(&RANGE, no);
        assert_eq!(declined.code, 4, "{no:?}: {}", declined.out);
        assert_eq!(
            declined.out.matches(question).count(),
            1,
            "{}",
            declined.out
        );
        assert!(!declined.out.contains("sent again"), "{}", declined.out);
    }
    assert_eq!(attempts_of_delivered(&operator), 2);
    // Nothing to send is nothing to ask.
    let none = [&RANGE[..], &["--status", "failed"]].concat();
    let none = operator.run_at_terminal(&none, "");
    assert_eq!(none.code, 0, "{}", none.out);
    assert!(!none.out.contains("[y/N]"), "{}", none.out);

    let sent = operator.run_at_terminal(&RANGE, "y\n");
    assert_eq!(sent.code, 0, "{}", sent.out);
    assert!(sent.out.contains(&format!("{question} 0 of them wait")));
    // At a terminal titles are bold.
    let mut lines = sent.out.lines().map(str::trim_end);
    let says = |line: &str| line.contains("deliveries sent again") && line.ends_with(" 2");
    assert!(lines.any(says), "{:?}", sent.out);
    receiver.requests(4).await;
    assert_eq!(attempts_of_delivered(&operator), 4);
}

/// Adds so many deliveries of another type at one moment after the company's first one.
async fn add_many(sandbox: &Sandbox, rows: u32) {
    let url = format!("sqlite://{}", sandbox.data().join("preauth.db").display());
    let mut beside = SqliteConnection::connect(&url).await.unwrap();
    let sql = format!(
        "PRAGMA foreign_keys = OFF;
         INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
             attempts_made, created_at, ended_at)
         SELECT randomblob(16), d.head_office_id, d.endpoint_id, randomblob(16), 'webhook.test',
             'DELIVERED', 1, d.created_at + 1, d.ended_at
         FROM (SELECT * FROM deliveries ORDER BY created_at, id LIMIT 1) d
         CROSS JOIN (WITH RECURSIVE n (n) AS
             (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows}) SELECT n FROM n)"
    );
    beside.execute(AssertSqlSafe(sql)).await.unwrap();
}

#[tokio::test]
async fn a_resend_that_was_killed_goes_on_where_it_ended() {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(Backend::Sqlite, &receiver.url()).await;
    let operator = Operator::of(sandbox);
    operator.offer("NF-1").await;
    receiver.requests(1).await;
    assert_eq!(attempts_of_delivered(&operator), 1);
    advance(&operator.sandbox, 60).await;
    // More than two requests walk over.
    add_many(&operator.sandbox, 45_000).await;
    operator.offer("NF-2").await;
    receiver.requests(2).await;
    let command = [
        &RANGE[..],
        &["--type", "pre_authorization.created", "--yes"],
    ]
    .concat();
    let mut killed = operator.spawn(&command);
    let mut line = String::new();
    let mut progress = BufReader::new(killed.stderr.take().unwrap());
    progress.read_line(&mut line).unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let (_, rest) = line.split_once("--after ").unwrap();
    let place = rest.split_whitespace().next().unwrap();
    let done = operator.run(&[&command[..], &["--after", place]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    // Whatever the killed one still queued, each arrives once more.
    receiver.requests(4).await;
    let created = [
        "delivery",
        "list",
        COMPANY,
        "--event",
        "pre_authorization.created",
    ];
    let all = loop {
        let listed = operator.json(&created)["data"].take();
        let all = listed.as_array().unwrap().clone();
        if all.iter().all(|it| it["status"] == "DELIVERED") {
            break all;
        }
    };
    let attempts = all
        .iter()
        .map(|it| it["attempts"].as_array().unwrap().len());
    assert_eq!(attempts.collect::<Vec<_>>(), [2, 2]);
    let counted = operator.run(&[&command[..8], &["--dry-run"]].concat());
    assert_eq!(value(&counted.out, "deliveries to send again"), "2");
}
