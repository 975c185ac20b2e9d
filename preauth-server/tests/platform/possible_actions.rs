//! `possibleActions` of an operation: in each status exactly what the table permits, and nothing else is done.

use std::collections::BTreeSet;

use serde_json::Value;
use test_support::{Backend, on_each_database};

use crate::scene::Scene;
use crate::table::TABLE;

on_each_database! { possible_actions_are_those_of_the_table }

/// Walks that pass every status of both origins, and a boleto with an open extension.
const WALKS: [(&str, &[&str]); 5] = [
    (
        "PRE_AUTH",
        &[
            "request",
            "approve",
            "release",
            "pay",
            "bill",
            "extend",
            "cancel extension",
            "conclude",
        ],
    ),
    ("PRE_AUTH", &["decline"]),
    ("PRE_AUTH", &["withdraw"]),
    ("DIRECT", &["reprove by PLATFORM", "reopen", "verify"]),
    ("DIRECT", &["reprove by COMPANY"]),
];

/// The words of the API for the actions of an operator in the table.
const WORDS: [(&str, &str); 16] = [
    ("request", "REQUEST"),
    ("decline", "DECLINE"),
    ("withdraw", "WITHDRAW"),
    ("verify", "VERIFY"),
    ("approve", "APPROVE"),
    ("release", "RELEASE"),
    ("pay", "PAY"),
    ("return-payout", "RETURN_PAYOUT"),
    ("bill", "BILL"),
    ("conclude", "CONCLUDE"),
    ("reprove by COMPANY", "REPROVE_BY_COMPANY"),
    ("reprove by PLATFORM", "REPROVE_BY_PLATFORM"),
    ("reopen", "REOPEN"),
    ("extend", "CREATE_EXTENSION"),
    ("conclude extension", "CONCLUDE_EXTENSION"),
    ("cancel extension", "CANCEL_EXTENSION"),
];

/// What the table permits to operators; what an open extension forbids, and what only a reproval permits, stands
/// beside the table in `docs/decisions.md`.
fn expected(status: &str, has_extension: bool, is_reproval: bool) -> BTreeSet<&'static str> {
    let is_possible = |action: &str| match action {
        "return-payout" | "conclude" | "extend" => !has_extension,
        "conclude extension" | "cancel extension" => has_extension,
        "reopen" => is_reproval,
        // The ERP's, and that of time.
        "cancel" | "expire" => false,
        _ => true,
    };
    let rows = TABLE.iter().filter(|row| row.from.contains(&status));
    let actions = rows.map(|row| row.action);
    actions.filter(|action| is_possible(action)).collect()
}

/// Compares what is possible now with the table, and tries everything else.
async fn compare(scene: &Scene, id: i64, last: &str) -> String {
    let operation = scene.operation(id).await;
    let status = operation["status"].as_str().unwrap().to_owned();
    let has_extension = last == "extend";
    let is_reproval = last.starts_with("reprove");
    let expected = expected(&status, has_extension, is_reproval);
    let words = |action: &&str| WORDS.iter().find(|(each, _)| each == action).unwrap().1;
    let expected_words: BTreeSet<_> = expected.iter().map(words).collect();
    let shown = operation["possibleActions"].as_array().unwrap();
    let shown_words: BTreeSet<_> = shown.iter().filter_map(Value::as_str).collect();
    assert_eq!(shown_words, expected_words, "{status} after {last}");
    assert_eq!(shown.len(), shown_words.len(), "twice: {operation}");
    for (action, _) in WORDS {
        if !expected.contains(action) {
            let refused = scene.ask(id, action).await;
            // 404: there is no extension at all.
            let is_refused = matches!(refused.status, 404 | 409);
            assert!(is_refused, "{action} in {status}: {}", refused.text);
        }
    }
    assert_eq!(scene.operation(id).await["version"], operation["version"]);
    status
}

async fn possible_actions_are_those_of_the_table(backend: Backend) {
    let scene = Scene::new(backend).await;
    let mut seen = BTreeSet::new();
    for (number, (origin, actions)) in WALKS.iter().enumerate() {
        let id = scene.begin(origin, &format!("NF-{number}")).await;
        seen.insert(compare(&scene, id, "").await);
        for action in *actions {
            scene.play(id, &[action]).await;
            seen.insert(compare(&scene, id, action).await);
        }
    }
    let all = TABLE.iter().flat_map(|row| row.from).chain(&["CONCLUDED"]);
    let all: BTreeSet<_> = all.map(|it| (*it).to_owned()).collect();
    assert_eq!(seen, all);
}
