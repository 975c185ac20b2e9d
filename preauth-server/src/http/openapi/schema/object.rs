//! Schemas with children, and the properties of objects.

use std::borrow::Cow;

use super::{Example, Kind, NAMED, Schema, Shapes};

/// A property of an object.
pub(in crate::http) struct Field {
    pub(in crate::http::openapi) name: Cow<'static, str>,
    pub(in crate::http::openapi) schema: Schema,
}

/// A property that is always present.
pub(in crate::http) const fn required(name: &'static str, schema: Schema) -> Field {
    let name = Cow::Borrowed(name);
    Field { name, schema }
}

/// A property that may be absent.
pub(in crate::http) fn optional(name: &'static str, schema: Schema) -> Field {
    required(name, schema.optional())
}

impl Schema {
    pub(in crate::http) fn array(description: &str, items: Self) -> Self {
        Self {
            kind: Some(Kind::One("array")),
            description: description.to_owned(),
            example: Example::Array(vec![items.example()]),
            items: Some(Box::new(items)),
            ..Self::default()
        }
    }

    /// An object of an answer or event: fields may be added at any time.
    pub(in crate::http) fn answer(
        description: &str,
        fields: impl IntoIterator<Item = Field>,
    ) -> Self {
        Self {
            additional_properties: Some(true),
            ..Self::object(description, fields)
        }
    }

    /// An object of a JSON request: unknown fields are ignored, and null for an optional field is the
    /// same as its absence.
    pub(in crate::http) fn request(
        description: &str,
        fields: impl IntoIterator<Item = Field>,
    ) -> Self {
        let nullable = |field: Field| Field {
            name: field.name,
            schema: if field.schema.may_be_absent {
                field.schema.nullable()
            } else {
                field.schema
            },
        };
        Self::object(description, fields.into_iter().map(nullable))
    }

    /// A form of a request: an optional part is sent or absent, never null.
    pub(in crate::http) fn form(
        description: &str,
        fields: impl IntoIterator<Item = Field>,
    ) -> Self {
        Self::object(description, fields)
    }

    fn object(description: &str, fields: impl IntoIterator<Item = Field>) -> Self {
        let fields: Vec<_> = fields.into_iter().collect();
        let shown = |field: &Field| (field.name.clone(), field.schema.example());
        let always = fields.iter().filter(|field| !field.schema.may_be_absent);
        Self {
            kind: Some(Kind::One("object")),
            description: description.to_owned(),
            required: always.map(|field| field.name.clone()).collect(),
            example: Example::Object(fields.iter().map(shown).collect()),
            properties: fields
                .into_iter()
                .map(|field| (field.name, field.schema))
                .collect(),
            ..Self::default()
        }
    }

    /// A reference to a schema under `components`.
    pub(in crate::http) fn reference(name: &str, shape: Self) -> Self {
        Self {
            reference: Some(format!("{NAMED}{name}")),
            example: shape.example,
            ..Self::default()
        }
    }

    /// A reference to one of `shapes`, which are under `components`.
    pub(in crate::http) fn named(shapes: &Shapes, name: &str) -> Self {
        let found = shapes.iter().find(|(each, _)| *each == name);
        Self {
            reference: Some(format!("{NAMED}{name}")),
            example: found.map_or_else(Example::default, |(_, shape)| shape().example()),
            ..Self::default()
        }
    }
}
