//! Amounts and dates in Brazilian format.

use chrono::{Datelike, NaiveDate};
use preauth_core::value::{Money, Timestamp, calendar};

/// `R$ 1.234,56`, with a non-breaking space.
pub(super) fn money(amount: Money) -> String {
    let plain = amount.to_string();
    let (whole, cents) = plain.split_once('.').unwrap_or((&plain, ""));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        let left = whole.len().saturating_sub(index);
        if index > 0 && left.is_multiple_of(3) {
            grouped.push('.');
        }
        grouped.push(digit);
    }
    format!("R$\u{a0}{grouped},{cents:0<2}")
}

/// `31/12/2026`.
pub(super) fn date(date: NaiveDate) -> String {
    format!("{:02}/{:02}/{}", date.day(), date.month(), date.year())
}

/// `31/12/2026 às 23:59 (horário de Brasília)`.
pub(super) fn moment(at: Timestamp) -> String {
    let local = calendar::local_time(at);
    let day = date(local.date());
    format!("{day} às {} (horário de Brasília)", local.format("%H:%M"))
}

#[cfg(test)]
mod tests {
    use preauth_core::value::{Money, Timestamp};

    #[test]
    fn amounts_have_points_between_thousands_and_a_comma_before_two_cents() {
        for (cents, text) in [
            (0, "R$\u{a0}0,00"),
            (5, "R$\u{a0}0,05"),
            (99_950, "R$\u{a0}999,50"),
            (100_000, "R$\u{a0}1.000,00"),
            (1_250_050, "R$\u{a0}12.500,50"),
            (1_000_000_000, "R$\u{a0}10.000.000,00"),
        ] {
            assert_eq!(super::money(Money::from_cents(cents).unwrap()), text);
        }
    }

    #[test]
    fn moments_are_those_of_sao_paulo() {
        let at = Timestamp::parse("2027-01-01T02:59:59.999Z").unwrap();
        let text = "31/12/2026 às 23:59 (horário de Brasília)";
        assert_eq!(super::moment(at), text);
    }
}
