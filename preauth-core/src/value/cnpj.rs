//! The Brazilian company tax id, numeric or alphanumeric.

use std::fmt;
use std::str::FromStr;

/// Maximum size of raw input in bytes, checked before it is parsed. The masked form has 18 bytes.
const MAX_RAW_BYTES: usize = 64;
const LENGTH: usize = 14;
const ROOT_LENGTH: usize = 8;

/// Weights of the second check digit; those of the first are the same without the leading 6.
const WEIGHTS: [usize; 13] = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/// The check digit, as ASCII, for each remainder: 11 less the remainder, and 0 for 0 and 1.
const DIGIT_BY_REMAINDER: [u8; 11] = *b"00987654321";

/// The tax id of a company (CNPJ), normalized: twelve of `0-9A-Z`, then two check digits.
///
/// [Contract, "Create request body"](https://example.com/preauth/blob/main/docs/reference.md#create-request-body)
/// (`supplier.cnpj`): with or without mask, check digits verified,
/// alphanumeric accepted; answers carry the normalized form.
///
/// `Debug` shows only the ends, because whole tax ids never go to logs. Whether a company is a head
/// office is data of the company and cannot be read from its tax id.
///
/// ```
/// use preauth_core::value::Cnpj;
///
/// let cnpj = Cnpj::parse("12.abc.345/01de-35")?;
/// assert_eq!(cnpj.as_str(), "12ABC34501DE35");
/// assert_eq!(format!("{cnpj:?}"), "Cnpj(12..35)");
/// # Ok::<(), preauth_core::value::CnpjError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cnpj([u8; LENGTH]);

/// The legal entity of a CNPJ: its first eight characters, which a head office shares with all its
/// branches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CnpjRoot([u8; ROOT_LENGTH]);

/// Why a text is not a CNPJ. The error never contains the text.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum CnpjError {
    /// The text is empty, or only spaces.
    #[error("the tax id is empty; expected 14 letters and digits, with or without mask")]
    Empty,
    /// The raw input is longer than any masked form.
    #[error("the tax id has more than {MAX_RAW_BYTES} bytes")]
    TooLong,
    /// A character that is neither an ASCII letter or digit nor a mask character.
    #[error("the tax id has a character other than ASCII letters, digits and the mask (. / -)")]
    InvalidCharacter,
    /// The text does not have fourteen characters without the mask; it is never padded.
    #[error("the tax id has {found} characters instead of {LENGTH}")]
    WrongLength {
        /// Number of characters without the mask.
        found: usize,
    },
    /// One of the last two characters is a letter.
    #[error("the last two characters of the tax id, its check digits, are not digits")]
    LetterInCheckDigits,
    /// All fourteen characters are equal: `00000000000000` has valid check digits, but no company has it.
    #[error("the tax id repeats one character, which no company's does")]
    RepeatedCharacter,
    /// The check digits do not match the first twelve characters.
    #[error("the check digits of the tax id are wrong: a character of it is mistyped")]
    WrongCheckDigits,
}

crate::explained::explained!(CnpjError);

impl Cnpj {
    /// Reads a CNPJ with or without mask.
    ///
    /// Spaces around it and `.`, `/`, `-` anywhere are dropped, ASCII letters are upper-cased. The check
    /// digits do not detect every typing error, because letters collide with digits modulo 11.
    pub fn parse(raw: &str) -> Result<Self, CnpjError> {
        if raw.len() > MAX_RAW_BYTES {
            return Err(CnpjError::TooLong);
        }
        let characters = normalize(raw.trim_matches(' '))?;
        let cnpj = <[u8; LENGTH]>::try_from(characters.as_slice()).map_err(|_| {
            CnpjError::WrongLength {
                found: characters.len(),
            }
        })?;
        let (base, digits) = cnpj.split_at(12);
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(CnpjError::LetterInCheckDigits);
        }
        if cnpj.iter().all(|each| Some(each) == cnpj.first()) {
            return Err(CnpjError::RepeatedCharacter);
        }
        if digits != check_digits(base) {
            return Err(CnpjError::WrongCheckDigits);
        }
        Ok(Self(cnpj))
    }

    /// The fourteen normalized characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only ASCII gets past `parse`, so the fallback is never taken.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The legal entity that the CNPJ belongs to.
    #[must_use]
    pub fn root(&self) -> CnpjRoot {
        let mut root = [0; ROOT_LENGTH];
        for (to, from) in root.iter_mut().zip(&self.0) {
            *to = *from;
        }
        CnpjRoot(root)
    }

    /// The CNPJ with its mask, for display: `12.345.678/0001-95`.
    #[must_use]
    pub fn masked(&self) -> String {
        let mut masked = String::new();
        for (index, character) in self.as_str().chars().enumerate() {
            match index {
                2 | 5 => masked.push('.'),
                8 => masked.push('/'),
                12 => masked.push('-'),
                _ => {}
            }
            masked.push(character);
        }
        masked
    }

    /// Whether the CNPJ has only digits, as the contract requires of a payer.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        self.0.iter().all(u8::is_ascii_digit)
    }
}

impl CnpjRoot {
    /// The eight characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only ASCII gets past `parse`, so the fallback is never taken.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

fn normalize(text: &str) -> Result<Vec<u8>, CnpjError> {
    if text.is_empty() {
        return Err(CnpjError::Empty);
    }
    text.bytes()
        .filter(|byte| !matches!(byte, b'.' | b'/' | b'-'))
        .map(|byte| match byte.to_ascii_uppercase() {
            character @ (b'0'..=b'9' | b'A'..=b'Z') => Ok(character),
            _ => Err(CnpjError::InvalidCharacter),
        })
        .collect()
}

/// The two check digits, as ASCII, of twelve characters.
fn check_digits(base: &[u8]) -> [u8; 2] {
    let first = check_digit(base.iter());
    let second = check_digit(base.iter().chain([&first]));
    [first, second]
}

/// Modulus 11 over (ASCII code - 48); the last character weighs 2.
fn check_digit<'a>(characters: impl DoubleEndedIterator<Item = &'a u8>) -> u8 {
    let sum: usize = characters
        .rev()
        .zip(WEIGHTS.iter().rev())
        .map(|(character, weight)| {
            weight.saturating_mul(usize::from(character.saturating_sub(b'0')))
        })
        .sum();
    // The table has an entry for every remainder of a division by 11.
    DIGIT_BY_REMAINDER
        .get(sum % 11)
        .copied()
        .unwrap_or_default()
}

impl fmt::Display for Cnpj {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for CnpjRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = (
            self.as_str().get(..2).unwrap_or_default(),
            self.as_str().get(6..).unwrap_or_default(),
        );
        write!(f, "CnpjRoot({}..{})", ends.0, ends.1)
    }
}

impl fmt::Debug for Cnpj {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.as_str();
        let ends = (
            text.get(..2).unwrap_or_default(),
            text.get(12..).unwrap_or_default(),
        );
        write!(f, "Cnpj({}..{})", ends.0, ends.1)
    }
}

impl FromStr for Cnpj {
    type Err = CnpjError;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        Self::parse(raw)
    }
}
