//! Schemas without children.

use preauth_core::value::TextEnum;
use serde_json::Value;

use super::{Example, Kind, Schema};

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
