//! The time of signing, with its text in the header.

use crate::error::HeaderDefect;
use crate::limits::MAX_DIGITS;

/// A timestamp in canonical form: its number can be written in no other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timestamp<'h> {
    text: &'h [u8],
    unix_seconds: i64,
}

impl<'h> Timestamp<'h> {
    /// Parses ASCII digits without sign and without leading zero. The form is validated first, so the
    /// number always fits.
    pub(crate) fn parse(text: &'h [u8]) -> Result<Self, HeaderDefect> {
        if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
            return Err(HeaderDefect::TimestampNotDigits);
        }
        if text.len() > MAX_DIGITS {
            return Err(HeaderDefect::TimestampTooLong);
        }
        if text.len() > 1 && text.starts_with(b"0") {
            return Err(HeaderDefect::TimestampLeadingZero);
        }
        let unix_seconds = text.iter().fold(0_i64, |number, digit| {
            // Twelve digits always fit: nothing wraps.
            let value = i64::from(digit.wrapping_sub(b'0'));
            number.wrapping_mul(10).wrapping_add(value)
        });
        Ok(Self { text, unix_seconds })
    }

    /// The text as received, which is part of the signed string.
    pub(crate) fn text(&self) -> &'h [u8] {
        self.text
    }

    /// The number, for comparing with the clock only.
    pub(crate) fn unix_seconds(&self) -> i64 {
        self.unix_seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_kept_beside_its_number() {
        for (text, number) in [
            ("0", 0),
            ("7", 7),
            ("1760000000", 1_760_000_000),
            ("999999999999", 999_999_999_999),
        ] {
            let timestamp = Timestamp::parse(text.as_bytes()).unwrap();
            assert_eq!(timestamp.text(), text.as_bytes());
            assert_eq!(timestamp.unix_seconds(), number);
        }
    }

    #[test]
    fn any_other_way_to_write_a_number_is_refused() {
        use HeaderDefect::{TimestampLeadingZero, TimestampNotDigits, TimestampTooLong};
        for (text, defect) in [
            ("", TimestampNotDigits),
            ("+1760000000", TimestampNotDigits),
            ("-1", TimestampNotDigits),
            ("-9223372036854775808", TimestampNotDigits),
            ("1760000000.0", TimestampNotDigits),
            ("1_760_000_000", TimestampNotDigits),
            ("0x68e77800", TimestampNotDigits),
            ("1e9", TimestampNotDigits),
            (" 1760000000", TimestampNotDigits),
            // Arabic-Indic digits: digits in Unicode, but not in this header.
            ("\u{661}\u{667}\u{666}", TimestampNotDigits),
            ("00", TimestampLeadingZero),
            ("01760000000", TimestampLeadingZero),
            ("1760000000000", TimestampTooLong),
            ("9223372036854775807", TimestampTooLong),
            ("9223372036854775808", TimestampTooLong),
            ("99999999999999999999999999999999", TimestampTooLong),
        ] {
            assert_eq!(Timestamp::parse(text.as_bytes()), Err(defect), "{text}");
        }
    }
}
