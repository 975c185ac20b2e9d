//! Examples, put together from those of the parts.

use serde::Serialize;
use serde_json::Value;

use super::listed::Listed;

/// A JSON value whose objects keep the order of their schema.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Example {
    Value(Value),
    Array(Vec<Example>),
    Object(Listed<Example>),
}

impl Default for Example {
    fn default() -> Self {
        Self::Value(Value::Null)
    }
}
