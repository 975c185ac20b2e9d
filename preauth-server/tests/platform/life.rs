//! Every row of the table, for both origins, in the webhooks that arrive.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use test_support::{Backend, on_each_database};

use crate::scene::{NET_AMOUNT, Scene};
use crate::table::{Row, TABLE, leads, row};

on_each_database! {
    every_row_of_the_table_sends_its_event,
    a_given_reason_replaces_the_default,
    an_operation_shows_everything_that_was_done_to_it,
}

/// Paths through the table that together cover every row except expiry, which takes time.
const WALKS: [(&str, &[&str]); 15] = [
    (
        "PRE_AUTH",
        &[
            "request",
            "approve",
            "release",
            "pay",
            "bill",
            "return-payout",
            "pay",
            "return-payout",
            "pay",
            "bill",
            "extend",
            "cancel extension",
            "extend",
            "conclude extension",
            "conclude",
        ],
    ),
    ("PRE_AUTH", &["decline"]),
    ("PRE_AUTH", &["cancel"]),
    ("PRE_AUTH", &["withdraw"]),
    ("PRE_AUTH", &["request", "reprove by COMPANY", "reopen"]),
    ("PRE_AUTH", &["request", "reprove by PLATFORM", "reopen"]),
    (
        "PRE_AUTH",
        &["request", "approve", "reprove by PLATFORM", "reopen"],
    ),
    (
        "PRE_AUTH",
        &[
            "request",
            "approve",
            "release",
            "reprove by PLATFORM",
            "reopen",
        ],
    ),
    (
        "DIRECT",
        &[
            "verify",
            "approve",
            "release",
            "pay",
            "return-payout",
            "pay",
            "bill",
            "extend",
            "cancel extension",
            "extend",
            "conclude extension",
            "return-payout",
            "pay",
            "bill",
            "conclude",
        ],
    ),
    (
        "DIRECT",
        &[
            "reprove by COMPANY",
            "reopen",
            "reprove by PLATFORM",
            "reopen",
            "verify",
            "reprove by COMPANY",
            "reopen",
            "approve",
            "release",
        ],
    ),
    ("DIRECT", &["reprove by PLATFORM", "reopen"]),
    ("DIRECT", &["verify", "reprove by COMPANY", "reopen"]),
    (
        "DIRECT",
        &["verify", "approve", "reprove by PLATFORM", "reopen"],
    ),
    ("DIRECT", &["verify", "reprove by PLATFORM", "reopen"]),
    (
        "DIRECT",
        &[
            "verify",
            "approve",
            "release",
            "reprove by PLATFORM",
            "reopen",
        ],
    ),
];

/// The expected data of an event, without its parties and its invoice.
fn expected_event(id: i64, origin: &str, row: &Row, to: &str, net_amount: &Value) -> Value {
    json!([
        id,
        row.event,
        origin,
        to,
        row.stage,
        row.default_reason,
        net_amount
    ])
}

fn event_summary(event: &Value) -> Value {
    let data = &event["data"];
    let names = [
        "anticipationId",
        "origin",
        "status",
        "stage",
        "reason",
        "netAmount",
    ];
    let [id, origin, status, stage, reason, net_amount] = names.map(|name| data[name].clone());
    json!([id, event["type"], origin, status, stage, reason, net_amount])
}

// Contract: operation-event/status operation-event/origin operation-event/netAmount
// Contract: operation-event/reason operation-event/stage origin/PRE_AUTH origin/DIRECT
// Contract: transition/the-others transition/reopening version/history-second-step
async fn every_row_of_the_table_sends_its_event(backend: Backend) {
    let scene = Scene::new(backend).await;
    let mut expected = Vec::new();
    let mut taken = BTreeSet::new();
    for (number, (origin, actions)) in WALKS.iter().enumerate() {
        let id = scene.begin(origin, &format!("NF-{number}")).await;
        let mut status = if *origin == "DIRECT" {
            "IN_VERIFICATION"
        } else {
            "IN_PRE_AUTH"
        };
        let mut net_amount = Value::Null;
        let mut refused_in = status;
        for action in *actions {
            scene.play(id, &[action]).await;
            let row = row(action);
            taken.insert((*origin, row.action, status));
            let to = leads(row, refused_in);
            if row.event == "anticipation.reproved" {
                refused_in = status;
            }
            status = to;
            match *action {
                "release" => net_amount = json!(NET_AMOUNT),
                "reopen" => net_amount = Value::Null,
                _ => {}
            }
            let now = scene.operation(id).await;
            let shown = ["status", "stage", "reason", "netAmount"].map(|name| now[name].clone());
            let reason = (row.stage, row.default_reason);
            assert_eq!(
                json!(shown),
                json!([to, reason.0, reason.1, net_amount]),
                "{action}"
            );
            expected.push(expected_event(id, origin, row, to, &net_amount));
        }
    }
    assert_eq!(taken, reachable());
    let events = scene.events(expected.len() + WALKS.len()).await;
    assert_eq!(
        events.len(),
        expected.len() + WALKS.len(),
        "one event for each change"
    );
    let mut received: Vec<_> = events
        .iter()
        .filter(|event| {
            event["type"] != "pre_authorization.created" && event["type"] != "anticipation.created"
        })
        .map(event_summary)
        .collect();
    received.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(received, expected);
}

/// Every row from each of its statuses, for each origin that reaches it.
fn reachable() -> BTreeSet<(&'static str, &'static str, &'static str)> {
    let mut reachable = BTreeSet::new();
    for row in TABLE.iter().filter(|row| row.action != "expire") {
        for from in row.from {
            for origin in ["PRE_AUTH", "DIRECT"] {
                let is_others = match *from {
                    "IN_PRE_AUTH" => origin == "DIRECT",
                    "IN_VERIFICATION" => origin == "PRE_AUTH",
                    _ => false,
                };
                if !is_others {
                    reachable.insert((origin, row.action, *from));
                }
            }
        }
    }
    reachable
}

// Contract: operation-event/reason
async fn a_given_reason_replaces_the_default(backend: Backend) {
    let scene = Scene::new(backend).await;
    let reason = json!({"reason": "  Sem interesse: \"nunca\"  "});
    let closings = [
        ("PRE_AUTH", "decline"),
        ("PRE_AUTH", "withdraw"),
        ("DIRECT", "reprove by COMPANY"),
        ("DIRECT", "reprove by PLATFORM"),
    ];
    let mut ids = Vec::new();
    for (origin, action) in closings {
        let id = scene.begin(origin, action).await;
        let answer = scene.ask_with(id, action, &reason).await;
        assert_eq!(answer.status, 200, "{action}: {}", answer.text);
        assert_eq!(
            answer.json()["reason"],
            "Sem interesse: \"nunca\"",
            "{action}"
        );
        ids.push(json!(id));
    }
    for event in scene.events(8).await {
        let data = &event["data"];
        if data["status"] == "REPROVED" {
            assert!(ids.contains(&data["anticipationId"]));
            assert_eq!(data["reason"], "Sem interesse: \"nunca\"");
        }
    }
}

// Contract: service/on-whose-behalf
async fn an_operation_shows_everything_that_was_done_to_it(backend: Backend) {
    let scene = Scene::new(backend).await;
    let id = scene.offer("NF-1").await;
    let walk = [
        "request",
        "approve",
        "release",
        "pay",
        "bill",
        "extend",
        "cancel extension",
        "extend",
    ];
    scene.play(id, &walk).await;
    let operation = scene.operation(id).await;
    let history = operation["history"].as_array().unwrap();
    let of = |name: &str| -> Vec<Value> { history.iter().map(|it| it[name].clone()).collect() };
    let mut events = vec![json!("pre_authorization.created")];
    events.extend(walk.iter().map(|action| json!(row(action).event)));
    assert_eq!(of("type"), events);
    let versions: Vec<_> = (1..=9).map(|version| json!(version)).collect();
    assert_eq!(of("version"), versions);
    let actors: Vec<_> = history
        .iter()
        .map(|it| it["actor"]["kind"].clone())
        .collect();
    let expected = [
        "API_KEY", "SUPPLIER", "COMPANY", "PLATFORM", "PLATFORM", "PLATFORM", "PLATFORM",
        "PLATFORM", "PLATFORM",
    ];
    assert_eq!(actors, expected.map(|kind| json!(kind)));
    let key = &history[0]["actor"];
    assert!(
        key["apiKeyId"].is_string() && key["userId"].is_string(),
        "{key}"
    );
    let extensions = operation["extensions"].as_array().unwrap();
    let statuses: Vec<_> = extensions.iter().map(|it| it["status"].clone()).collect();
    assert_eq!(statuses, [json!("OPEN"), json!("CANCELED")]);
    assert_eq!(operation["extension"]["id"], extensions[0]["id"]);
    assert_eq!(operation["invoiceFile"], Value::Null);
    assert_eq!(operation["version"], 9);
    // A list shows the operation without them.
    let listed = &scene.get("/operations").await["data"][0];
    assert_eq!(listed["id"], json!(id));
    for name in ["history", "extensions", "invoiceFile"] {
        assert!(listed.get(name).is_none(), "{name}");
    }
}
