//! The two notations in which a number may be sent, and their size limits.

use std::str::FromStr;

use super::Decimal;

/// Maximum number of digits, before and after the point together.
const MAX_DIGITS: usize = 32;
/// Maximum exponent, in either direction.
const MAX_EXPONENT: i32 = 32;

/// Why a text is not an acceptable number.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum DecimalError {
    /// The text is empty.
    #[error("the number is empty; expected digits such as 1234.56")]
    Empty,
    /// The text is not a number in the expected notation.
    #[error("the text is not a decimal number such as 1234.56")]
    Malformed,
    /// A sign, which plain decimals must not have.
    #[error("the number has a sign; expected digits such as 1234.56")]
    Sign,
    /// An exponent, which plain decimals must not have.
    #[error("the number has an exponent; expected digits such as 1234.56")]
    Exponent,
    /// Zeros before the first digit, as in `0600`.
    #[error("the number has leading zeros; leave them out")]
    LeadingZero,
    /// More than 32 digits.
    #[error("the number has more than {MAX_DIGITS} digits")]
    TooManyDigits,
    /// An exponent beyond 32 in either direction.
    #[error("the exponent is beyond {MAX_EXPONENT}")]
    ExponentTooLarge,
}

crate::explained::explained!(DecimalError);

impl Decimal {
    /// Reads a number in the notation of JSON: optional minus, optional fraction, optional exponent.
    pub fn parse_json_number(text: &str) -> Result<Self, DecimalError> {
        if text.is_empty() {
            return Err(DecimalError::Empty);
        }
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (unsigned, None),
        };
        let (whole, fraction) = split_mantissa(mantissa)?;
        let exponent = exponent.map_or(Ok(0), parse_exponent)?;
        Ok(Self::from_parts(negative, whole, fraction, exponent))
    }

    /// Reads a plain decimal, the only notation of a numeric string: digits, and perhaps a point
    /// and digits. No sign, exponent, leading zero, thousands separator or surrounding space.
    pub fn parse_plain(text: &str) -> Result<Self, DecimalError> {
        if text.is_empty() {
            return Err(DecimalError::Empty);
        }
        if text.starts_with(['+', '-']) {
            return Err(DecimalError::Sign);
        }
        if let Some((mantissa, exponent)) = text.split_once(['e', 'E']) {
            split_mantissa(mantissa)?;
            return Err(match parse_exponent(exponent) {
                Err(DecimalError::Malformed) => DecimalError::Malformed,
                _ => DecimalError::Exponent,
            });
        }
        let (whole, fraction) = split_mantissa(text)?;
        Ok(Self::from_parts(false, whole, fraction, 0))
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    /// The notation of JSON, see [`Decimal::parse_json_number`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse_json_number(text)
    }
}

/// Validates the notation and size of `digits` or `digits.digits`, and splits it at the point.
fn split_mantissa(text: &str) -> Result<(&str, &str), DecimalError> {
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return Err(DecimalError::Malformed),
        Some(parts) => parts,
        None => (text, ""),
    };
    if whole.is_empty()
        || !whole
            .bytes()
            .chain(fraction.bytes())
            .all(|byte| byte.is_ascii_digit())
    {
        Err(DecimalError::Malformed)
    } else if whole.len() > 1 && whole.starts_with('0') {
        Err(DecimalError::LeadingZero)
    } else if whole.len().saturating_add(fraction.len()) > MAX_DIGITS {
        Err(DecimalError::TooManyDigits)
    } else {
        Ok((whole, fraction))
    }
}

/// Reads the exponent after the `e`. Leading zeros are legal JSON here, and are ignored.
fn parse_exponent(text: &str) -> Result<i32, DecimalError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DecimalError::Malformed);
    }
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Ok(0);
    }
    match significant.parse::<i32>() {
        Ok(exponent) if exponent > MAX_EXPONENT => Err(DecimalError::ExponentTooLarge),
        Ok(exponent) if text.starts_with('-') => Ok(exponent.saturating_neg()),
        Ok(exponent) => Ok(exponent),
        Err(_) => Err(DecimalError::ExponentTooLarge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_numbers_are_read_by_the_grammar_of_json() {
        for text in [
            "0", "-0", "0.10", "1e3", "1E+3", "1.5e-3", "1e007", "-12.5", "0e0", "0.0e-32",
        ] {
            assert!(Decimal::parse_json_number(text).is_ok(), "{text}");
        }
        let malformed = [
            "-",
            "+1",
            ".5",
            "5.",
            "1.e3",
            "1e",
            "1e+",
            "1e+-3",
            "1 ",
            " 1",
            "0x10",
            "1_000",
            "1,5",
            "NaN",
            "Infinity",
            "--1",
            "1.2.3",
            "1e1.5",
            "1ee3",
            "６００",
            "1e\u{661}",
        ];
        for text in malformed {
            let found = Decimal::parse_json_number(text);
            assert_eq!(found, Err(DecimalError::Malformed), "{text}");
        }
        assert_eq!(
            Decimal::parse_json_number("00"),
            Err(DecimalError::LeadingZero)
        );
        assert_eq!(
            Decimal::parse_json_number("-0600"),
            Err(DecimalError::LeadingZero)
        );
        assert_eq!(Decimal::parse_json_number(""), Err(DecimalError::Empty));
    }

    #[test]
    fn numeric_strings_are_plain_decimals_only() {
        assert_eq!(
            Decimal::parse_plain("1234.56"),
            Ok(Decimal::from_cents(123_456))
        );
        let cases = [
            ("", DecimalError::Empty),
            ("+600", DecimalError::Sign),
            ("-0", DecimalError::Sign),
            ("5e2", DecimalError::Exponent),
            ("5e999999999999999999", DecimalError::Exponent),
            ("0600", DecimalError::LeadingZero),
            ("600.", DecimalError::Malformed),
            (".5", DecimalError::Malformed),
            ("0x258", DecimalError::Malformed),
            ("1.234,56", DecimalError::Malformed),
            ("1,234.56", DecimalError::Malformed),
            (" 600", DecimalError::Malformed),
            ("NaN", DecimalError::Malformed),
            ("hello", DecimalError::Malformed),
            ("5e", DecimalError::Malformed),
            ("６００", DecimalError::Malformed),
        ];
        for (text, error) in cases {
            assert_eq!(Decimal::parse_plain(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_number_of_32_digits_is_read_and_one_of_33_is_not() {
        let digits = "9".repeat(32);
        assert!(Decimal::parse_plain(&digits).is_ok());
        assert!(Decimal::parse_plain(&format!("9.{}", "9".repeat(31))).is_ok());
        for text in [format!("{digits}9"), format!("{digits}.9")] {
            assert_eq!(
                Decimal::parse_plain(&text),
                Err(DecimalError::TooManyDigits)
            );
            assert_eq!(
                Decimal::parse_json_number(&text),
                Err(DecimalError::TooManyDigits)
            );
        }
    }

    #[test]
    fn an_exponent_beyond_32_is_refused_whatever_its_size() {
        for text in ["1e32", "1e-32", "1e+0032"] {
            assert!(Decimal::parse_json_number(text).is_ok(), "{text}");
        }
        let huge = format!("1e{}", "9".repeat(100_000));
        for text in [
            "1e33",
            "1e-33",
            "1e400",
            "1e-999999999",
            "0e33",
            "1e2147483648",
            &huge,
        ] {
            assert_eq!(
                Decimal::parse_json_number(text),
                Err(DecimalError::ExponentTooLarge)
            );
        }
    }
}
