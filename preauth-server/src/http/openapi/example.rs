//! Examples, composed of those of the parts.

use serde::Serialize;
use serde_json::Value;

use super::listed::Listed;

/// A JSON value whose objects keep the order of their schema.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(in crate::http) enum Example {
    Value(Value),
    Array(Vec<Example>),
    Object(Listed<Example>),
}

impl Example {
    /// Replaces each inner object by its JSON as a text.
    pub(in crate::http) fn put_objects_as_texts(&mut self) {
        let Self::Object(members) = self else {
            return;
        };
        for member in members.values_mut() {
            if let Self::Object(object) = member {
                let text = serde_json::to_string(object).unwrap_or_default();
                *member = Self::Value(text.into());
            }
        }
    }
}

impl Default for Example {
    fn default() -> Self {
        Self::Value(Value::Null)
    }
}
