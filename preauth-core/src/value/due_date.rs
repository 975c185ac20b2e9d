//! The day on which an invoice falls due.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike, NaiveDate};

/// The due date of an invoice: a calendar day of the years 0000 to 9999, without time or zone.
///
/// [Contract, "Create request body"](https://example.com/preauth/blob/main/docs/reference.md#create-request-body)
/// (`invoice.dueDate`): `YYYY-MM-DD`. The minimum and maximum distance from today are rules of create,
/// not of this type.
///
/// ```
/// use preauth_core::value::{DueDate, DueDateError};
///
/// assert_eq!(DueDate::parse("2026-12-21")?.to_string(), "2026-12-21");
/// assert_eq!(DueDate::parse("2026-12-1"), Err(DueDateError::Shape));
/// # Ok::<(), DueDateError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DueDate(NaiveDate);

/// Why a text is not a due date.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum DueDateError {
    /// The text does not have the form of four digits, two digits and two digits, separated by hyphens.
    #[error("the date is not of the form YYYY-MM-DD, such as 2026-12-21")]
    Shape,
    /// The form is right, but the calendar has no such day.
    #[error("the date names a day that the calendar does not have")]
    NoSuchDay,
}

crate::explained::explained!(DueDateError);

impl DueDate {
    /// Reads `YYYY-MM-DD`: ten ASCII characters, nothing around them.
    pub fn parse(text: &str) -> Result<Self, DueDateError> {
        // Without this check chrono would also accept `2026-12-1`, `26-12-01` and `+2026-12-01`.
        if !has_date_shape(text.as_bytes()) {
            return Err(DueDateError::Shape);
        }
        NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .map(Self)
            .map_err(|_| DueDateError::NoSuchDay)
    }

    /// The due date on a given day; `None` outside the years 0000 to 9999, which fit in four digits.
    #[must_use]
    pub fn from_date(date: NaiveDate) -> Option<Self> {
        (0..=9999).contains(&date.year()).then_some(Self(date))
    }

    /// The day.
    #[must_use]
    pub const fn date(self) -> NaiveDate {
        self.0
    }
}

fn has_date_shape(text: &[u8]) -> bool {
    const SHAPE: &[u8] = b"0000-00-00";
    text.len() == SHAPE.len()
        && text.iter().zip(SHAPE).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            mark => byte == mark,
        })
}

impl fmt::Display for DueDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for DueDate {
    type Err = DueDateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}
