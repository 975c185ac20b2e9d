//! `docs/contract.md` lists everything that can stand on the wire, and nothing that cannot. That
//! each row has a test is held by `.ci/contract`.
#![expect(
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

use std::collections::BTreeSet;

use preauth_core::ErrorCode;
use preauth_core::value::{EventType, Origin, Scope, Stage, Status};
use preauth_core::wire::header;
use serde_json::Value;

const PAGE: &str = include_str!("../../docs/contract.md");

/// The names in backticks at the beginning of a section's rows.
fn names(section: &str) -> BTreeSet<String> {
    let heading = format!("\n## {section}\n");
    let (_, rest) = PAGE.split_once(&heading).unwrap();
    let rows = rest.lines().take_while(|line| !line.starts_with("## "));
    rows.filter_map(|row| row.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name.to_owned())
        .collect()
}

fn set<T: ToString>(members: impl IntoIterator<Item = T>) -> BTreeSet<String> {
    members
        .into_iter()
        .map(|member| member.to_string())
        .collect()
}

/// The path of every field of a document, except below `closed`, which has sections of its own.
fn fields(document: &Value, closed: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(document, "", closed, &mut found);
    found
}

fn collect(value: &Value, path: &str, closed: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            let dot = if path.is_empty() { "" } else { "." };
            for (name, member) in members {
                let path = format!("{path}{dot}{name}");
                if path != closed {
                    collect(member, &path, closed, found);
                }
                found.insert(path);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(item, &format!("{path}[]"), closed, found);
            }
        }
        _ => {}
    }
}

/// A golden document: the tests of the wire hold each to its type, field by field.
macro_rules! golden {
    ($name:literal) => {
        serde_json::from_str::<Value>(include_str!(concat!("wire/golden/", $name, ".json")))
            .unwrap()
    };
}

#[test]
fn every_member_of_every_closed_set_has_a_row() {
    assert_eq!(names("Statuses"), set(Status::ALL));
    assert_eq!(names("Event types"), set(EventType::ALL));
    assert_eq!(names("Origins"), set(Origin::ALL));
    assert_eq!(names("Stages"), set(Stage::ALL));
    assert_eq!(names("Authentication"), set(Scope::ALL));
}

#[test]
fn every_error_code_has_a_row() {
    let (contract, ours): (Vec<ErrorCode>, Vec<_>) = ErrorCode::ALL
        .iter()
        .copied()
        .partition(|code| code.is_of_contract());
    assert_eq!(names("Error codes"), set(contract));
    assert_eq!(names("Error codes of ours"), set(ours));
}

#[test]
fn every_field_of_requests_and_answers_has_a_row() {
    let operation = golden!("pre_authorization");
    assert_eq!(names("The operation"), fields(&operation, ""));
    assert_eq!(names("The list"), fields(&golden!("list"), "data"));
    let create = golden!("create_full");
    assert_eq!(names("Create: the body"), fields(&create, ""));
    let mut error = fields(&golden!("duplicate_error"), "");
    error.extend(fields(&golden!("validation_error"), ""));
    assert_eq!(names("The error body"), error);
}

#[test]
fn every_field_of_events_has_a_row() {
    let envelope = golden!("event_created");
    assert_eq!(names("Events: the envelope"), fields(&envelope, "data"));
    for (section, event) in [
        ("Events: data of operations", golden!("event_extension")),
        ("Events: data of invoice.received", golden!("event_invoice")),
        (
            "Events: data of payment_order.*",
            golden!("event_payment_order"),
        ),
        ("Events: data of webhook.test", golden!("event_test")),
    ] {
        assert_eq!(names(section), fields(&event["data"], ""), "{section}");
    }
}

#[test]
fn every_header_of_the_api_has_a_row() {
    let mut listed = BTreeSet::new();
    for section in ["All four operations", "POST /pre-authorizations", "Limits"] {
        listed.extend(names(section).iter().map(|name| name.to_lowercase()));
    }
    for name in [
        header::IDEMPOTENCY_KEY,
        header::IDEMPOTENCY_REPLAYED,
        header::RATE_LIMIT_LIMIT,
        header::RATE_LIMIT_REMAINING,
        header::RATE_LIMIT_RESET,
        header::RETRY_AFTER,
        header::REQUEST_ID,
    ] {
        assert!(listed.contains(name), "{name}");
    }
}
