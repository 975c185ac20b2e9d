//! Texts with a minimum and a maximum length, counted in Unicode scalar values. A text is stored as it
//! was sent; only comparisons normalize it.

use std::borrow::Cow;

use super::characters::{is_hidden, nfc, nfd, with_plain_spaces};

/// Why a text is refused. The text itself is never repeated.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum TextError {
    /// The text is empty, or only white space.
    #[error("the text is blank")]
    Blank,
    /// The text has fewer characters than the minimum.
    #[error("the text has {found} characters, the minimum is {min}")]
    TooShort {
        /// The minimum, in characters.
        min: usize,
        /// The length of the text, in characters.
        found: usize,
    },
    /// The text has more characters than the maximum.
    #[error("the text has {found} characters, the maximum is {max}")]
    TooLong {
        /// The maximum, in characters.
        max: usize,
        /// The length of the text, in characters.
        found: usize,
    },
    /// The text has a control character, including tab and line breaks, in any place. Databases cannot
    /// store some control characters, and mail headers must not contain them.
    #[error("the text has a control character, such as a line break or a tab")]
    ControlCharacter,
    /// The text has an invisible character (see [`is_hidden`]), which can make it look like another text
    /// or look empty.
    #[error("the text has an invisible or direction-changing character")]
    InvisibleCharacter,
}

crate::explained::explained!(TextError);

/// A text with length limits, which is read by one of two rules: for new input or for stored values.
pub trait BoundedText: Sized {
    /// Reads new input, in which every character must be visible.
    fn parse(raw: &str) -> Result<Self, TextError>;

    /// Reads a stored value: earlier builds accepted invisible characters, except control characters.
    fn from_stored(raw: &str) -> Result<Self, TextError>;
}

/// Declares a text type with length limits; the text is stored `trimmed` or `verbatim`.
macro_rules! bounded_text {
    ($(#[$meta:meta])* $name:ident, $kept:ident, $min:literal..=$max:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Minimum length in characters.
            pub const MIN_CHARS: usize = $min;

            /// Maximum length in characters.
            pub const MAX_CHARS: usize = $max;

            /// Reads new input, and validates its characters and its length.
            pub fn parse(raw: &str) -> Result<Self, TextError> {
                every_character_shows(raw)?;
                Self::from_stored(raw)
            }

            /// Reads a stored value; earlier builds accepted invisible characters, except control
            /// characters.
            pub fn from_stored(raw: &str) -> Result<Self, TextError> {
                no_control_character(raw)?;
                check_length($kept(raw), Self::MIN_CHARS, Self::MAX_CHARS)
                    .map(|text| Self(text.to_owned()))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl BoundedText for $name {
            fn parse(raw: &str) -> Result<Self, TextError> {
                Self::parse(raw)
            }

            fn from_stored(raw: &str) -> Result<Self, TextError> {
                Self::from_stored(raw)
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
    /// [Contract, "Create request body"](https://example.com/preauth/blob/main/docs/reference.md#create-request-body)
    /// (`supplier.name`).
    SupplierName, trimmed, 2..=255
}

bounded_text! {
    /// The name of a supplier's contact person, 2 to 255 characters, trimmed.
    ///
    /// [Contract, "Create request body"](https://example.com/preauth/blob/main/docs/reference.md#create-request-body)
    /// (`supplier.contactName`).
    ContactName, trimmed, 2..=255
}

bounded_text! {
    /// A telephone number as the caller sent it, 1 to 20 characters, trimmed. No format is required.
    ///
    /// [Contract, "Create request body"](https://example.com/preauth/blob/main/docs/reference.md#create-request-body)
    /// (`supplier.phone`).
    Phone, trimmed, 1..=20
}

bounded_text! {
    /// The number of an invoice, 1 to 50 characters, trimmed. Two numbers are the same when their
    /// [compared](Self::compared) forms are equal, case included.
    ///
    /// [Contract, "Create request body"](https://example.com/preauth/blob/main/docs/reference.md#create-request-body)
    /// (`invoice.number`).
    InvoiceNumber, trimmed, 1..=50
}

impl InvoiceNumber {
    /// The form in which the duplicate rule compares numbers: normalization form C, with one space
    /// for white space of any kind and length.
    #[must_use]
    pub fn compared(&self) -> Cow<'_, str> {
        in_one_form(&self.0)
    }

    /// The forms in which an operation may have stored this number, without duplicates: the compared
    /// form, the number as sent, and its normalization forms C and D. The last three are needed because
    /// earlier builds compared the number as sent or its form C. For most numbers all forms are the same.
    #[must_use]
    pub fn held_as(&self) -> Vec<Cow<'_, str>> {
        let mut forms = vec![self.compared()];
        for form in [Cow::Borrowed(self.as_str()), nfc(&self.0), nfd(&self.0)] {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        forms
    }
}

bounded_text! {
    /// The legal name of a company on the platform, 1 to 255 characters, trimmed.
    CompanyName, trimmed, 1..=255
}

impl From<&SupplierName> for CompanyName {
    /// Converts a supplier's name, which always fits because its length limits are narrower.
    fn from(name: &SupplierName) -> Self {
        Self(name.0.clone())
    }
}

bounded_text! {
    /// The name of a user of the platform, 1 to 255 characters, trimmed.
    PersonName, trimmed, 1..=255
}

bounded_text! {
    /// The name that a company gives an API key, 1 to 100 characters, trimmed.
    KeyName, trimmed, 1..=100
}

bounded_text! {
    /// The name of an operator of the platform, 1 to 100 characters, trimmed. Two operators must not have
    /// names whose [compared](Self::compared) forms are equal.
    OperatorName, trimmed, 1..=100
}

impl OperatorName {
    const ROOT: &str = "root";

    /// The name of the holder of the configured operator token.
    #[must_use]
    pub fn root() -> Self {
        Self(Self::ROOT.to_owned())
    }

    /// The form in which names are compared, so that no two operators look the same: that of
    /// [`InvoiceNumber::compared`], in lower case.
    #[must_use]
    pub fn compared(&self) -> String {
        let lower = in_one_form(&self.0).to_lowercase();
        // The lower case of a composed character may be decomposed.
        nfc(&lower).into_owned()
    }

    /// Whether it is the name of the configured token's holder, in any case; nobody else bears it.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.eq_ignore_ascii_case(Self::ROOT)
    }
}

bounded_text! {
    /// The reason why an operation was closed, 1 to 255 characters, trimmed.
    ///
    /// [Contract, "Webhook data"](https://example.com/preauth/blob/main/docs/reference.md#webhook-data-of-pre_authorization-and-anticipation-events)
    /// (`reason`).
    Reason, trimmed, 1..=255
}

bounded_text! {
    /// The caller's own identifier of an operation, 1 to 100 characters, stored exactly as sent, spaces
    /// included.
    ///
    /// [Contract, "Create request body"](https://example.com/preauth/blob/main/docs/reference.md#create-request-body)
    /// (`externalReference`). It is returned as sent and searched by exact equality, so it is neither
    /// trimmed nor normalized.
    ExternalReference, verbatim, 1..=100
}

/// Validates that every character of a file's name is visible; the length is not limited here.
pub fn file_name_shows(name: &str) -> Result<(), TextError> {
    every_character_shows(name)
}

fn no_control_character(raw: &str) -> Result<(), TextError> {
    if raw.chars().any(char::is_control) {
        return Err(TextError::ControlCharacter);
    }
    Ok(())
}

fn every_character_shows(raw: &str) -> Result<(), TextError> {
    no_control_character(raw)?;
    if raw.chars().any(is_hidden) {
        return Err(TextError::InvisibleCharacter);
    }
    Ok(())
}

fn trimmed(raw: &str) -> &str {
    raw.trim()
}

const fn verbatim(raw: &str) -> &str {
    raw
}

/// Normalization form C, with one space for white space of any kind and length.
fn in_one_form(text: &str) -> Cow<'_, str> {
    match with_plain_spaces(text) {
        Cow::Borrowed(text) => nfc(text),
        Cow::Owned(text) => Cow::Owned(nfc(&text).into_owned()),
    }
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
    fn a_character_that_does_not_show_is_rejected_in_every_text() {
        for character in "\u{ad}\u{34f}\u{2065}\u{3164}\u{fe0f}\u{e0041}\u{200b}\u{2028}".chars() {
            let text = format!("T4-{character}77");
            let refused = TextError::InvisibleCharacter;
            assert_eq!(InvoiceNumber::parse(&text), Err(refused), "{text:?}");
            assert_eq!(ExternalReference::parse(&text), Err(refused), "{text:?}");
            assert_eq!(SupplierName::parse(&text), Err(refused), "{text:?}");
            assert_eq!(InvoiceNumber::from_stored(&text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn numbers_are_compared_in_one_form_and_kept_as_sent() {
        let composed = InvoiceNumber::parse("NF-\u{e9}").unwrap();
        let decomposed = InvoiceNumber::parse("NF-e\u{301}").unwrap();
        assert_eq!(composed.compared(), decomposed.compared());
        assert_eq!(decomposed.as_str(), "NF-e\u{301}");
        assert!(composed.held_as().contains(&decomposed.as_str().into()));
        let other = InvoiceNumber::parse("nf-\u{e9}").unwrap();
        assert_ne!(composed.compared(), other.compared());
    }

    #[test]
    fn names_of_operators_that_look_the_same_are_compared_as_equal() {
        let compared = |name: &str| OperatorName::parse(name).unwrap().compared();
        for same in [
            "Jose\u{301} Lima",
            "JOS\u{c9} LIMA",
            "Jos\u{e9}\u{a0}Lima",
            "Jos\u{e9}  Lima",
        ] {
            assert_eq!(compared(same), "jos\u{e9} lima", "{same:?}");
        }
        assert_ne!(compared("Jose Lima"), compared("Jos\u{e9} Lima"));
        assert_ne!(compared("Jos\u{e9}Lima"), compared("Jos\u{e9} Lima"));
    }

    #[test]
    fn an_external_reference_is_kept_to_the_last_space() {
        let reference = ExternalReference::parse("  PED-1e\u{301} ").unwrap();
        assert_eq!(reference.as_str(), "  PED-1e\u{301} ");
        let padded = format!("{} ", "a".repeat(100));
        let too_long = TextError::TooLong {
            max: 100,
            found: 101,
        };
        assert_eq!(ExternalReference::parse(&padded), Err(too_long));
    }

    // Contract: limit/lengths
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
            OperatorName: 1..=100,
            Reason: 1..=255,
            ExternalReference: 1..=100,
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_reads_back_as_itself(text in any::<String>()) {
            if let Ok(name) = SupplierName::parse(&text) {
                prop_assert_eq!(name.as_str(), text.trim());
                prop_assert_eq!(SupplierName::from_stored(name.as_str()), Ok(name.clone()));
                prop_assert_eq!(name.to_string().parse(), Ok(name));
            }
            if let Ok(reference) = ExternalReference::parse(&text) {
                prop_assert_eq!(reference.as_str(), &text);
                prop_assert_eq!(reference.to_string().parse(), Ok(reference));
            }
        }

        #[test]
        fn a_hidden_character_anywhere_refuses_a_text(
            before in "[a-z0-9 ]{1,8}",
            hidden in any::<char>().prop_filter("hidden", |it| is_hidden(*it)),
            after in "[a-z0-9 ]{1,8}",
        ) {
            let text = format!("x{before}{hidden}{after}y");
            prop_assert!(InvoiceNumber::parse(&text).is_err());
            prop_assert!(ExternalReference::parse(&text).is_err());
            let was_accepted = InvoiceNumber::from_stored(&text).is_ok();
            prop_assert_eq!(was_accepted, !hidden.is_control());
        }

        #[test]
        fn one_number_in_any_form_is_held_as_any_other(text in "[a-z\u{c0}-\u{17f}\u{300}-\u{310}]{1,12}") {
            let numbers: Vec<InvoiceNumber> = [nfc(&text), nfd(&text), Cow::Borrowed(&*text)]
                .iter()
                .filter_map(|form| InvoiceNumber::parse(form).ok())
                .collect();
            for one in &numbers {
                for other in &numbers {
                    prop_assert_eq!(one.compared(), other.compared());
                    prop_assert!(one.held_as().contains(&other.compared()));
                }
            }
        }
    }
}
