//! Amounts of money as JSON numbers.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::value::{Decimal, Money};

/// An amount in reais as a JSON number: exact in both directions.
///
/// [Contract, "Resources"](https://example.com/preauth/blob/main/docs/reference.md#resources):
/// amounts are numbers, rounded to cents. Written with at most two decimals
/// (`500`, `500.5`, `1234.56`), read from the decimal digits, without a binary float. A fraction of a
/// cent, a negative number and a string are refused.
///
/// It works only with `serde_json`, which gives access to the text of a number. A conversion through
/// [`serde_json::Value`] uses a float.
///
/// ```
/// use preauth_core::wire::Amount;
///
/// let amount: Amount = serde_json::from_str("1234.50")?;
/// assert_eq!(amount.money().cents(), 123_450);
/// assert_eq!(serde_json::to_string(&amount)?, "1234.5");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(pub Money);

impl Amount {
    /// The amount.
    #[must_use]
    pub const fn money(self) -> Money {
        self.0
    }
}

impl From<Money> for Amount {
    fn from(money: Money) -> Self {
        Self(money)
    }
}

impl From<Amount> for Money {
    fn from(amount: Amount) -> Self {
        amount.0
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string())
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Box::<RawValue>::deserialize(deserializer)?;
        let exact = Decimal::parse_json_number(number.get()).map_err(D::Error::custom)?;
        exact
            .round_to_cents()
            .filter(|rounded| Decimal::from(*rounded) == exact)
            .map(Self)
            .ok_or_else(|| D::Error::custom("the number is not an amount in whole cents"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_digits_are_read_not_a_float() {
        let cases = [
            ("0", 0),
            ("500", 50_000),
            ("500.5", 50_050),
            ("500.50", 50_050),
            ("1e3", 100_000),
            ("12345e-2", 12_345),
            ("90071992547409.93", 9_007_199_254_740_993),
        ];
        for (json, cents) in cases {
            let amount: Amount = serde_json::from_str(json).unwrap();
            assert_eq!(amount.money().cents(), cents, "{json}");
        }
    }

    #[test]
    fn amounts_other_than_whole_cents_are_refused() {
        for json in [
            "1.005", "-1", "1e400", "\"500\"", "null", "true", "[500]", "{}",
        ] {
            assert!(serde_json::from_str::<Amount>(json).is_err(), "{json}");
        }
    }

    proptest! {
        #[test]
        fn every_amount_survives(cents in 0..=i64::MAX) {
            let amount = Amount(Money::from_cents(cents).unwrap());
            let json = serde_json::to_string(&amount).unwrap();
            let decimals = json.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            prop_assert!(decimals <= 2);
            prop_assert_eq!(serde_json::from_str::<Amount>(&json).unwrap(), amount);
        }
    }
}
