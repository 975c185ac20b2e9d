//! The machine-readable descriptions of both APIs: OpenAPI 3.1, and 3.0 for code generators,
//! generated from this one source.
//!
//! `docs/openapi/` contains the output of these functions. Tests compare the files with the
//! functions, the functions with the routers, and real answers with the schemas.

pub(super) mod described;
pub(super) mod document;
mod example;
pub(super) mod headers;
mod in_3_0;
mod integration;
pub(super) mod listed;
pub(super) mod refusals;
pub(super) mod schema;
pub(super) mod shape;
pub(super) mod shared;
mod values;

pub use in_3_0::Form;

use document::Document;

/// The integration API's description: the answer to `GET /openapi.json` on the public listener.
#[must_use]
pub fn integration() -> String {
    text(&integration::document())
}

/// The integration API's description in OpenAPI 3.0.3 with bodies of one form, for code generators:
/// the answer to `GET /openapi-3.0.json` and `/openapi-3.0-multipart.json` on the public listener.
///
/// Many generators support only 3.0, and generate a method for an operation's first media type
/// only.
#[must_use]
pub fn integration_in_3_0(form: Form) -> String {
    text(&in_3_0::render(integration::document(), form))
}

/// The platform API's description: the answer to `GET /openapi.json` on the private listener.
#[must_use]
pub fn platform() -> String {
    text(&super::platform::document())
}

fn text(document: &Document) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}
