//! Schemas that generated clients support, as measured with generators of several languages.
//!
//! - Answers and events allow more properties explicitly: some clients refuse a new field
//!   otherwise.
//! - Sets of words in answers are strings with their values beside them: a closed enum breaks
//!   clients at the first new value. Requests may be closed.
//! - Amounts are `double`: a number without format is a 32-bit float in some languages.
//! - A nullable value has a type of two; there is no `const` and no `oneOf`.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use preauth_core::value::{TextEnum, is_hidden};
use serde::Serialize;
use serde_json::{Number, Value};

use super::example::Example;
use super::listed::Listed;

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

/// A property of an object.
pub(in crate::http) struct Field {
    pub(super) name: Cow<'static, str>,
    pub(super) schema: Schema,
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

/// What a text of a request may hold: the characters of the basic plane that show, and all beyond
/// it, whose escapes regular expressions do not share.
static VISIBLE: LazyLock<String> = LazyLock::new(|| {
    let mut ranges = String::new();
    let mut units = ('\0'..='\u{FFFF}').peekable();
    while let Some(first) = units.next() {
        if !is_hidden(first) {
            continue;
        }
        let mut last = first;
        while let Some(next) = units.next_if(|next| is_hidden(*next)) {
            last = next;
        }
        let _ = write!(
            ranges,
            "\\u{:04x}-\\u{:04x}",
            u32::from(first),
            u32::from(last)
        );
    }
    format!("^[^{ranges}]*$")
});

/// Schemas without children.
impl Schema {
    pub(in crate::http) fn text(description: &str, example: &str) -> Self {
        Self::leaf("string", None, description, example.into())
    }

    /// A time in UTC.
    pub(in crate::http) fn timestamp(description: &str) -> Self {
        let example = "2026-11-21T12:00:00.000Z".into();
        Self::leaf("string", Some("date-time"), description, example)
    }

    pub(in crate::http) fn date(description: &str, example: &str) -> Self {
        Self::leaf("string", Some("date"), description, example.into())
    }

    pub(in crate::http) fn uuid(description: &str) -> Self {
        let example = "018f2f3a-0000-7000-8000-000000000001".into();
        Self::leaf("string", Some("uuid"), description, example)
    }

    pub(in crate::http) fn email(description: &str) -> Self {
        let example = "financeiro@fornecedor.example.com".into();
        Self::leaf("string", Some("email"), description, example).length(0, 255)
    }

    pub(in crate::http) fn integer(description: &str, example: i64) -> Self {
        Self::leaf("integer", Some("int64"), description, example.into())
    }

    /// An amount in reais.
    pub(in crate::http) fn amount(description: &str, example: f64) -> Self {
        Self::leaf("number", Some("double"), description, example.into())
    }

    /// Raw bytes.
    pub(in crate::http) fn binary(description: &str, example: &str) -> Self {
        Self::leaf("string", Some("binary"), description, example.into())
    }

    pub(in crate::http) fn boolean(description: &str, example: bool) -> Self {
        Self::leaf("boolean", None, description, example.into())
    }

    /// A word of a set that may grow.
    pub(in crate::http) fn open<T: TextEnum>(description: &str, example: T) -> Self {
        let values = T::ALL.iter().map(|member| (*member).as_str());
        Self::open_words(description, values.collect(), example.as_str())
    }

    /// A word of a set that may grow, and that is not an enum of this workspace.
    pub(in crate::http) fn open_words(
        description: &str,
        values: Vec<&'static str>,
        example: &'static str,
    ) -> Self {
        Self::text(description, example).words(values)
    }

    /// A word of a closed set, for requests.
    pub(in crate::http) fn one_of<T: TextEnum>(
        description: &str,
        offered: &[T],
        example: T,
    ) -> Self {
        let values: Vec<_> = offered.iter().map(|member| member.as_str()).collect();
        Self::text(description, example.as_str()).closed(&values)
    }

    fn leaf(
        kind: &'static str,
        format: Option<&'static str>,
        description: &str,
        example: Value,
    ) -> Self {
        Self {
            kind: Some(Kind::One(kind)),
            format,
            description: description.to_owned(),
            example: Example::Value(example),
            ..Self::default()
        }
    }
}

/// Schemas with children.
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

/// Changes of a schema.
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

    /// A text whose words are known today, and may grow in number.
    pub(in crate::http) fn words(self, words: impl IntoIterator<Item = &'static str>) -> Self {
        let open: Vec<_> = words.into_iter().collect();
        let known = open.join(", ");
        let description = self.description;
        Self {
            description: format!(
                "{description} One of: {known}. More may be added: accept unknown ones."
            ),
            open,
            ..self
        }
    }

    /// A list whose elements are some members of a set.
    pub(in crate::http) fn offering<T: TextEnum>(mut self, offered: &[T]) -> Self {
        let words: Vec<_> = offered.iter().map(|member| member.as_str()).collect();
        self.items = self.items.map(|items| Box::new(items.closed(&words)));
        self
    }

    /// With these bounds alone.
    pub(in crate::http) fn between(self, minimum: i64, maximum: impl Into<Option<i64>>) -> Self {
        Self {
            minimum: Some(minimum.into()),
            exclusive_minimum: None,
            maximum: maximum.into().map(Into::into),
            ..self
        }
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

    /// The number of characters; no minimum for 0.
    pub(in crate::http) fn length(self, min: usize, max: usize) -> Self {
        Self {
            min_length: (min > 0).then_some(min),
            max_length: Some(max),
            ..self
        }
    }

    pub(in crate::http) fn pattern(self, pattern: &'static str) -> Self {
        Self {
            pattern: Some(pattern),
            ..self
        }
    }

    /// A text of a request: its length, and that every character shows.
    pub(in crate::http) fn visible(self, min: usize, max: usize) -> Self {
        self.length(min, max).pattern(&VISIBLE)
    }

    pub(in crate::http) fn at_least(self, minimum: i64) -> Self {
        Self {
            minimum: Some(minimum.into()),
            ..self
        }
    }

    pub(in crate::http) fn above(self, minimum: i64) -> Self {
        Self {
            exclusive_minimum: Some(ExclusiveMinimum::Above(minimum.into())),
            ..self
        }
    }

    pub(in crate::http) fn at_most(self, maximum: i64) -> Self {
        Self {
            maximum: Some(maximum.into()),
            ..self
        }
    }

    /// Restricts it to a closed set of words, for requests.
    pub(in crate::http) fn closed(self, values: &[&str]) -> Self {
        Self {
            closed: values.iter().map(|value| (*value).into()).collect(),
            ..self
        }
    }

    pub(in crate::http) fn among(self, values: &[i64]) -> Self {
        Self {
            closed: values.iter().map(|value| (*value).into()).collect(),
            ..self
        }
    }

    /// Sets the default of a parameter. For a field of a body the description mentions it instead:
    /// generators treat a field with a default as required.
    pub(in crate::http) fn by_default(self, value: impl Into<Value>) -> Self {
        Self {
            default: Some(value.into()),
            ..self
        }
    }

    /// The number of elements; no minimum for 0.
    pub(in crate::http) fn items(self, min: usize, max: usize) -> Self {
        Self {
            min_items: (min > 0).then_some(min),
            max_items: Some(max),
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

    /// The named schema that this one refers to.
    pub(in crate::http) fn target(&self) -> Option<&str> {
        self.reference.as_deref()?.strip_prefix(NAMED)
    }

    /// Replaces each object by its JSON as a text.
    pub(in crate::http) fn put_objects_as_texts(&mut self) {
        for property in self.properties.values_mut() {
            if let Some(name) = property.target() {
                *property = Self::text(&format!("A `{name}` as JSON."), "");
            }
        }
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

    pub(in crate::http) fn description(&self) -> &str {
        &self.description
    }

    pub(in crate::http) fn example(&self) -> Example {
        self.example.clone()
    }
}
