//! Amounts of money as people type them at a terminal.

use preauth_core::value::{Money, MoneyError};

/// Why a typed text is no amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AmountError {
    /// To a Brazilian `1.200` is one thousand two hundred, to a program it is 1.20.
    #[error(
        "it can be read in two ways; write {thousands} if `{mark}` separates thousands, or {decimals}, with two \
         decimals, if it does not"
    )]
    Ambiguous {
        mark: char,
        thousands: String,
        decimals: String,
    },
    #[error("it has more than two decimals; write reais and cents, like 1234.56")]
    MoreThanCents,
    #[error(transparent)]
    Malformed(#[from] MoneyError),
}

/// Parses an amount that can be read in one way only. The API's requests are written by programs, whose `1.200`
/// is 1.20; a person who types it may mean thousands.
pub(crate) fn parse(text: &str) -> Result<Money, AmountError> {
    let mark = if text.contains(',') { ',' } else { '.' };
    let Some((whole, decimals)) = text.split_once(mark) else {
        return Ok(Money::parse(text)?);
    };
    let may_be_thousands = (1..=3).contains(&whole.len()) && !whole.starts_with('0');
    if !is_number(whole) || !is_number(decimals) || decimals.len() < 3 {
        return Ok(Money::parse(text)?);
    }
    match decimals.get(..2) {
        Some(cents) if may_be_thousands && decimals.len() == 3 => Err(AmountError::Ambiguous {
            mark,
            thousands: format!("{whole}{decimals}.00"),
            decimals: format!("{whole}.{cents}"),
        }),
        _ => Err(AmountError::MoreThanCents),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn an_amount_is_read_in_one_way_only() {
        for (text, expected) in [
            ("1200", "1200"),
            ("1200.00", "1200"),
            ("1.2", "1.2"),
            ("12500.50", "12500.5"),
            ("0", "0"),
        ] {
            assert_eq!(
                parse(text).map(|it| it.to_string()),
                Ok(expected.to_owned())
            );
        }
        for (text, why) in [
            (
                "1.200",
                "write 1200.00 if `.` separates thousands, or 1.20,",
            ),
            (
                "250.000",
                "write 250000.00 if `.` separates thousands, or 250.00,",
            ),
            (
                "250,000",
                "write 250000.00 if `,` separates thousands, or 250.00,",
            ),
            (
                "1.234",
                "write 1234.00 if `.` separates thousands, or 1.23,",
            ),
            ("1.2345", "more than two decimals"),
            ("1.2000", "more than two decimals"),
            ("12500.500", "more than two decimals"),
            ("0.500", "more than two decimals"),
            ("1.234.567", "not a plain decimal"),
            ("12.500,50", "not a plain decimal"),
            ("12,500.50", "not a plain decimal"),
            ("12500,50", "not a plain decimal"),
            ("-1.200", "not a plain decimal"),
            ("", "not a plain decimal"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
