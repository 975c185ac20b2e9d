//! Amounts, numbers and moments as people type them.

use serde_json::Value;

use crate::http::pages::words::Words;
use crate::language::Language;

/// An amount as its reader writes it: in Portuguese points separate thousands and a comma the cents, in English
/// it is the other way round. `None` for what could be read in two ways, or has more than cents.
pub(super) fn amount(text: &str, w: Words) -> Option<Value> {
    let (thousands, cents) = match w.0 {
        Language::Portuguese => ('.', ','),
        Language::English => (',', '.'),
    };
    let (whole, fraction) = text.split_once(cents).unwrap_or((text, ""));
    let groups: Vec<_> = whole.split(thousands).collect();
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_grouped = match groups.as_slice() {
        [] => false,
        [single] => are_digits(single),
        [first, rest @ ..] => {
            (1..=3).contains(&first.len())
                && are_digits(first)
                && rest
                    .iter()
                    .all(|group| group.len() == 3 && are_digits(group))
        }
    };
    // 12500.50 is what programs write, and can mean nothing else.
    let is_plain = w.0 == Language::Portuguese
        && matches!(groups.as_slice(), [_, end] if (1..=2).contains(&end.len()) && are_digits(end))
        && fraction.is_empty();
    if is_plain {
        return json_number(text);
    }
    if !is_grouped || fraction.len() > 2 || !are_digits(fraction) {
        return None;
    }
    let whole = groups.concat();
    json_number(&match fraction {
        "" => whole,
        fraction => format!("{whole}.{fraction}"),
    })
}

/// A JSON number, if the text is one; otherwise the text, which the API refuses with the field's name.
pub(super) fn number(text: &str) -> Value {
    json_number(text).unwrap_or_else(|| Value::from(text))
}

fn json_number(text: &str) -> Option<Value> {
    let is_number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = is_number.then(|| serde_json::from_str(text).ok()).flatten();
    number.map(Value::Number)
}

pub(super) const SECONDS_PER_HOUR: u64 = 3_600;

/// Hours with two decimals at most, after a point or a comma. `None` for everything else.
pub(super) fn seconds_of_hours(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 2 {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?;
    let hundredths = format!("{fraction:0<2}").parse::<u64>().ok()?;
    let of_fraction = hundredths.checked_mul(SECONDS_PER_HOUR.div_euclid(100))?;
    whole
        .checked_mul(SECONDS_PER_HOUR)?
        .checked_add(of_fraction)
}

/// A moment that was typed in São Paulo's time, as the API reads it.
pub(super) fn moment(text: &str) -> String {
    use preauth_core::value::calendar;
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00"));
    let Ok(date) = date.parse::<chrono::NaiveDate>() else {
        return text.to_owned();
    };
    let time = chrono::NaiveTime::parse_from_str(time, "%H:%M")
        .or_else(|_| chrono::NaiveTime::parse_from_str(time, "%H:%M:%S"));
    let (Ok(time), Some(before)) = (time, date.pred_opt()) else {
        return text.to_owned();
    };
    let since_midnight = time.signed_duration_since(chrono::NaiveTime::MIN);
    let midnight = calendar::end_of_day(before);
    let midnight = midnight.saturating_add(chrono::TimeDelta::milliseconds(1));
    midnight.saturating_add(since_midnight).to_string()
}

#[cfg(test)]
mod tests {
    use super::{Language, Words, amount, moment, number, seconds_of_hours};

    #[test]
    fn amounts_are_read_as_the_reader_writes_them() {
        let (pt, en) = (Words(Language::Portuguese), Words(Language::English));
        for (text, w, expected) in [
            ("12.500,50", pt, 12_500.5),
            ("12500,5", pt, 12_500.5),
            ("12500.50", pt, 12_500.5),
            ("12500.5", pt, 12_500.5),
            ("12.000", pt, 12_000.0),
            ("1.234.567", pt, 1_234_567.0),
            ("12000", pt, 12_000.0),
            ("12500.50", en, 12_500.5),
            ("12,500.50", en, 12_500.5),
            ("12,000", en, 12_000.0),
        ] {
            let read = amount(text, w).and_then(|it| it.as_f64());
            assert!(
                read.is_some_and(|read| (read - expected).abs() < 1e-9),
                "{text}: {read:?}"
            );
        }
        for (text, w) in [
            ("12.000", en),
            ("12.5000", en),
            ("12,50", en),
            ("1,2,3", en),
            ("12.00.00", pt),
            ("12.5000", pt),
            ("1.23.456", pt),
            ("12,500.50", pt),
            ("12,000", pt),
            (".500", pt),
            ("1.500,", en),
            ("-5", pt),
            ("1e9", pt),
            ("", pt),
            (",50", pt),
        ] {
            assert_eq!(amount(text, w), None, "{text}");
        }
        assert!(number("12500.50").is_number());
        for text in ["12,500.50", "", "-1", "1e9", "x"] {
            assert!(number(text).is_string(), "{text}");
        }
    }

    #[test]
    fn hours_are_read_with_a_point_or_a_comma() {
        for (text, seconds) in [
            ("0", 0),
            ("1", 3_600),
            ("0.5", 1_800),
            ("0,25", 900),
            ("36.01", 129_636),
            ("744", 2_678_400),
        ] {
            assert_eq!(seconds_of_hours(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            ".",
            ".5",
            "1.",
            "1.005",
            "-1",
            "1e3",
            "1.2.3",
            "1:30",
            "an hour",
            "99999999999999999999",
            "18446744073709551615",
        ] {
            assert_eq!(seconds_of_hours(text), None, "{text}");
        }
    }

    #[test]
    fn moments_are_those_of_sao_paulo() {
        assert_eq!(moment("2026-11-21T10:30"), "2026-11-21T13:30:00.000Z");
        assert_eq!(moment("2026-11-21"), "2026-11-21T03:00:00.000Z");
        assert_eq!(moment("soon"), "soon");
    }
}
