//! The defects of fields in English.

use preauth_core::value::{CnpjError, DueDateError, EmailError, TextError};

use crate::directory::ERASED_DOMAIN;
use crate::http::problem::Defect;

/// A sentence for a defect; `field` is what it is about, such as `This field`.
#[must_use]
#[expect(clippy::too_many_lines, reason = "a sentence for each defect")]
pub(in crate::http) fn defect(field: &str, defect: &Defect) -> String {
    match defect {
        Defect::Required => format!("{field} is required."),
        Defect::NotAnObject => format!("{field} must be a JSON object."),
        Defect::NotAnArray => format!("{field} must be a JSON list."),
        Defect::NotAString => format!("{field} must be a text."),
        Defect::NotANumber => format!("{field} must be a number."),
        Defect::NotABoolean => format!("{field} must be true or false."),
        Defect::Duplicate => format!("{field} appears more than once in the same object."),
        Defect::Empty => format!("{field} is empty; it must be a JSON object."),
        Defect::NotJson { line, column } => {
            format!("{field} stops being valid JSON in line {line}, column {column}.")
        }
        Defect::LoneSurrogate => {
            format!("{field} has a \\u escape that is only half of a character.")
        }
        Defect::TooDeep => "The JSON has more than 32 levels.".to_owned(),
        Defect::Text(error) => text(field, *error),
        Defect::Cnpj(error) => cnpj(field, *error),
        Defect::CnpjNotNumeric => {
            format!("{field} must have digits only, as it is of a construction company.")
        }
        Defect::Email(error) => email(field, *error),
        Defect::EmailOfErasedUser => {
            format!("{field} must not use the domain {ERASED_DOMAIN}, which is for erased users.")
        }
        Defect::Decimal(_) => {
            format!(
                "{field} is not a valid decimal number, such as 1234.56 (decimal point, no thousands separator)."
            )
        }
        Defect::DueDate(DueDateError::Shape) => {
            format!("{field} must be a date such as 2026-12-21.")
        }
        Defect::DueDate(DueDateError::NoSuchDay) => format!("{field} is not in the calendar."),
        Defect::AmountOutOfRange => format!("{field} must be from 500 to 10000000."),
        Defect::MoneyOutOfRange => format!("{field} must be above zero and at most 1000000000."),
        Defect::WithheldTaxNegative => format!("{field} must not be negative."),
        Defect::WithheldTaxTooHigh => {
            format!("{field} must be at most the invoice's amount less 500.")
        }
        Defect::WholeNumber { min, max } => whole_number(field, *min, *max),
        Defect::NotAmong(values) => not_among(field, values),
        Defect::NotAmongNumbers(values) => not_among(field, *values),
        Defect::NotMagic { codes } => {
            format!(
                "{field} begins with sandbox:, which causes an error in this sandbox; one of these codes must follow: {}.",
                codes.join(", ")
            )
        }
        Defect::ListTooLong { max } => format!("{field} must have at most {max} values."),
        Defect::EmptyList => format!("{field} must have at least one value."),
        Defect::UnknownParameter => format!("{field} is no parameter of this request."),
        Defect::Repeated => format!("{field} may be given only once."),
        Defect::NotAKey { min } => {
            format!(
                "{field} must be an API key or its beginning, at least {min} characters after service_sk_."
            )
        }
        Defect::Brackets { plain } => {
            format!("Use {plain} without brackets, and repeat the parameter: {plain}=A&{plain}=B.")
        }
        Defect::NotUtf8 => format!("{field} is not in UTF-8."),
        Defect::NotNumeric => format!("{field} must have digits only."),
        Defect::NotACursor => format!(
            "{field} is not a cursor of this company; use the pagination.next of an answer as it is, or leave {field} out to begin at the oldest event."
        ),
        Defect::NotANext => format!("{field} must be the next of an answer, as it is."),
        Defect::NotAMonth => format!("{field} must be a month such as 2026-12."),
        Defect::AfterUntil => format!("{field} must not be later than until."),
        Defect::TooManyPeriods { max } => {
            format!("From {field} to until there may be at most {max} days or months.")
        }
        Defect::NotAnId => format!("{field} is not an id of the platform."),
        Defect::NotATimestamp => {
            format!("{field} must be a moment in UTC, such as 2026-11-21T12:00:00Z.")
        }
        Defect::NotInTheFuture => format!("{field} must be a moment in the future."),
        Defect::ExtensionDueDate => {
            format!(
                "{field} must be later than the boleto's due date and at most 180 days from today."
            )
        }
        Defect::NetAmount => {
            format!(
                "{field} must be above zero and at most the invoice's amount less the withheld tax."
            )
        }
    }
}

fn whole_number(field: &str, min: u64, max: u64) -> String {
    if max >= i64::MAX.unsigned_abs() {
        format!("{field} must be a whole number from {min} on.")
    } else {
        format!("{field} must be a whole number from {min} to {max}.")
    }
}

fn not_among(field: &str, values: impl IntoIterator<Item: ToString>) -> String {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    format!("{field} must be one of: {}.", values.join(", "))
}

fn text(field: &str, error: TextError) -> String {
    match error {
        TextError::Blank => format!("{field} must not be blank."),
        TextError::TooShort { min, .. } => format!("{field} must have at least {min} characters."),
        TextError::TooLong { max, .. } => format!("{field} must have at most {max} characters."),
        TextError::ControlCharacter => format!("{field} has a control character."),
        TextError::InvisibleCharacter => {
            format!(
                "{field} has a character that does not show, or that turns the direction of the text."
            )
        }
    }
}

fn cnpj(field: &str, error: CnpjError) -> String {
    match error {
        CnpjError::WrongCheckDigits => format!("{field} has wrong check digits: it is mistyped."),
        CnpjError::Empty
        | CnpjError::TooLong
        | CnpjError::InvalidCharacter
        | CnpjError::WrongLength { .. }
        | CnpjError::LetterInCheckDigits
        | CnpjError::RepeatedCharacter => {
            format!("{field} must be a CNPJ of 14 characters, with or without mask.")
        }
    }
}

fn email(field: &str, error: EmailError) -> String {
    match error {
        EmailError::TooLong => format!("{field} must have at most 255 characters."),
        EmailError::MisplacedDot => {
            format!("{field} must not have a leading, trailing or double dot before the @.")
        }
        _ => format!("{field} must be a valid e-mail address."),
    }
}

#[cfg(test)]
mod tests {
    use super::{CnpjError, Defect, DueDateError, EmailError, TextError, defect};
    use crate::http::messages;

    /// A defect of each kind. Both tables are matched without `_`, so that a new kind without words does
    /// not compile.
    fn kinds() -> Vec<Defect> {
        let texts = [
            TextError::Blank,
            TextError::TooShort { min: 2, found: 1 },
            TextError::TooLong { max: 1, found: 2 },
            TextError::ControlCharacter,
            TextError::InvisibleCharacter,
        ];
        let cnpjs = [CnpjError::Empty, CnpjError::WrongCheckDigits];
        let emails = [
            EmailError::Empty,
            EmailError::TooLong,
            EmailError::MisplacedDot,
        ];
        let dates = [DueDateError::Shape, DueDateError::NoSuchDay];
        let mut kinds = vec![
            Defect::Required,
            Defect::NotAnObject,
            Defect::NotAnArray,
            Defect::NotAString,
            Defect::NotANumber,
            Defect::NotABoolean,
            Defect::Duplicate,
            Defect::Empty,
            Defect::NotJson { line: 1, column: 2 },
            Defect::LoneSurrogate,
            Defect::TooDeep,
            Defect::CnpjNotNumeric,
            Defect::EmailOfErasedUser,
            Defect::Decimal(preauth_core::value::DecimalError::Empty),
            Defect::AmountOutOfRange,
            Defect::MoneyOutOfRange,
            Defect::WithheldTaxNegative,
            Defect::WithheldTaxTooHigh,
            Defect::WholeNumber { min: 1, max: 9 },
            Defect::WholeNumber {
                min: 1,
                max: u64::MAX,
            },
            Defect::NotAmong(vec!["A", "B"]),
            Defect::NotAmongNumbers(&[30, 90]),
            Defect::ListTooLong { max: 3 },
            Defect::EmptyList,
            Defect::NotMagic { codes: vec!["A"] },
            Defect::UnknownParameter,
            Defect::Repeated,
            Defect::NotAKey { min: 8 },
            Defect::Brackets { plain: "status" },
            Defect::NotUtf8,
            Defect::NotNumeric,
            Defect::NotACursor,
            Defect::NotANext,
            Defect::NotAMonth,
            Defect::AfterUntil,
            Defect::TooManyPeriods { max: 3 },
            Defect::NotAnId,
            Defect::NotATimestamp,
            Defect::NotInTheFuture,
            Defect::ExtensionDueDate,
            Defect::NetAmount,
        ];
        kinds.extend(texts.map(Defect::Text));
        kinds.extend(cnpjs.map(Defect::Cnpj));
        kinds.extend(emails.map(Defect::Email));
        kinds.extend(dates.map(Defect::DueDate));
        kinds
    }

    #[test]
    fn every_defect_has_a_sentence_of_its_own_in_each_language() {
        let kinds = kinds();
        let (en, pt) = (
            kinds.iter().map(|kind| defect("This field", kind)),
            kinds
                .iter()
                .map(|kind| messages::defect("Este campo", kind)),
        );
        let (en, pt): (Vec<_>, Vec<_>) = (en.collect(), pt.collect());
        for (en, pt) in en.iter().zip(&pt) {
            assert!(en.ends_with('.') && pt.ends_with('.'), "{en} {pt}");
            assert!(!en.contains("Este") && !pt.contains("This"), "{en} {pt}");
        }
        for sentences in [&en, &pt] {
            let distinct: std::collections::BTreeSet<_> = sentences.iter().collect();
            assert_eq!(distinct.len(), kinds.len(), "{sentences:#?}");
        }
    }
}
