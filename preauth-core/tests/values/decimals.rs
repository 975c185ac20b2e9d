//! Exact decimals against a model that shares no code with them.

use std::cmp::Ordering;

use preauth_core::value::{Decimal, Money};
use proptest::prelude::*;

/// Places on either side of the point that hold every number within the bounds, and a carry.
const PLACES: usize = 70;

/// A number on a fixed grid of digits: sign and `PLACES` digits before and after the point.
/// It shares nothing with `Decimal` but the meaning of the text.
fn model(text: &str) -> (bool, Vec<u8>) {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let lower = unsigned.to_lowercase();
    let (mantissa, exponent) = lower.split_once('e').unwrap_or((&lower, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: isize = exponent.parse().unwrap();
    let first = isize::try_from(PLACES - whole.len()).unwrap() - exponent;
    let mut grid = vec![0; 2 * PLACES];
    for (place, digit) in (first..).zip(whole.bytes().chain(fraction.bytes())) {
        if digit != b'0' {
            grid[usize::try_from(place).unwrap()] = digit - b'0';
        }
    }
    let is_zero = grid.iter().all(|digit| *digit == 0);
    (negative && !is_zero, grid)
}

fn compare_models(a: &(bool, Vec<u8>), b: &(bool, Vec<u8>)) -> Ordering {
    match (a.0, b.0) {
        (false, false) => a.1.cmp(&b.1),
        (true, true) => b.1.cmp(&a.1),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

fn add_to_model(grid: &[u8], mut whole: u64) -> Vec<u8> {
    let mut sum = grid.to_vec();
    let mut carry = 0;
    for digit in sum[..PLACES].iter_mut().rev() {
        let column = u64::from(*digit) + whole % 10 + carry;
        *digit = u8::try_from(column % 10).unwrap();
        carry = column / 10;
        whole /= 10;
    }
    sum
}

fn parse(text: &str) -> Decimal {
    Decimal::parse_json_number(text).unwrap()
}

proptest! {
    #[test]
    fn order_and_equality_are_those_of_the_numbers(a in number(), b in number()) {
        let expected = compare_models(&model(&a), &model(&b));
        prop_assert_eq!(parse(&a).cmp(&parse(&b)), expected);
        prop_assert_eq!(parse(&a) == parse(&b), expected == Ordering::Equal);
    }

    #[test]
    fn display_writes_the_same_number(text in number()) {
        let decimal = parse(&text);
        prop_assert_eq!(model(&decimal.to_string()), model(&text));
    }

    #[test]
    fn a_sum_with_a_whole_number_is_that_of_the_columns(
        text in unsigned_number(), whole in any::<u64>()
    ) {
        let expected = add_to_model(&model(&text).1, whole);
        prop_assert_eq!(model(&parse(&text).plus_whole(whole).to_string()).1, expected);
    }

    #[test]
    fn rounding_is_that_of_the_columns(text in unsigned_number()) {
        let grid = model(&text).1;
        let kept: String =
            grid[..PLACES + 2].iter().map(ToString::to_string).collect();
        let up = i128::from(grid[PLACES + 2] >= 5);
        let expected = kept
            .parse::<i128>()
            .ok()
            .and_then(|cents| i64::try_from(cents.checked_add(up)?).ok());
        prop_assert_eq!(parse(&text).round_to_cents().map(Money::cents), expected);
    }

    #[test]
    fn cents_are_hundredths(cents in any::<i64>()) {
        let text = format!("{cents}e-2");
        prop_assert_eq!(Decimal::from_cents(cents), parse(&text));
    }

    #[test]
    fn no_text_is_too_strange_to_be_validated(text in "[0-9eE.+-]{0,40}") {
        let plain = Decimal::parse_plain(&text);
        let json = Decimal::parse_json_number(&text);
        // Plain text is JSON too, and means the same.
        prop_assert!(plain.is_err() || plain == json);
    }
}

fn unsigned_number() -> impl Strategy<Value = String> {
    "(0|[1-9][0-9]{0,12})(\\.[0-9]{1,18})?([eE][+-]?([0-9]|[12][0-9]|3[0-2]))?"
}

fn number() -> impl Strategy<Value = String> {
    // Short numbers too, so that equal ones meet.
    let short = "-?[0-2](\\.[0-1]{1,2})?(e-?[0-1])?";
    prop_oneof![
        unsigned_number(),
        unsigned_number().prop_map(|text| format!("-{text}")),
        short
    ]
}
