//! For any text given as an amount: no panic, and the exact number that was written.
//!
//! The input is two numbers, one per line. The check is a grid of digits, wide enough for every
//! number within the bounds, that shares no code with `Decimal`.

#![no_main]

use std::cmp::Ordering;

use libfuzzer_sys::fuzz_target;
use preauth_core::value::{Decimal, Money};
use preauth_core::wire::Amount;
use serde_json::value::RawValue;

const MAX_DIGITS: usize = 32;
const MAX_EXPONENT: usize = 32;
/// Places on either side of the point: 32 digits, an exponent of 32, and a carry.
const PLACES: usize = 70;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let (first, second) = text.split_once('\n').unwrap_or((text, "1"));
    accepted_text_is_json_within_the_bounds(first);
    plain_text_means_the_same_as_json(first);
    let Ok(number) = Decimal::parse_json_number(first) else {
        return;
    };
    let grid = Grid::of(first);
    assert_eq!(Grid::of(&number.to_string()), grid);
    rounding_is_that_of_the_grid(&number, &grid);
    an_amount_is_a_number_of_whole_cents(first, &number);
    if let Ok(other) = Decimal::parse_json_number(second) {
        assert_eq!(number.cmp(&other), grid.cmp(&Grid::of(second)));
        assert_eq!(number == other, number.cmp(&other) == Ordering::Equal);
    }
    if let Ok(whole) = second.parse::<u64>() {
        let sum = number.plus_whole(whole).to_string();
        assert_eq!(Grid::of(&sum), grid.plus(&Grid::of(&whole.to_string())));
    }
});

fn accepted_text_is_json_within_the_bounds(text: &str) {
    let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let is_json = is_number
        && !text.contains(|character: char| character.is_ascii_whitespace())
        && serde_json::from_str::<&RawValue>(text).is_ok();
    let expected = is_json && is_within_the_bounds(text);
    assert_eq!(Decimal::parse_json_number(text).is_ok(), expected);
}

/// For JSON numbers only.
fn is_within_the_bounds(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent = exponent.trim_start_matches(['+', '-', '0']);
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let is_small = exponent.is_empty()
        || exponent
            .parse::<usize>()
            .is_ok_and(|exponent| exponent <= MAX_EXPONENT);
    digits <= MAX_DIGITS && is_small
}

fn plain_text_means_the_same_as_json(text: &str) {
    let plain = Decimal::parse_plain(text);
    let is_plain = text
        .bytes()
        .all(|byte| byte == b'.' || byte.is_ascii_digit());
    let as_json = Decimal::parse_json_number(text);
    assert_eq!(plain.is_ok(), is_plain && as_json.is_ok());
    assert!(plain.is_err() || plain == as_json);
}

fn rounding_is_that_of_the_grid(number: &Decimal, grid: &Grid) {
    let rounded = number.round_to_cents().map(Money::cents);
    assert_eq!(rounded, grid.rounded_to_cents());
    assert_eq!(number.is_negative(), grid.negative);
}

fn an_amount_is_a_number_of_whole_cents(text: &str, number: &Decimal) {
    let whole = number
        .round_to_cents()
        .filter(|money| Decimal::from(*money) == *number);
    let read = serde_json::from_str::<Amount>(text).ok();
    assert_eq!(read.map(Amount::money), whole);
    if let Some(money) = whole {
        assert_eq!(Money::parse(&money.to_string()), Ok(money));
        let written = serde_json::to_string(&Amount(money)).expect("a number");
        assert_eq!(written, money.to_string());
    }
}

/// A number as digits in fixed places.
#[derive(Debug, PartialEq, Eq)]
struct Grid {
    negative: bool,
    digits: Vec<u8>,
}

impl Grid {
    fn of(text: &str) -> Self {
        let unsigned = text.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: isize = exponent.parse().expect("within the bounds");
        let point = isize::try_from(PLACES - whole.len()).expect("within the bounds");
        let mut digits = vec![0; 2 * PLACES];
        for (place, digit) in (point - exponent..).zip(whole.bytes().chain(fraction.bytes())) {
            if digit != b'0' {
                digits[usize::try_from(place).expect("within the grid")] = digit - b'0';
            }
        }
        Self::normalized(text.starts_with('-'), digits)
    }

    /// Zero has no sign.
    fn normalized(negative: bool, digits: Vec<u8>) -> Self {
        let is_zero = digits.iter().all(|digit| *digit == 0);
        Self {
            negative: negative && !is_zero,
            digits,
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.digits.cmp(&other.digits),
            (true, true) => other.digits.cmp(&self.digits),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }

    /// The sum with a number that is not negative.
    fn plus(&self, other: &Self) -> Self {
        if !self.negative {
            return Self::normalized(false, columns(&self.digits, &other.digits, |a, b| a + b));
        }
        let is_negative = self.digits > other.digits;
        let (more, less) = if is_negative {
            (self, other)
        } else {
            (other, self)
        };
        let digits = columns(&more.digits, &less.digits, |a, b| a - b);
        Self::normalized(is_negative, digits)
    }

    fn rounded_to_cents(&self) -> Option<i64> {
        if self.negative {
            return None;
        }
        let (kept, cut) = self.digits.split_at(PLACES + 2);
        let mut cents: i128 = 0;
        for digit in kept {
            cents = cents.checked_mul(10)?.checked_add(i128::from(*digit))?;
        }
        i64::try_from(cents + i128::from(cut[0] >= 5)).ok()
    }
}

/// Combines two grids column by column, from the right, with a carry or a borrow.
fn columns(above: &[u8], below: &[u8], combine: impl Fn(i8, i8) -> i8) -> Vec<u8> {
    let mut carry = 0;
    let mut result = vec![0; above.len()];
    for place in (0..above.len()).rev() {
        let column = combine(above[place].cast_signed(), below[place].cast_signed()) + carry;
        carry = column.div_euclid(10);
        result[place] = column.rem_euclid(10).cast_unsigned();
    }
    assert_eq!(carry, 0);
    result
}
