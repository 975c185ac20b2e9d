//! A request to the platform API, before it is sent.

use reqwest::Method;
use serde::Serialize;
use serde_json::Value;

/// A request to the platform API.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    /// Relative to the API's prefix, without a leading slash. Consists of ids and fixed words only,
    /// so that nothing in it needs escaping.
    pub(super) path: String,
    pub(super) query: Vec<(&'static str, String)>,
    pub(super) body: Option<Value>,
    /// The idempotency key: the request takes effect once, however often it is sent.
    pub(super) key: Option<String>,
}

impl Call {
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(super) fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path)
    }

    pub(super) fn put(path: impl Into<String>) -> Self {
        Self::new(Method::PUT, path)
    }

    pub(super) fn patch(path: impl Into<String>) -> Self {
        Self::new(Method::PATCH, path)
    }

    pub(super) fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path)
    }

    /// Adds a query parameter, if it was given.
    pub(super) fn query(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query
            .extend(value.map(|value| (name, value.to_string())));
        self
    }

    pub(super) fn body(self, body: impl Serialize) -> Self {
        Self {
            body: Some(sent(body)),
            ..self
        }
    }

    pub(super) fn keyed(self, key: String) -> Self {
        Self {
            key: Some(key),
            ..self
        }
    }

    /// Whether repeating it changes nothing.
    pub(super) fn only_reads(&self) -> bool {
        self.method == Method::GET
    }

    fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            body: None,
            key: None,
        }
    }
}

/// A request of the platform API as JSON; fields that were not given are not sent.
pub(super) fn sent(request: impl Serialize) -> Value {
    #[expect(clippy::expect_used, reason = "wire shapes always serialize")]
    let mut value = serde_json::to_value(request).expect("a wire shape serializes");
    drop_nulls(&mut value);
    value
}

fn drop_nulls(value: &mut Value) {
    if let Value::Object(members) = value {
        members.retain(|_, member| !member.is_null());
        members.values_mut().for_each(drop_nulls);
    }
}

#[cfg(test)]
mod tests {
    use super::sent;
    use crate::http::platform::operations::{Reproval, Reprover};
    use serde_json::json;

    #[test]
    fn an_absent_option_is_not_sent() {
        let body = sent(Reproval {
            by: Reprover::Company.into(),
            reason: None,
        });
        assert_eq!(body, json!({"by": "COMPANY"}));
    }
}
