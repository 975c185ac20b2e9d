//! The values that a schema admits: bounds, sets of words, defaults.

use std::fmt::Write;
use std::sync::LazyLock;

use preauth_core::value::{TextEnum, is_hidden};
use serde_json::{Number, Value};

use super::{ExclusiveMinimum, Schema};

/// An e-mail address of a request. The maximum length of its parts is not part of it.
const EMAIL: &str = "^([A-Za-z0-9_'+-]+\\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\\.)+[A-Za-z]{2,}$";

/// A time of a request, which has no other offset than UTC's.
const UTC: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?Z$";

/// A text without control characters.
const STORABLE: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/// A CNPJ as requests may have it: twelve letters or digits and two digits, with mask characters
/// anywhere and spaces around.
const CNPJ: &str = "^ *([./-]*[0-9A-Za-z]){12}([./-]*[0-9]){2}[./-]* *$";

/// The pattern of a text of a request: visible characters of the basic plane, and all characters beyond
/// it. For these, dialects of regular expressions have different escapes, so the pattern names none.
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

impl Schema {
    /// A text with a set of known words that may grow.
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

    /// A list whose elements are restricted to these members of a set.
    pub(in crate::http) fn offering<T: TextEnum>(mut self, offered: &[T]) -> Self {
        let words: Vec<_> = offered.iter().map(|member| member.as_str()).collect();
        self.items = self.items.map(|items| Box::new(items.closed(&words)));
        self
    }

    /// Replaces its bounds by these.
    pub(in crate::http) fn between(self, minimum: i64, maximum: impl Into<Option<i64>>) -> Self {
        Self {
            minimum: Some(minimum.into()),
            exclusive_minimum: None,
            maximum: maximum.into().map(Into::into),
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

    /// A text of a request: its length, and the rule that every character is visible.
    pub(in crate::http) fn visible(self, min: usize, max: usize) -> Self {
        self.length(min, max).pattern(&VISIBLE)
    }

    /// A text of a filter: its length, and the rule that it has no control character. Earlier builds accepted
    /// other invisible characters, which must still be found.
    pub(in crate::http) fn storable(self, min: usize, max: usize) -> Self {
        self.length(min, max).pattern(STORABLE)
    }

    /// A CNPJ of a request; no schema can name the rule of its check digits.
    pub(in crate::http) fn typed_cnpj(self) -> Self {
        self.length(14, 64).pattern(CNPJ)
    }

    /// An e-mail address of a request.
    pub(in crate::http) fn typed_email(self) -> Self {
        self.pattern(EMAIL)
    }

    /// A time of a request.
    pub(in crate::http) fn typed_timestamp(self) -> Self {
        self.pattern(UTC)
    }

    /// An amount of a request that is above zero once it is rounded to cents.
    pub(in crate::http) fn at_least_half_a_cent(self) -> Self {
        Self {
            minimum: Number::from_f64(0.005),
            ..self
        }
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
}
