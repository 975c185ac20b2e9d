//! The invoice of an operation, and the validation of its amounts.

use crate::value::{Decimal, DueDate, InvoiceNumber, Money};

/// The invoice that is advanced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invoice {
    /// Gross and withheld amounts.
    pub amounts: InvoiceAmounts,
    /// When the company pays it.
    pub due_date: DueDate,
    /// Its number; only a direct advance may come without one.
    pub number: Option<InvoiceNumber>,
}

/// Gross amount and withheld tax that satisfy the contract's bounds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvoiceAmounts {
    amount: Money,
    withheld_tax: Money,
}

/// Why an amount was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum AmountProblem {
    /// `invoice.amount` lies outside 500 to 10,000,000 reais.
    AmountOutOfRange,
    /// `invoice.withheldTaxAmount` is negative.
    WithheldTaxNegative,
    /// `invoice.withheldTaxAmount` leaves less than 500 reais of the amount.
    WithheldTaxTooHigh,
}

impl InvoiceAmounts {
    /// Minimum gross amount, in cents
    /// ([contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits)).
    pub const MIN_CENTS: i64 = 50_000;
    /// Maximum gross amount, in cents
    /// ([contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits)).
    pub const MAX_CENTS: i64 = 1_000_000_000;
    /// Minimum remainder of the amount after the withheld tax, in whole reais.
    const MIN_REMAINDER_REAIS: u64 = 500;

    /// Validates the exact numbers as sent, then rounds to cents, half away from zero.
    ///
    /// An absent withheld tax is zero. Every problem is returned, not only the first.
    pub fn parse(
        amount: &Decimal,
        withheld_tax: Option<&Decimal>,
    ) -> Result<Self, Vec<AmountProblem>> {
        let zero = Decimal::from_cents(0);
        let withheld_tax = withheld_tax.unwrap_or(&zero);
        let mut problems = Vec::new();
        let in_range = *amount >= Decimal::from_cents(Self::MIN_CENTS)
            && *amount <= Decimal::from_cents(Self::MAX_CENTS);
        if !in_range {
            problems.push(AmountProblem::AmountOutOfRange);
        }
        if *withheld_tax < zero {
            problems.push(AmountProblem::WithheldTaxNegative);
        } else if in_range && !leaves_enough(amount, withheld_tax) {
            problems.push(AmountProblem::WithheldTaxTooHigh);
        }
        // Both lie within the bounds now, where rounding cannot fail.
        match (amount.round_to_cents(), withheld_tax.round_to_cents()) {
            (Some(amount), Some(withheld_tax)) if problems.is_empty() => Ok(Self {
                amount,
                withheld_tax,
            }),
            _ => Err(problems),
        }
    }

    /// Restores amounts from a store; `None` when they are out of bounds.
    #[must_use]
    pub fn from_cents(amount: Money, withheld_tax: Money) -> Option<Self> {
        let amounts = Self::parse(
            &Decimal::from_cents(amount.cents()),
            Some(&Decimal::from_cents(withheld_tax.cents())),
        );
        amounts.ok()
    }

    /// Gross amount.
    #[must_use]
    pub const fn amount(self) -> Money {
        self.amount
    }

    /// Tax withheld from the gross amount; zero when none was sent.
    #[must_use]
    pub const fn withheld_tax(self) -> Money {
        self.withheld_tax
    }

    /// Maximum net amount that a release may pay the supplier.
    #[must_use]
    pub fn net_limit(self) -> Money {
        self.amount
            .checked_sub(self.withheld_tax)
            .unwrap_or(Money::ZERO)
    }
}

fn leaves_enough(amount: &Decimal, withheld_tax: &Decimal) -> bool {
    withheld_tax.plus_whole(InvoiceAmounts::MIN_REMAINDER_REAIS) <= *amount
}

#[cfg(test)]
mod tests {
    use super::{AmountProblem, InvoiceAmounts};
    use crate::value::Decimal;

    fn parse(amount: &str, withheld_tax: &str) -> Result<(i64, i64), Vec<AmountProblem>> {
        let amount = Decimal::parse_json_number(amount).unwrap();
        let withheld_tax = Decimal::parse_json_number(withheld_tax).unwrap();
        InvoiceAmounts::parse(&amount, Some(&withheld_tax))
            .map(|amounts| (amounts.amount().cents(), amounts.withheld_tax().cents()))
    }

    // Contract: create-body/invoice.amount
    #[test]
    fn bounds_are_validated_before_rounding() {
        assert_eq!(
            parse("499.999", "0"),
            Err(vec![AmountProblem::AmountOutOfRange])
        );
        assert_eq!(
            parse("10000000.001", "0"),
            Err(vec![AmountProblem::AmountOutOfRange])
        );
        assert_eq!(parse("500", "0"), Ok((50_000, 0)));
        assert_eq!(parse("1e7", "0"), Ok((1_000_000_000, 0)));
        assert_eq!(parse("1000.005", "0"), Ok((100_001, 0)));
    }

    // Contract: create-body/invoice.withheldTaxAmount
    #[test]
    fn the_withheld_tax_leaves_at_least_five_hundred() {
        assert_eq!(parse("1000", "500"), Ok((100_000, 50_000)));
        assert_eq!(
            parse("1000", "500.001"),
            Err(vec![AmountProblem::WithheldTaxTooHigh])
        );
        assert_eq!(
            parse("1000", "-0.01"),
            Err(vec![AmountProblem::WithheldTaxNegative])
        );
        assert_eq!(parse("1000", "-0"), Ok((100_000, 0)));
    }

    #[test]
    fn both_problems_are_returned_at_once() {
        assert_eq!(
            parse("1", "-1"),
            Err(vec![
                AmountProblem::AmountOutOfRange,
                AmountProblem::WithheldTaxNegative
            ])
        );
    }
}
