//! Reads whole JSON documents.

use serde::de::DeserializeOwned;

/// Why bytes are not a JSON document of the expected shape.
#[derive(thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum JsonError {
    /// The document is not an object. In particular, an array is not read as the fields of an object in
    /// order.
    #[error("the document is not a json object: it does not begin with {{")]
    NotAnObject,
    /// The document is not valid JSON, or does not have the expected fields.
    #[error("the json is broken, or a field is missing or not what the contract has")]
    Shape(#[source] serde_json::Error),
}

crate::explained::explained!(JsonError);

/// Reads a JSON object from another system: an answer, an error body or a webhook.
///
/// Unknown fields are ignored. serde would also accept `[1, "a"]` as an object with two fields, so the
/// outermost value is checked first.
pub fn from_json<T: DeserializeOwned>(document: &[u8]) -> Result<T, JsonError> {
    match document.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice(document).map_err(JsonError::Shape),
        _ => Err(JsonError::NotAnObject),
    }
}
