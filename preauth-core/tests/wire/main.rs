//! The shapes on the wire, held to golden documents: field names, order, `null`s and numbers.
#![expect(
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod errors;
mod events;
mod requests;
mod resources;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Writes a document as the golden files are written.
fn pretty<T: Serialize>(document: &T) -> String {
    serde_json::to_string_pretty(document).unwrap() + "\n"
}

/// Reads a golden document and writes it again: not a byte may change.
fn assert_survives<T: DeserializeOwned + Serialize>(golden: &str) -> T {
    let document: T = preauth_core::wire::from_json(golden.as_bytes()).unwrap();
    assert_eq!(pretty(&document), golden);
    document
}

/// The same document with a field in every object that no version knows.
fn with_unknown_fields(golden: &str) -> String {
    let mut document: Value = serde_json::from_str(golden).unwrap();
    add_field(&mut document);
    document.to_string()
}

fn add_field(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(add_field);
            let newer = Map::from_iter([("deep".to_owned(), Value::from(vec![1, 2]))]);
            fields.insert("newField".to_owned(), Value::Object(newer));
        }
        Value::Array(items) => items.iter_mut().for_each(add_field),
        _ => {}
    }
}
