//! Exact sums.

use super::Decimal;

impl Decimal {
    /// The exact sum with a whole number. It neither rounds nor overflows, even if the two differ by many
    /// orders of magnitude: the sum has more digits.
    #[must_use]
    pub fn plus_whole(&self, whole: u64) -> Self {
        self.plus(&Self::from(whole))
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
        // The first non-zero column decides the sign: all columns to its right together weigh less than
        // one unit of it.
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

    /// The decimal place of the last digit, as a power of ten.
    fn last_place(&self) -> i32 {
        self.point
            .saturating_sub(i32::try_from(self.digits.len()).unwrap_or(i32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Decimal {
        Decimal::parse_json_number(text).unwrap()
    }

    #[test]
    fn a_sum_is_exact_however_far_apart_its_terms_are() {
        let tiny = parse("0.0000000000000000000000000000001e-32");
        assert!(tiny.plus_whole(500) > parse("500"));
        assert!(parse("1e32").plus_whole(1) > parse("1e32"));
        assert_eq!(parse("-499.99").plus_whole(500), parse("0.01"));
        assert_eq!(parse("-500").plus_whole(500), parse("0"));
        assert_eq!(parse("-1000").plus_whole(1), parse("-999"));
        assert_eq!(parse("999.5").plus_whole(1), parse("1000.5"));
    }
}
