//! Amounts of money as they are stored and answered.

use std::fmt;
use std::str::FromStr;

use super::{Decimal, DecimalError};

/// An amount in reais, held as whole cents; never negative.
///
/// `Display` writes exactly the text of the JSON number in answers: at most two decimals, without
/// trailing zeros (`500`, `500.5`, `1234.56`).
///
/// ```
/// use preauth_core::value::Money;
///
/// assert_eq!(Money::parse("500.50")?.to_string(), "500.5");
/// # Ok::<(), preauth_core::value::MoneyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money {
    cents: i64,
}

/// Why a text is not an amount of money.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum MoneyError {
    /// Not a plain decimal.
    #[error("the amount is not a plain decimal such as 1234.56")]
    NotADecimal(#[source] DecimalError),
    /// A fraction of a cent. Rounding is a rule of create, not of reading an amount.
    #[error("the amount has a fraction of a cent; round it to two decimals")]
    FractionOfCent,
    /// The amount is above the maximum.
    #[error("the amount is above 92233720368547758.07")]
    TooLarge,
}

crate::explained::explained!(MoneyError);

impl Money {
    /// Zero; also the withheld tax when the caller sent none.
    pub const ZERO: Self = Self { cents: 0 };

    /// An amount of whole cents; `None` when it is negative.
    #[must_use]
    pub const fn from_cents(cents: i64) -> Option<Self> {
        if cents < 0 {
            None
        } else {
            Some(Self { cents })
        }
    }

    /// Reads a plain decimal of whole cents, such as [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Result<Self, MoneyError> {
        let exact = Decimal::parse_plain(text).map_err(MoneyError::NotADecimal)?;
        let rounded = exact.round_to_cents().ok_or(MoneyError::TooLarge)?;
        if Decimal::from(rounded) == exact {
            Ok(rounded)
        } else {
            Err(MoneyError::FractionOfCent)
        }
    }

    /// The amount in cents.
    #[must_use]
    pub const fn cents(self) -> i64 {
        self.cents
    }

    /// The sum; `None` if it is above the maximum.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.cents
            .checked_add(other.cents)
            .and_then(Self::from_cents)
    }

    /// The difference; `None` when it would be negative.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.cents
            .checked_sub(other.cents)
            .and_then(Self::from_cents)
    }
}

impl Decimal {
    /// Rounds to whole cents, half away from zero. `None` below zero and above the maximum, where there
    /// is no [`Money`].
    #[must_use]
    pub fn round_to_cents(&self) -> Option<Money> {
        self.rounded_cents().and_then(Money::from_cents)
    }
}

impl From<Money> for Decimal {
    fn from(money: Money) -> Self {
        Self::from_cents(money.cents())
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Decimal::from(*self), f)
    }
}

impl FromStr for Money {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}
