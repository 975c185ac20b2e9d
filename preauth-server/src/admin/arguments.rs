//! Parses arguments into values by the domain's rules, before anything is sent.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use preauth_core::value::{DueDate, TextEnum, Timestamp, TimestampError};

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

/// Parses a time in the form of the API or of the tables.
pub(super) fn moment(text: &str) -> Result<Timestamp, String> {
    let parsed = Timestamp::parse(&text.replacen(' ', "T", 1));
    parsed.map_err(|error| match (error, DueDate::parse(text)) {
        (TimestampError::Shape, Ok(day)) => {
            format!("the time of the day is missing; the day begins in UTC at {day}T00:00:00Z, in São Paulo at {day}T03:00:00Z")
        }
        (TimestampError::Shape, Err(_)) => "it is no time in UTC like 2026-11-21T13:09:47Z".to_owned(),
        (error, _) => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn a_moment_is_read_as_it_is_shown() {
        for text in ["2026-11-21 13:09:47Z", "2026-11-21T13:09:47.000Z"] {
            assert_eq!(
                moment(text).unwrap().to_string(),
                "2026-11-21T13:09:47.000Z"
            );
        }
        assert!(moment("2026-11-21").is_err());
    }
}
