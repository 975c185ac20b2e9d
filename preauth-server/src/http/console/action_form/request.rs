//! The request of the platform API that a form sends.

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::http::console::failure::Failure;
use crate::http::console::visit::Visit;
use crate::http::pages::form::Form;

use super::{ActionForm, Input, InputKind};

impl ActionForm {
    /// The request's path; what its form has for it comes before what its own path has.
    pub(super) fn api_path(&self, visit: &Visit, form: &Form) -> Result<String, Failure> {
        fill(self.api, |name| {
            let typed = self.inputs.iter().find(|input| input.name == name);
            let Some(Input {
                kind: InputKind::Path,
                ..
            }) = typed
            else {
                return visit.id(name).map(ToOwned::to_owned);
            };
            let typed = form.one(name).unwrap_or_default();
            Ok(utf8_percent_encode(typed, NON_ALPHANUMERIC).to_string())
        })
    }

    /// The body; `None` when the request has none.
    pub(super) async fn body(&self, visit: &Visit, form: &Form) -> Result<Option<String>, Failure> {
        let inputs = self.inputs.iter();
        let inputs = inputs.filter(|input| !matches!(input.kind, InputKind::Path));
        let mut body = Map::new();
        for (name, value) in self.fixed {
            // A word of JSON, or a text.
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(*value));
            insert(&mut body, name, value);
        }
        let mut is_empty = self.fixed.is_empty();
        for input in inputs {
            is_empty = false;
            if let Some(value) = input.value(visit, form).await? {
                insert(&mut body, input.name, value);
            }
        }
        Ok((!is_empty).then(|| Value::Object(body).to_string()))
    }
}

/// Puts a member into an object, which a point leads into.
fn insert(body: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            body.insert(name.to_owned(), value);
        }
        Some((object, rest)) => {
            let inner = body
                .entry(object)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// A path with its names replaced.
pub(super) fn fill<T: AsRef<str>>(
    template: &str,
    value: impl Fn(&str) -> Result<T, Failure>,
) -> Result<String, Failure> {
    let mut values = BTreeMap::new();
    for part in template.split('{').skip(1) {
        let name = part.split('}').next().unwrap_or_default();
        values.insert(name.to_owned(), value(name)?);
    }
    let filled = values
        .iter()
        .fold(template.to_owned(), |path, (name, value)| {
            path.replace(&format!("{{{name}}}"), value.as_ref())
        });
    Ok(filled)
}

/// A member of an object; a point leads into an inner one.
pub(super) fn member<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(object, |value, it| value.get(it))
}

#[cfg(test)]
mod tests {
    use super::{Map, Value, insert};

    #[test]
    fn a_point_leads_into_an_object() {
        let mut body = Map::new();
        insert(&mut body, "contact.name", Value::from("Ana"));
        insert(&mut body, "contact.email", Value::from("a@b.co"));
        let text = Value::Object(body).to_string();
        assert_eq!(text, r#"{"contact":{"email":"a@b.co","name":"Ana"}}"#);
    }
}
