//! Schemas that generated clients support, as measured with generators of several languages.
//!
//! - Answers and events allow more properties explicitly: some clients refuse a new field
//!   otherwise.
//! - Sets of words in answers are strings with their values beside them: a closed enum breaks
//!   clients at the first new value. Requests may be closed.
//! - Amounts are `double`: a number without format is a 32-bit float in some languages.
//! - A nullable value has a type of two; there is no `const` and no `oneOf`.

mod change;
mod leaf;
mod object;
mod rules;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Number, Value};

use super::example::Example;
use super::listed::Listed;

pub(in crate::http) use object::{Field, optional, required};

/// Prefix of references to named schemas.
const NAMED: &str = "#/components/schemas/";

/// A schema and its example.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Schema {
    #[serde(rename = "$ref", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    /// `nullable` of 3.0, in place of a type of two.
    #[serde(skip_serializing_if = "is_false")]
    nullable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    closed: Vec<Value>,
    #[serde(rename = "x-enum-values", skip_serializing_if = "Vec::is_empty")]
    open: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exclusive_minimum: Option<ExclusiveMinimum>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Box<Schema>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_items: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_items: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<Cow<'static, str>>,
    #[serde(skip_serializing_if = "Listed::is_empty")]
    properties: Listed<Schema>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_properties: Option<bool>,
    #[serde(skip)]
    example: Example,
    /// Whether an object may lack the field.
    #[serde(skip)]
    may_be_absent: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Kind {
    One(&'static str),
    OrNull([&'static str; 2]),
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum ExclusiveMinimum {
    Above(Number),
    /// 3.0: the `minimum` beside it is exclusive.
    AboveMinimum(bool),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// Schemas by name; functions, because they refer to each other.
pub(in crate::http) type Shapes = [(&'static str, fn() -> Schema)];

/// The entries of `components/schemas` for these.
pub(in crate::http) fn components(shapes: &Shapes) -> Listed<Schema> {
    let shapes = shapes.iter();
    shapes.map(|(name, shape)| (*name, shape())).collect()
}

impl Schema {
    pub(in crate::http) fn description(&self) -> &str {
        &self.description
    }

    pub(in crate::http) fn example(&self) -> Example {
        self.example.clone()
    }

    /// The named schema that this one refers to.
    pub(in crate::http) fn target(&self) -> Option<&str> {
        self.reference.as_deref()?.strip_prefix(NAMED)
    }

    /// Converts it from 3.1 to 3.0, with all its children.
    pub(in crate::http) fn put_in_3_0(&mut self) {
        if let Some(Kind::OrNull([kind, _])) = self.kind {
            self.kind = Some(Kind::One(kind));
            self.nullable = true;
        }
        if let Some(ExclusiveMinimum::Above(minimum)) = self.exclusive_minimum.take() {
            self.minimum = Some(minimum);
            self.exclusive_minimum = Some(ExclusiveMinimum::AboveMinimum(true));
        }
        self.items.iter_mut().for_each(|items| items.put_in_3_0());
        self.properties.values_mut().for_each(Self::put_in_3_0);
    }
}
