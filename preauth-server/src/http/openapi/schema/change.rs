//! Changes of a schema: null and absence, its description, its example.

use serde_json::Value;

use super::{Example, Kind, Schema};

impl Schema {
    pub(in crate::http) fn nullable(mut self) -> Self {
        self.kind = self.kind.map(|kind| match kind {
            Kind::One(kind) | Kind::OrNull([kind, _]) => Kind::OrNull([kind, "null"]),
        });
        if !self.closed.is_empty() {
            self.closed.push(Value::Null);
        }
        self
    }

    /// Nullable, with null as its example.
    pub(in crate::http) fn null(self) -> Self {
        Self {
            example: Example::default(),
            ..self.nullable()
        }
    }

    /// A field that an object may lack.
    pub(in crate::http) fn optional(self) -> Self {
        Self {
            may_be_absent: true,
            ..self
        }
    }

    /// A field that is left out rather than null.
    pub(in crate::http) fn omitted_if_none(mut self) -> Self {
        if let Some(Kind::OrNull([kind, _])) = self.kind {
            self.kind = Some(Kind::One(kind));
        }
        self.optional()
    }

    /// With this before its description.
    pub(in crate::http) fn described(self, description: &str) -> Self {
        Self {
            description: format!("{description}{}", self.description),
            ..self
        }
    }

    /// With this before the description of a list's elements.
    pub(in crate::http) fn each(mut self, description: &str) -> Self {
        self.items = self
            .items
            .map(|items| Box::new(items.described(description)));
        self
    }

    /// With this example.
    pub(in crate::http) fn shown(self, example: impl Into<Value>) -> Self {
        Self {
            example: Example::Value(example.into()),
            ..self
        }
    }

    /// With the example of another schema.
    pub(in crate::http) fn shown_as(self, other: &Self) -> Self {
        Self {
            example: other.example(),
            ..self
        }
    }

    /// Removes the description, for the member that has this schema.
    pub(in crate::http) fn undescribed(self) -> Self {
        Self {
            description: String::new(),
            ..self
        }
    }

    /// Replaces each object by its JSON as a text.
    pub(in crate::http) fn put_objects_as_texts(&mut self) {
        for property in self.properties.values_mut() {
            if let Some(name) = property.target() {
                *property = Self::text(&format!("A `{name}` as JSON."), "");
            }
        }
    }
}
