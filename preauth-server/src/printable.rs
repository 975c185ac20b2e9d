//! Formats untrusted texts, and amounts, for people.

use preauth_core::value::{Money, escaped};

/// An untrusted text in which no character controls the terminal or the direction of writing.
pub(crate) fn printable(text: &str) -> String {
    escaped(text).to_string()
}

/// An amount with both its decimals: `12500.50`.
pub(crate) fn reais(money: Money) -> String {
    let cents = money.cents();
    format!("{}.{:02}", cents / 100, cents % 100)
}
