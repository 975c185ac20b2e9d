//! Parses arguments into values by the domain's rules, before anything is sent.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use preauth_core::value::TextEnum;

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
