//! A description, as the tests read it.

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

/// One of the documents.
pub(crate) struct Description {
    pub(crate) document: Value,
    /// The same, with undescribed fields forbidden.
    strict: Value,
}

/// An operation and its place.
#[derive(Clone, Copy)]
pub(crate) struct Operation<'a> {
    pub(crate) path: &'a str,
    pub(crate) method: &'a str,
    pub(crate) body: &'a Value,
}

impl Operation<'_> {
    pub(crate) fn id(self) -> String {
        self.body["operationId"].as_str().unwrap().to_owned()
    }
}

impl Description {
    pub(crate) fn integration() -> Self {
        Self::parse(&preauth_server::http::openapi::integration())
    }

    pub(crate) fn platform() -> Self {
        Self::parse(&preauth_server::http::openapi::platform())
    }

    fn parse(text: &str) -> Self {
        let document: Value = serde_json::from_str(text).unwrap();
        let mut strict = document.clone();
        forbid_more(&mut strict);
        Self { document, strict }
    }

    pub(crate) fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        members(&self.document["paths"]).flat_map(|(path, item)| {
            members(item).map(move |(method, body)| Operation { path, method, body })
        })
    }

    /// The operation for this request; a template in `path` matches itself.
    pub(crate) fn operation(&self, method: &str, path: &str) -> Option<Operation<'_>> {
        let path = path.split('?').next().unwrap();
        let fits = |template: &str| {
            let (there, here) = (template.split('/'), path.split('/'));
            template.matches('/').count() == path.matches('/').count()
                && there
                    .zip(here)
                    .all(|(there, here)| there == here || there.starts_with('{'))
        };
        // The template with more literal text wins.
        let mut found: Vec<_> = self
            .operations()
            .filter(|each| each.method == method.to_lowercase() && fits(each.path))
            .collect();
        found.sort_by_key(|each| each.path.matches('{').count());
        found.first().copied()
    }

    /// The target of a `$ref`, or the value itself.
    pub(crate) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(target) => self
                .at(target)
                .unwrap_or_else(|| panic!("{target} is nowhere")),
            None => value,
        }
    }

    pub(crate) fn at(&self, target: &str) -> Option<&Value> {
        self.document.pointer(target.strip_prefix('#')?)
    }

    /// Whether `value` matches the schema and has no undescribed field.
    pub(crate) fn validate(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let mut schema = schema.clone();
        forbid_more(&mut schema);
        let schema = json!({
            "allOf": [schema],
            "components": self.strict["components"],
        });
        let found = validator(&schema);
        let problems: Vec<_> = found
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(format!("{} in {value}", problems.join("; ")))
        }
    }
}

pub(crate) fn validator(schema: &Value) -> Validator {
    let options = jsonschema::options().with_draft(Draft::Draft202012);
    options.should_validate_formats(true).build(schema).unwrap()
}

/// The members of an object, in their order; none of anything else.
pub(crate) fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

/// A place in a document, which must exist.
pub(crate) fn at<'a>(document: &'a mut Value, pointer: &str) -> &'a mut Value {
    let found = document.pointer_mut(pointer);
    found.unwrap_or_else(|| panic!("{pointer} is nowhere"))
}

/// Removes a member from the object at a place.
pub(crate) fn take(document: &mut Value, pointer: &str, name: &str) -> Value {
    let object = at(document, pointer).as_object_mut().unwrap();
    object.remove(name).unwrap()
}

/// Objects with described fields may have no others; those without describe any content.
fn forbid_more(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.contains_key("properties") && members.contains_key("additionalProperties") {
                members.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            members.values_mut().for_each(forbid_more);
        }
        Value::Array(elements) => elements.iter_mut().for_each(forbid_more),
        _ => {}
    }
}
