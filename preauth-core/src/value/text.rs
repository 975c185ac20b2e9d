//! Bounded texts. Lengths are counted in Unicode scalar values, nothing is normalized first.

/// Why a text is refused. The text itself is never repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing, or only white space.
    #[error("the text is blank")]
    Blank,
    /// Fewer characters than the minimum.
    #[error("the text has {found} characters, the minimum is {min}")]
    TooShort {
        /// The minimum, in characters.
        min: usize,
        /// What was sent, in characters.
        found: usize,
    },
    /// More characters than the maximum.
    #[error("the text has {found} characters, the maximum is {max}")]
    TooLong {
        /// The maximum, in characters.
        max: usize,
        /// What was sent, in characters.
        found: usize,
    },
    /// A control character, tab and line breaks included, even around the text: databases cannot
    /// hold some of them, and mail headers must not.
    #[error("the text has a control character")]
    ControlCharacter,
    /// A character of no width or one that reverses the direction of writing. With them a text can
    /// look like another one, or like nothing.
    #[error("the text has an invisible or direction-changing character")]
    InvisibleCharacter,
}

/// Declares a text type with bounds, given how it is judged: `trimmed` or `verbatim`.
macro_rules! bounded_text {
    ($(#[$meta:meta])* $name:ident, $judge:ident, $min:literal..=$max:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The fewest characters.
            pub const MIN_CHARS: usize = $min;

            /// The most characters.
            pub const MAX_CHARS: usize = $max;

            /// Reads the text and judges its characters and its length.
            pub fn parse(raw: &str) -> Result<Self, TextError> {
                $judge(raw, Self::MIN_CHARS, Self::MAX_CHARS).map(|text| Self(text.to_owned()))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = TextError;

            fn from_str(raw: &str) -> Result<Self, Self::Err> {
                Self::parse(raw)
            }
        }
    };
}

bounded_text! {
    /// The legal name of a supplier, 2 to 255 characters, trimmed.
    ///
    /// Contract, "Create request body" (`supplier.name`).
    SupplierName, trimmed, 2..=255
}

bounded_text! {
    /// The person to speak to at a supplier, 2 to 255 characters, trimmed.
    ///
    /// Contract, "Create request body" (`supplier.contactName`).
    ContactName, trimmed, 2..=255
}

bounded_text! {
    /// A telephone number as somebody typed it, 1 to 20 characters, trimmed. No format is imposed.
    ///
    /// Contract, "Create request body" (`supplier.phone`).
    Phone, trimmed, 1..=20
}

bounded_text! {
    /// The number of an invoice, 1 to 50 characters, trimmed. Compared exactly, case included.
    ///
    /// Contract, "Create request body" (`invoice.number`).
    InvoiceNumber, trimmed, 1..=50
}

bounded_text! {
    /// The legal name of a company on the platform, 1 to 255 characters, trimmed.
    CompanyName, trimmed, 1..=255
}

impl From<&SupplierName> for CompanyName {
    /// A supplier's name is a company's name from its registration on: its bounds are narrower.
    fn from(name: &SupplierName) -> Self {
        Self(name.0.clone())
    }
}

bounded_text! {
    /// The name of a user of the platform, 1 to 255 characters, trimmed.
    PersonName, trimmed, 1..=255
}

bounded_text! {
    /// What a company calls an API key, 1 to 100 characters, trimmed.
    KeyName, trimmed, 1..=100
}

bounded_text! {
    /// Why an operation was closed, 1 to 255 characters, trimmed.
    ///
    /// Contract, "Webhook data" (`reason`).
    Reason, trimmed, 1..=255
}

bounded_text! {
    /// The caller's own identifier of an operation, 1 to 100 characters, kept to the last space.
    ///
    /// Contract, "Create request body" (`externalReference`). It is an echo and is found by exact
    /// equality, so it is never trimmed, and invisible characters are the caller's affair; only
    /// blanks and control characters are refused.
    ExternalReference, verbatim, 1..=100
}

/// Judges a text that is shown to people: what is around it does not count.
fn trimmed(raw: &str, min: usize, max: usize) -> Result<&str, TextError> {
    if raw.chars().any(char::is_control) {
        return Err(TextError::ControlCharacter);
    }
    if raw.chars().any(is_invisible) {
        return Err(TextError::InvisibleCharacter);
    }
    check_length(raw.trim(), min, max)
}

/// Judges a text that is only ever compared and echoed.
fn verbatim(raw: &str, min: usize, max: usize) -> Result<&str, TextError> {
    if raw.chars().any(char::is_control) {
        return Err(TextError::ControlCharacter);
    }
    check_length(raw, min, max)
}

fn check_length(text: &str, min: usize, max: usize) -> Result<&str, TextError> {
    if text.trim().is_empty() {
        return Err(TextError::Blank);
    }
    match text.chars().count() {
        found if found < min => Err(TextError::TooShort { min, found }),
        found if found > max => Err(TextError::TooLong { max, found }),
        _ => Ok(text),
    }
}

/// Zero-width characters, bidirectional marks, overrides and isolates, and the byte order mark.
const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206F}'
            | '\u{FEFF}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_trimmed_before_it_is_measured() {
        let name = SupplierName::parse("\u{a0} Fornecedor Ltda. \u{3000}").unwrap();
        assert_eq!(name.as_str(), "Fornecedor Ltda.");
        let padded = format!("  {}  ", "a".repeat(255));
        assert_eq!(SupplierName::parse(&padded).unwrap().as_str().len(), 255);
    }

    #[test]
    fn a_name_outside_its_bounds_is_rejected() {
        let too_short = TextError::TooShort { min: 2, found: 1 };
        assert_eq!(SupplierName::parse(" a "), Err(too_short));
        assert_eq!(ContactName::parse("a"), Err(too_short));
        let too_long = TextError::TooLong {
            max: 255,
            found: 256,
        };
        assert_eq!(SupplierName::parse(&"a".repeat(256)), Err(too_long));
    }

    #[test]
    fn a_blank_text_is_rejected_as_blank() {
        for text in ["", "  ", "\u{a0}\u{2003}"] {
            assert_eq!(SupplierName::parse(text), Err(TextError::Blank));
            assert_eq!(Phone::parse(text), Err(TextError::Blank));
            assert_eq!(ExternalReference::parse(text), Err(TextError::Blank));
        }
    }

    #[test]
    fn lengths_are_counted_in_scalar_values_without_normalizing() {
        assert!(SupplierName::parse(&"é".repeat(255)).is_ok());
        let decomposed = "e\u{301}".repeat(128);
        assert_eq!(
            SupplierName::parse(&decomposed),
            Err(TextError::TooLong {
                max: 255,
                found: 256
            })
        );
    }

    #[test]
    fn a_control_character_is_rejected_wherever_it_stands() {
        for text in ["a\0b", "ab\n", "\tab", "a\u{85}b", "a\u{7f}b"] {
            assert_eq!(
                SupplierName::parse(text),
                Err(TextError::ControlCharacter),
                "{text:?}"
            );
            assert_eq!(
                ExternalReference::parse(text),
                Err(TextError::ControlCharacter),
                "{text:?}"
            );
        }
    }

    #[test]
    fn an_invisible_character_is_rejected_in_a_text_for_people() {
        let bounds = [
            '\u{200b}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2060}', '\u{2064}', '\u{2066}',
            '\u{206f}', '\u{feff}',
        ];
        for character in bounds {
            let text = format!("ab{character}");
            assert_eq!(
                InvoiceNumber::parse(&text),
                Err(TextError::InvisibleCharacter),
                "{text:?}"
            );
        }
        assert!(InvoiceNumber::parse("a\u{2010}b\u{2065}").is_ok());
    }

    #[test]
    fn an_external_reference_is_kept_to_the_last_space() {
        let reference = ExternalReference::parse("  PED-1\u{200b} ").unwrap();
        assert_eq!(reference.as_str(), "  PED-1\u{200b} ");
        let padded = format!("{} ", "a".repeat(100));
        let too_long = TextError::TooLong {
            max: 100,
            found: 101,
        };
        assert_eq!(ExternalReference::parse(&padded), Err(too_long));
    }

    #[test]
    fn every_type_has_the_bounds_of_its_field() {
        macro_rules! bounds {
            ($($name:ident: $min:literal..=$max:literal,)+) => {
                $(
                    assert!($name::parse(&"x".repeat($min)).is_ok());
                    assert!($name::parse(&"x".repeat($max)).is_ok());
                    assert!($name::parse(&"x".repeat($min - 1)).is_err());
                    assert!($name::parse(&"x".repeat($max + 1)).is_err());
                )+
            };
        }
        bounds! {
            SupplierName: 2..=255,
            ContactName: 2..=255,
            Phone: 1..=20,
            InvoiceNumber: 1..=50,
            CompanyName: 1..=255,
            PersonName: 1..=255,
            KeyName: 1..=100,
            Reason: 1..=255,
            ExternalReference: 1..=100,
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_reads_back_as_itself(text in any::<String>()) {
            if let Ok(name) = SupplierName::parse(&text) {
                prop_assert_eq!(name.as_str(), text.trim());
                prop_assert_eq!(name.to_string().parse(), Ok(name));
            }
            if let Ok(reference) = ExternalReference::parse(&text) {
                prop_assert_eq!(reference.as_str(), &text);
                prop_assert_eq!(reference.to_string().parse(), Ok(reference));
            }
        }
    }
}
