//! Exact decimal numbers as they were written, before any rounding.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::Money;

/// Digits a number may be written with, before and after the point together.
const MAX_DIGITS: usize = 32;
/// How far an exponent may move the point, in either direction.
const MAX_EXPONENT: i32 = 32;

/// A decimal number, exactly as sent: the judge of bounds, never of storage.
///
/// Amounts are compared with their bounds on this value, and only then rounded to [`Money`]; no
/// binary float is involved at any point. Size is bounded on the text before anything is computed,
/// so that `1e999999999` costs nothing.
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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    /// Significant digits, the most significant first, without zeros at either end; empty for zero.
    digits: Vec<u8>,
    /// Where the point stands, counted from the first digit: `0.d1d2... * 10^point`. 0 for zero.
    point: i32,
}

/// Why a text is not an acceptable number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// Nothing at all.
    #[error("the number is empty")]
    Empty,
    /// Not a number in the notation asked for.
    #[error("the text is not a decimal number")]
    Malformed,
    /// A plain decimal with a sign.
    #[error("the number has a sign")]
    Sign,
    /// A plain decimal with an exponent.
    #[error("the number has an exponent")]
    Exponent,
    /// Zeros before the first digit, as in `0600`.
    #[error("the number has leading zeros")]
    LeadingZero,
    /// More than 32 digits.
    #[error("the number has more than {MAX_DIGITS} digits")]
    TooManyDigits,
    /// An exponent beyond 32 in either direction.
    #[error("the exponent is beyond {MAX_EXPONENT}")]
    ExponentTooLarge,
}

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

    /// The exact value of an amount in cents.
    #[must_use]
    pub fn from_cents(cents: i64) -> Self {
        Self::from_parts(cents < 0, &cents.unsigned_abs().to_string(), "", -2)
    }

    /// The exact sum with a whole number. Nothing is rounded and nothing overflows, whatever the
    /// distance between the two: the sum just has more digits.
    #[must_use]
    pub fn plus_whole(&self, whole: u64) -> Self {
        self.plus(&Self::from(whole))
    }

    /// Rounds to whole cents, half away from zero. `None` below zero, where there is no [`Money`],
    /// and beyond what `Money` can hold.
    #[must_use]
    pub fn round_to_cents(&self) -> Option<Money> {
        if self.negative {
            return None;
        }
        let Ok(kept) = usize::try_from(self.point.saturating_add(2)) else {
            // Below a tenth of a cent.
            return Some(Money::ZERO);
        };
        let mut digits = self.digits.iter().copied().chain(std::iter::repeat(0));
        let mut cents: i64 = 0;
        for digit in digits.by_ref().take(kept) {
            cents = cents.checked_mul(10)?.checked_add(i64::from(digit))?;
        }
        let rounds_up = digits.next().is_some_and(|digit| digit >= 5);
        Money::from_cents(cents.checked_add(i64::from(rounds_up))?)
    }

    /// Whether the number is below zero. `-0` is not.
    #[must_use]
    pub const fn is_negative(&self) -> bool {
        self.negative
    }

    /// `whole.fraction * 10^exponent`, from ASCII digits that were checked before.
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

    /// The one representation of a value, so that equality of fields is equality of numbers.
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

    /// Schoolbook addition, one column per decimal place. Columns stay within -19..=19.
    fn plus(&self, other: &Self) -> Self {
        let top = self.point.max(other.point);
        let bottom = self.last_place().min(other.last_place());
        let width = usize::try_from(top.saturating_sub(bottom)).unwrap_or_default();
        let mut columns = vec![0_i16; width];
        for number in [self, other] {
            let offset = usize::try_from(top.saturating_sub(number.point)).unwrap_or_default();
            for (column, digit) in columns.iter_mut().skip(offset).zip(&number.digits) {
                let digit = i16::from(*digit);
                let signed = if number.negative {
                    digit.saturating_neg()
                } else {
                    digit
                };
                *column = column.saturating_add(signed);
            }
        }
        // All columns to the right of the first one that is not zero weigh less than one of it.
        let negative = columns
            .iter()
            .find(|column| **column != 0)
            .is_some_and(|first| *first < 0);
        let mut carry = 0_i16;
        let mut digits = Vec::with_capacity(width.saturating_add(1));
        for column in columns.iter().rev() {
            let magnitude = if negative {
                column.saturating_neg()
            } else {
                *column
            };
            let sum = magnitude.saturating_add(carry);
            carry = sum.div_euclid(10);
            digits.push(u8::try_from(sum.rem_euclid(10)).unwrap_or_default());
        }
        digits.push(u8::try_from(carry).unwrap_or_default());
        digits.reverse();
        Self::normalized(negative, digits, top.saturating_add(1))
    }

    /// The point's distance from the end of the digits: the place of the last one.
    fn last_place(&self) -> i32 {
        self.point
            .saturating_sub(i32::try_from(self.digits.len()).unwrap_or(i32::MAX))
    }

    const fn signum(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

/// Splits `digits` or `digits.digits`, having checked notation and size.
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

/// Reads what follows the `e`. Leading zeros are legal JSON here, and carry no weight.
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

impl From<u64> for Decimal {
    fn from(whole: u64) -> Self {
        Self::from_parts(false, &whole.to_string(), "", 0)
    }
}

impl From<Money> for Decimal {
    fn from(money: Money) -> Self {
        Self::from_cents(money.cents())
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

impl FromStr for Decimal {
    type Err = DecimalError;

    /// The notation of JSON, see [`Decimal::parse_json_number`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse_json_number(text)
    }
}
