//! Reading a whole document.

use serde::de::DeserializeOwned;

/// Why bytes are not a document of the expected shape.
#[derive(thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum JsonError {
    /// The document is no object; an array, in particular, is not an object's fields in order.
    #[error("the document is not a json object: it does not begin with {{")]
    NotAnObject,
    /// Not JSON, or not with the fields that were expected.
    #[error("the json is broken, or a field is missing or not what the contract has")]
    Shape(#[source] serde_json::Error),
}

crate::explained::explained!(JsonError);

/// Reads a JSON object that somebody else wrote: an answer, an error body, a webhook.
///
/// Unknown fields are ignored. serde would also take `[1, "a"]` for an object with two fields, so
/// the outermost value is looked at first.
pub fn from_json<T: DeserializeOwned>(document: &[u8]) -> Result<T, JsonError> {
    match document.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice(document).map_err(JsonError::Shape),
        _ => Err(JsonError::NotAnObject),
    }
}
