//! The name of a seal, which is kept elsewhere and compared later.

use std::fmt;
use std::str::FromStr;

/// A seal of the audit log by its number and hash, which identify every row up to it.
///
/// As a text it is `NUMBER:HASH`, the hash in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealMark {
    /// Its number, from 1, without gaps.
    pub number: i64,
    /// SHA-256 over the hash of the seal before it and its rows.
    pub hash: [u8; 32],
}

impl fmt::Display for SealMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.number)?;
        self.hash
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The text is no `NUMBER:HASH` of a seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a seal is NUMBER:HASH, with a number from 1 on and a hash of 64 hexadecimal digits")]
pub struct InvalidSealMark;

impl FromStr for SealMark {
    type Err = InvalidSealMark;

    fn from_str(text: &str) -> Result<Self, InvalidSealMark> {
        let (number, digits) = text.split_once(':').ok_or(InvalidSealMark)?;
        let is_plain = digits.len() == 64 && digits.bytes().all(|it| it.is_ascii_hexdigit());
        let number = Some(number).filter(|it| it.bytes().all(|digit| digit.is_ascii_digit()));
        let number = number.and_then(|it| it.parse().ok()).filter(|it| *it > 0);
        let (true, Some(number)) = (is_plain, number) else {
            return Err(InvalidSealMark);
        };
        let mut hash = [0; 32];
        for (at, byte) in hash.iter_mut().enumerate() {
            let begin = at.saturating_mul(2);
            let pair = digits.get(begin..begin.saturating_add(2));
            let parsed = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok());
            *byte = parsed.ok_or(InvalidSealMark)?;
        }
        Ok(Self { number, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::{InvalidSealMark, SealMark};

    #[test]
    fn a_seal_is_read_as_it_is_written() {
        let mark = SealMark {
            number: 12,
            hash: std::array::from_fn(|at| u8::try_from(at * 8).unwrap()),
        };
        let text = mark.to_string();
        assert!(text.starts_with("12:000810"), "{text}");
        assert_eq!(text.parse(), Ok(mark));
        assert_eq!(text.to_uppercase().parse(), Ok(mark));
        let digits = &text[3..];
        for wrong in [
            String::new(),
            digits.to_owned(),
            format!("0:{digits}"),
            format!("-1:{digits}"),
            format!("+1:{digits}"),
            format!(":{digits}"),
            format!("99999999999999999999:{digits}"),
            format!("12:{}", &digits[1..]),
            format!("12:{digits}0"),
            format!("12:g{}", &digits[1..]),
            format!("12:é{}", &digits[2..]),
            format!("12:+{}", &digits[1..]),
        ] {
            assert_eq!(wrong.parse::<SealMark>(), Err(InvalidSealMark), "{wrong}");
        }
    }
}
