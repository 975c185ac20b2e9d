//! One problem of one field of a request.

use preauth_core::value::{
    CnpjError, DecimalError, DueDateError, EmailError, TextError, TimestampError, UuidIdError,
};

/// A defect and its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field as the caller writes it, e.g. `invoice.amount`; `body` for the whole body.
    pub field: String,
    /// The defect.
    pub defect: Defect,
}

/// The defects of a field; the texts are in `messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Missing, or null where a value is required.
    Required,
    /// Not a JSON object.
    NotAnObject,
    /// Not a JSON array.
    NotAnArray,
    /// Not a JSON string.
    NotAString,
    /// Not a number.
    NotANumber,
    /// Neither true nor false.
    NotABoolean,
    /// A repeated key.
    Duplicate,
    /// A body, or a part of a form, without a JSON value.
    Empty,
    /// No JSON from this place on; both numbers begin at 1.
    NotJson {
        /// The line.
        line: usize,
        /// The character of the line.
        column: usize,
    },
    /// A `\\u` escape of JSON that is half of a surrogate pair.
    LoneSurrogate,
    /// The body exceeds the maximum nesting depth.
    TooDeep,
    /// A text outside its bounds.
    Text(TextError),
    /// Not a valid CNPJ.
    Cnpj(CnpjError),
    /// A construction company's CNPJ has letters.
    CnpjNotNumeric,
    /// Not a valid e-mail address.
    Email(EmailError),
    /// An e-mail address that only erased users have.
    EmailOfErasedUser,
    /// Not a number in an accepted form.
    Decimal(DecimalError),
    /// Not a date.
    DueDate(DueDateError),
    /// An invoice amount outside the contract's bounds.
    AmountOutOfRange,
    /// An amount outside the platform's bounds: zero, negative or too large.
    MoneyOutOfRange,
    /// A negative withheld tax.
    WithheldTaxNegative,
    /// A withheld tax that leaves less than 500 reais.
    WithheldTaxTooHigh,
    /// Not a whole number within these bounds.
    WholeNumber {
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
    },
    /// None of the allowed values.
    NotAmong(Vec<&'static str>),
    /// None of the allowed numbers.
    NotAmongNumbers(&'static [u16]),
    /// A list with too many elements.
    ListTooLong {
        /// The maximum number of elements.
        max: usize,
    },
    /// An empty list where one value or more is required.
    EmptyList,
    /// A magic value of the sandbox with an unknown code.
    NotMagic {
        /// The codes that may follow the prefix.
        codes: Vec<&'static str>,
    },
    /// A parameter that may be given once only, and is repeated.
    Repeated,
    /// A parameter that the request does not have.
    UnknownParameter,
    /// Not an API key and not a prefix of one.
    NotAKey {
        /// The minimum length of the prefix.
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
    /// Not a cursor that was written for the caller.
    NotACursor,
    /// Not the `next` of a page before.
    NotANext,
    /// Not a month.
    NotAMonth,
    /// A range that begins after its end.
    AfterUntil,
    /// A range with too many days or months.
    TooManyPeriods {
        /// The maximum number of them.
        max: usize,
    },
    /// Not an id of the platform.
    NotAnId,
    /// Not a moment in UTC.
    NotATimestamp,
    /// A moment that is over.
    NotInTheFuture,
    /// Not a date that an extension allows.
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

    /// Whether it is an invisible character, which earlier builds accepted.
    #[must_use]
    pub fn is_invisible_character(&self) -> bool {
        self.defect == Defect::Text(TextError::InvisibleCharacter)
    }
}

/// Converts a value's own error into a defect.
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

impl From<UuidIdError> for Defect {
    fn from(_: UuidIdError) -> Self {
        Self::NotAnId
    }
}

impl From<TimestampError> for Defect {
    fn from(_: TimestampError) -> Self {
        Self::NotATimestamp
    }
}
