//! Exact decimal numbers as they were written, before any rounding.

use std::cmp::Ordering;
use std::fmt;

mod parse;
mod sum;

pub use parse::DecimalError;

/// A decimal number with its exact value as sent, used to check bounds and never stored.
///
/// Amounts are compared with their bounds on this value, and only then rounded to [`Money`](super::Money); no
/// binary float is involved at any point. The size of the text is limited before anything is computed, so
/// that `1e999999999` costs nothing.
///
/// Equality is numeric: `-0`, `0` and `0.00` are one number, and so are `1e3` and `1000`.
///
/// ```
/// use preauth_core::value::Decimal;
///
/// let amount = Decimal::parse_json_number("1000.005")?;
/// assert!(amount > Decimal::parse_plain("1000")?);
/// assert_eq!(amount.round_to_cents().map(|money| money.cents()), Some(100_001));
/// # Ok::<(), preauth_core::value::DecimalError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    /// Significant digits, the most significant first, without zeros at either end; empty for zero.
    digits: Vec<u8>,
    /// Position of the point, counted from the first digit: `0.d1d2... * 10^point`. 0 for zero.
    point: i32,
}

impl Decimal {
    /// The exact value of an amount in cents.
    #[must_use]
    pub fn from_cents(cents: i64) -> Self {
        Self::from_parts(cents < 0, &cents.unsigned_abs().to_string(), "", -2)
    }

    /// The cents after rounding half away from zero; `None` below zero and above the maximum of `i64`.
    pub(super) fn rounded_cents(&self) -> Option<i64> {
        if self.negative {
            return None;
        }
        let Ok(kept) = usize::try_from(self.point.saturating_add(2)) else {
            // Below a tenth of a cent.
            return Some(0);
        };
        let mut digits = self.digits.iter().copied().chain(std::iter::repeat(0));
        let mut cents: i64 = 0;
        for digit in digits.by_ref().take(kept) {
            cents = cents.checked_mul(10)?.checked_add(i64::from(digit))?;
        }
        let rounds_up = digits.next().is_some_and(|digit| digit >= 5);
        cents.checked_add(i64::from(rounds_up))
    }

    /// Whether the number is below zero. `-0` is not.
    #[must_use]
    pub const fn is_negative(&self) -> bool {
        self.negative
    }

    /// The number `whole.fraction * 10^exponent`, from ASCII digits that were validated before.
    fn from_parts(negative: bool, whole: &str, fraction: &str, exponent: i32) -> Self {
        let digits = whole
            .bytes()
            .chain(fraction.bytes())
            .map(|byte| byte.saturating_sub(b'0'));
        let point = i32::try_from(whole.len())
            .unwrap_or(i32::MAX)
            .saturating_add(exponent);
        Self::normalized(negative, digits.collect(), point)
    }

    /// Normalizes the representation, so that equal numbers have equal fields.
    fn normalized(negative: bool, mut digits: Vec<u8>, point: i32) -> Self {
        let leading = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..leading);
        while digits.last() == Some(&0) {
            digits.pop();
        }
        if digits.is_empty() {
            return Self {
                negative: false,
                digits,
                point: 0,
            };
        }
        let shift = i32::try_from(leading).unwrap_or(i32::MAX);
        Self {
            negative,
            digits,
            point: point.saturating_sub(shift),
        }
    }

    const fn signum(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

impl From<u64> for Decimal {
    fn from(whole: u64) -> Self {
        Self::from_parts(false, &whole.to_string(), "", 0)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.signum().cmp(&other.signum()).then_with(|| {
            // Without zeros at either end, the order of digit strings is the order of fractions.
            let magnitude = (self.point, &self.digits).cmp(&(other.point, &other.digits));
            if self.negative {
                magnitude.reverse()
            } else {
                magnitude
            }
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    /// Writes the value without exponent: `-0.005`, `1000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole_places = usize::try_from(self.point).unwrap_or_default();
        let zeros_after_point = usize::try_from(self.point.saturating_neg()).unwrap_or_default();
        let mut digits = self.digits.iter().copied().map(char_of);
        let mut text: String = digits
            .by_ref()
            .chain(std::iter::repeat('0'))
            .take(whole_places)
            .collect();
        if text.is_empty() {
            text.push('0');
        }
        let fraction: String = std::iter::repeat_n('0', zeros_after_point)
            .chain(digits)
            .collect();
        if !fraction.is_empty() {
            text.push('.');
            text.push_str(&fraction);
        }
        f.pad_integral(!self.negative, "", &text)
    }
}

fn char_of(digit: u8) -> char {
    char::from(digit.saturating_add(b'0'))
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decimal({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Money;

    fn parse(text: &str) -> Decimal {
        Decimal::parse_json_number(text).unwrap()
    }

    #[test]
    fn the_same_number_written_differently_is_equal() {
        for (a, b) in [
            ("-0", "0"),
            ("0.00", "0e5"),
            ("1e3", "1000.0"),
            ("12e-1", "1.2"),
        ] {
            assert_eq!(parse(a), parse(b), "{a} and {b}");
            assert_eq!(parse(a).cmp(&parse(b)), Ordering::Equal, "{a} and {b}");
        }
    }

    #[test]
    fn cents_are_rounded_half_away_from_zero() {
        let cases = [
            ("0", 0),
            ("0.004999", 0),
            ("0.005", 1),
            ("0.0009", 0),
            ("1.005", 101),
            ("1000.005", 100_001),
            ("1000.00499999999999999999", 100_000),
            ("99.995", 10_000),
            ("9e-32", 0),
            ("5e2", 50_000),
        ];
        for (text, cents) in cases {
            assert_eq!(
                parse(text).round_to_cents().map(Money::cents),
                Some(cents),
                "{text}"
            );
        }
    }

    #[test]
    fn a_number_out_of_range_does_not_round_to_cents() {
        assert_eq!(parse("-0.001").round_to_cents(), None);
        assert_eq!(
            parse("92233720368547758.07").round_to_cents(),
            Money::from_cents(i64::MAX)
        );
        assert_eq!(parse("92233720368547758.075").round_to_cents(), None);
        assert_eq!(parse("1e32").round_to_cents(), None);
    }
}
