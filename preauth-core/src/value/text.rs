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
