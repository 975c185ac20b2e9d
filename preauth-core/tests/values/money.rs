//! Amounts: writing, reading, sums.

use preauth_core::value::{Money, MoneyError};
use proptest::prelude::*;

#[test]
fn an_amount_is_written_with_the_decimals_it_needs() {
    let cases = [
        (0, "0"),
        (5, "0.05"),
        (50, "0.5"),
        (50_000, "500"),
        (50_050, "500.5"),
        (123_456, "1234.56"),
    ];
    for (cents, text) in cases {
        assert_eq!(Money::from_cents(cents).unwrap().to_string(), text);
    }
}

#[test]
fn an_amount_is_never_negative() {
    assert_eq!(Money::from_cents(-1), None);
    assert_eq!(Money::ZERO.checked_sub(Money::from_cents(1).unwrap()), None);
}

#[test]
fn a_sum_that_cannot_be_held_is_none() {
    let most = Money::from_cents(i64::MAX).unwrap();
    assert_eq!(most.checked_add(Money::ZERO), Some(most));
    assert_eq!(most.checked_add(Money::from_cents(1).unwrap()), None);
}

#[test]
fn a_text_that_is_no_amount_is_refused() {
    assert_eq!(Money::parse("0.005"), Err(MoneyError::FractionOfCent));
    assert_eq!(
        Money::parse("92233720368547758.08"),
        Err(MoneyError::TooLarge)
    );
    assert!(matches!(
        Money::parse("-1"),
        Err(MoneyError::NotADecimal(_))
    ));
}

#[test]
fn an_amount_as_it_is_written_in_brazil_is_refused_with_the_form_that_is_accepted() {
    let refused = Money::parse("1.234,56").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the amount is not a plain decimal such as 1234.56"
    );
}

proptest! {
    #[test]
    fn an_amount_reads_back_as_itself(cents in 0..=i64::MAX) {
        let money = Money::from_cents(cents).unwrap();
        prop_assert_eq!(money.cents(), cents);
        prop_assert_eq!(Money::parse(&money.to_string()), Ok(money));
    }

    #[test]
    fn sum_and_difference_undo_each_other(a in 0..i64::MAX / 2, b in 0..i64::MAX / 2) {
        let (a, b) = (Money::from_cents(a).unwrap(), Money::from_cents(b).unwrap());
        prop_assert_eq!(a.checked_add(b).and_then(|sum| sum.checked_sub(b)), Some(a));
    }
}
