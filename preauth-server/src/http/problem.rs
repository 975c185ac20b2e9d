//! One thing that is wrong with one field of a request.

use preauth_core::value::{CnpjError, DecimalError, DueDateError, EmailError, TextError};

/// A defect and the field it was found in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field as the caller writes it, e.g. `invoice.amount`; `body` for the whole.
    pub field: String,
    /// What is wrong with it.
    pub defect: Defect,
}

/// What can be wrong with a field; the texts stand in `messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// It is missing, or null where a value is required.
    Required,
    /// It is not a JSON object.
    NotAnObject,
    /// It is not a JSON array.
    NotAnArray,
    /// It is not a JSON string.
    NotAString,
    /// It is not a number.
    NotANumber,
    /// It is neither true nor false.
    NotABoolean,
    /// It stands more than once.
    Duplicate,
    /// The body is not JSON in UTF-8.
    NotJson,
    /// The body is nested deeper than the limit.
    TooDeep,
    /// A text breaks its bounds.
    Text(TextError),
    /// Not a valid CNPJ.
    Cnpj(CnpjError),
    /// A construction company's CNPJ has letters.
    CnpjNotNumeric,
    /// Not a valid e-mail address.
    Email(EmailError),
    /// Not a number in a form that is accepted.
    Decimal(DecimalError),
    /// Not a date.
    DueDate(DueDateError),
    /// An invoice amount outside of the contract's bounds.
    AmountOutOfRange,
    /// An amount outside of its bounds on the platform: zero, negative or too large.
    MoneyOutOfRange,
    /// A negative withheld tax.
    WithheldTaxNegative,
    /// A withheld tax that leaves less than 500 reais.
    WithheldTaxTooHigh,
    /// Not a whole number within these bounds.
    WholeNumber {
        /// The least that is accepted.
        min: u64,
        /// The greatest that is accepted.
        max: u64,
    },
    /// None of the members on offer.
    NotAmong(Vec<&'static str>),
    /// A list with more elements than it may have.
    ListTooLong {
        /// The most that are accepted.
        max: usize,
    },
    /// An empty list where one value or more is required.
    EmptyList,
    /// A magic value of the sandbox that asks for no code that it could.
    NotMagic {
        /// What may follow the prefix.
        codes: Vec<&'static str>,
    },
    /// A parameter that may stand once stands more often.
    Repeated,
    /// Not an API key, and not the beginning of one.
    NotAKey {
        /// So much of it is needed at least.
        min: usize,
    },
    /// `name[]=`: lists repeat the plain name.
    Brackets {
        /// The plain name.
        plain: &'static str,
    },
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// A path id that is not a number.
    NotNumeric,
    /// Not an id of the platform.
    NotAnId,
    /// Not a moment in UTC.
    NotATimestamp,
    /// Not a date that an extension may have.
    ExtensionDueDate,
    /// A net amount that is zero or above the amount less the withheld tax.
    NetAmount,
}

impl Problem {
    /// A defect of `field`.
    #[must_use]
    pub fn new(field: impl Into<String>, defect: Defect) -> Self {
        Self {
            field: field.into(),
            defect,
        }
    }

    /// Whether a text has a character that does not show, which earlier builds accepted.
    #[must_use]
    pub fn is_invisible_character(&self) -> bool {
        self.defect == Defect::Text(TextError::InvisibleCharacter)
    }
}

/// Turns a value's own error into a defect.
macro_rules! defect_from {
    ($($error:ident => $variant:ident),+ $(,)?) => {
        $(impl From<$error> for Defect {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })+
    };
}

defect_from! {
    TextError => Text,
    CnpjError => Cnpj,
    EmailError => Email,
    DecimalError => Decimal,
    DueDateError => DueDate,
}
