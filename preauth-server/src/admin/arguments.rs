//! Parses arguments into values by the domain's rules, before anything is sent.

use std::collections::BTreeSet;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use preauth_core::value::TextEnum;
use serde_json::{Map, Value};

/// Parses a word of a closed set, and lists the set in help and errors.
pub(super) fn among<T: TextEnum + Send + Sync>(
    offered: &'static [T],
) -> impl TypedValueParser<Value = T> {
    let words = offered.iter().map(|word| word.as_str());
    PossibleValuesParser::new(words).try_map(move |text| {
        let found = offered
            .iter()
            .find(|word| word.as_str().eq_ignore_ascii_case(&text));
        found.copied().ok_or("not on offer")
    })
}

/// The texts of a list of words, each once.
pub(super) fn words<T: TextEnum>(words: &[T]) -> BTreeSet<&'static str> {
    words.iter().map(|word| word.as_str()).collect()
}

/// A JSON object of the given values.
pub(super) fn given<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let named = |(name, value): (&str, Option<Value>)| Some((name.to_owned(), value?));
    Value::Object(fields.into_iter().filter_map(named).collect::<Map<_, _>>())
}

/// A value as a JSON string, if it was given.
pub(super) fn text(value: Option<&impl ToString>) -> Option<Value> {
    value.map(|value| Value::String(value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{given, text};
    use serde_json::json;

    #[test]
    fn what_was_not_given_is_not_sent() {
        let reason: Option<&String> = None;
        let body = given([("by", Some(json!("COMPANY"))), ("reason", text(reason))]);
        assert_eq!(body, json!({"by": "COMPANY"}));
    }
}
