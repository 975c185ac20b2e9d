//! Parses durations: `90s`, `15m`, `12h`, `3d`.

/// Parses a duration, in seconds.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit_seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(unit_seconds)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_span_is_a_number_and_a_unit() {
        for (text, seconds) in [
            ("0s", 0),
            ("90s", 90),
            ("15m", 900),
            ("12h", 43_200),
            ("3d", 259_200),
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            "d",
            "3",
            "3w",
            "-1d",
            "+1d",
            "1.5d",
            "3 d",
            "3é",
            "99999999999999999999d",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
