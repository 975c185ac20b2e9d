//! The receiver's README documents events as the service sends them.

use preauth_core::value::EventType;
use preauth_core::wire::{EventData, RawEventEnvelope};
use serde_json::Value;

const README: &str = include_str!("../../../webhook-verify/README.md");
const CREATED: &str = include_str!("../../../preauth-core/tests/wire/golden/event_created.json");

#[test]
fn the_example_is_an_event_as_the_service_writes_it() {
    let (_, rest) = README.split_once("<!-- event -->\n```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();

    let event = RawEventEnvelope::from_json(example.as_bytes()).unwrap();
    let EventData::Operation(data) = event.data().unwrap() else {
        panic!("the example is about an operation");
    };
    let shown: Value = serde_json::from_str(example).unwrap();
    assert_eq!(serde_json::to_value(data).unwrap(), shown["data"]);

    let mut golden: Value = serde_json::from_str(CREATED).unwrap();
    golden["data"]["externalReference"] = "PED-2026-0042".into();
    assert_eq!(shown, golden);
}

#[test]
fn every_type_of_event_is_listed_once_and_no_other() {
    let (_, rest) = README.split_once("<!-- types -->\n").unwrap();
    let (_, rest) = rest.split_once("|---|---|\n").unwrap();
    let (table, _) = rest.split_once("\n\n").unwrap();
    let listed: Vec<_> = table
        .lines()
        .map(|line| line.split('`').nth(1).unwrap())
        .collect();
    let types: Vec<_> = EventType::ALL.iter().map(|known| known.as_str()).collect();
    assert_eq!(listed, types);
}
