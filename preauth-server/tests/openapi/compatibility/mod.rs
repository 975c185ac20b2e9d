//! The compatibility check: a released description may only grow, and only in the ways that the
//! contract lists (Versioning). `docs/openapi/released/` has the last released description.

mod breaches;
mod growth;
mod validate;

use serde_json::Value;

use crate::description::{Description, at};
use validate::breaches;

const RELEASED: &str = include_str!("../../../../docs/openapi/released/integration.json");

const LIST: &str = "/paths/~1api~1integration~1v1~1pre-authorizations/get";
const CREATE: &str = "/paths/~1api~1integration~1v1~1pre-authorizations/post";
const CANCEL: &str = "/paths/~1api~1integration~1v1~1pre-authorizations~1{id}~1cancel/post";
const EVENT: &str = "/webhooks/event/post";

fn schema(name: &str, rest: &str) -> String {
    format!("/components/schemas/{name}{rest}")
}

fn released() -> Value {
    serde_json::from_str(RELEASED).unwrap()
}

/// The breaches of a document that differs from the released one by this edit.
fn breaches_of(edit: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut next = released();
    edit(&mut next);
    assert_ne!(next, released(), "the edit does something");
    breaches(&released(), &next)
}

/// Removes an element from the array at a place.
fn strike(document: &mut Value, pointer: &str, element: &str) {
    let elements = at(document, pointer).as_array_mut().unwrap();
    let before = elements.len();
    elements.retain(|each| each != element);
    let struck = before.abs_diff(elements.len());
    assert_eq!(struck, 1, "{element} was there once");
}

/// Adds an element to the array at a place.
fn add(document: &mut Value, pointer: &str, element: &str) {
    let elements = at(document, pointer).as_array_mut().unwrap();
    elements.push(element.into());
}

// Contract: version/compatible-changes
#[test]
fn the_service_keeps_what_was_released() {
    let found = breaches(&released(), &Description::integration().document);
    assert!(
        found.is_empty(),
        "incompatible with docs/openapi/released/integration.json:\n{}\n\
         What breaks callers goes to /v2. If only words became better, put them there, too.",
        found.join("\n")
    );
}
