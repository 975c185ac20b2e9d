//! The columns of one row, by name.

use std::str::FromStr;

use preauth_core::port::Unavailable;
use preauth_core::value::{EnumSet, Money, TextEnum, Timestamp};
use thiserror::Error;
use uuid::Uuid;

use super::raw::{Raw, RawRow};
use super::stored::Stored;

/// Separates the texts of a set.
const SEPARATOR: &str = ",";

/// A stored value that this server cannot have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("column {column} of table {table} holds what cannot be read back")]
pub(in crate::store) struct Corrupt {
    table: &'static str,
    column: &'static str,
}

impl Corrupt {
    /// The table of the row.
    pub(in crate::store) const fn table(self) -> &'static str {
        self.table
    }

    #[cfg(test)]
    pub(in crate::store) const fn at(table: &'static str, column: &'static str) -> Self {
        Self { table, column }
    }
}

impl From<Corrupt> for Unavailable {
    fn from(corrupt: Corrupt) -> Self {
        Self {
            cause: Box::new(corrupt),
        }
    }
}

/// The columns of one row, with the name of its table for errors.
#[derive(Clone, Copy)]
pub(in crate::store) struct Columns<'r> {
    row: &'r dyn RawRow,
    table: &'static str,
}

impl<'r> Columns<'r> {
    pub(in crate::store) const fn of<R: RawRow>(table: &'static str, row: &'r R) -> Self {
        Self { row, table }
    }

    /// The column without conversion; `Option` where it may be NULL.
    pub(in crate::store) fn raw<T: Raw<'r>>(&self, column: &'static str) -> Result<T, Corrupt> {
        let read = T::read(self.row, column).ok().flatten();
        read.ok_or_else(|| self.corrupt(column))
    }

    pub(in crate::store) fn parsed<T: Stored>(&self, column: &'static str) -> Result<T, Corrupt> {
        let text: &str = self.raw(column)?;
        T::read(text).ok_or_else(|| self.corrupt(column))
    }

    pub(in crate::store) fn optional_parsed<T: Stored>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, Corrupt> {
        let text: Option<&str> = self.raw(column)?;
        text.map(|text| T::read(text).ok_or_else(|| self.corrupt(column)))
            .transpose()
    }

    pub(in crate::store) fn uuid(&self, column: &'static str) -> Result<Uuid, Corrupt> {
        self.raw(column)
    }

    pub(in crate::store) fn timestamp(&self, column: &'static str) -> Result<Timestamp, Corrupt> {
        self.number(column, Timestamp::from_unix_millis)
    }

    pub(in crate::store) fn optional_timestamp(
        &self,
        column: &'static str,
    ) -> Result<Option<Timestamp>, Corrupt> {
        self.optional_number(column, Timestamp::from_unix_millis)
    }

    pub(in crate::store) fn money(&self, column: &'static str) -> Result<Money, Corrupt> {
        self.number(column, Money::from_cents)
    }

    pub(in crate::store) fn optional_money(
        &self,
        column: &'static str,
    ) -> Result<Option<Money>, Corrupt> {
        self.optional_number(column, Money::from_cents)
    }

    /// A whole number, checked by a constructor.
    pub(in crate::store) fn number<T>(
        &self,
        column: &'static str,
        validate: impl FnOnce(i64) -> Option<T>,
    ) -> Result<T, Corrupt> {
        validate(self.raw(column)?).ok_or_else(|| self.corrupt(column))
    }

    fn optional_number<T>(
        &self,
        column: &'static str,
        validate: impl FnOnce(i64) -> Option<T>,
    ) -> Result<Option<T>, Corrupt> {
        let number: Option<i64> = self.raw(column)?;
        number
            .map(|number| validate(number).ok_or_else(|| self.corrupt(column)))
            .transpose()
    }

    pub(in crate::store) fn bytes<const N: usize>(
        &self,
        column: &'static str,
    ) -> Result<[u8; N], Corrupt> {
        let bytes: &[u8] = self.raw(column)?;
        bytes.try_into().map_err(|_| self.corrupt(column))
    }

    /// Reads a set written by [`set_text`]. Members written by a newer build are left out: this
    /// build neither grants an unknown permission nor records an event of an unknown type.
    pub(in crate::store) fn set<T: TextEnum + FromStr>(
        &self,
        column: &'static str,
    ) -> Result<EnumSet<T>, Corrupt> {
        let text: &str = self.raw(column)?;
        let members = text.split(SEPARATOR);
        Ok(members.filter_map(|member| member.parse().ok()).collect())
    }

    pub(in crate::store) const fn corrupt(&self, column: &'static str) -> Corrupt {
        Corrupt {
            table: self.table,
            column,
        }
    }
}

/// The members of a set as one text, in the order of the enum in the contract.
pub(in crate::store) fn set_text<T: TextEnum>(set: EnumSet<T>) -> String {
    let texts: Vec<&str> = set.iter().map(T::as_str).collect();
    texts.join(SEPARATOR)
}

/// `LIMIT` and `OFFSET` in the databases' integers; a value that is too large becomes the maximum,
/// which selects nothing.
pub(in crate::store) fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The result of `count(*)`.
pub(in crate::store) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use preauth_core::value::{EnumSet, EventType, Scope};

    use super::{clamped, set_text};

    #[test]
    fn a_set_is_written_in_the_order_of_the_contract() {
        let scopes: EnumSet<Scope> = [Scope::NotesRead, Scope::PreauthRead].into_iter().collect();
        assert_eq!(set_text(scopes), "preauth:read,notes:read");
        assert_eq!(set_text(EnumSet::<Scope>::new()), "");
    }

    #[test]
    fn no_member_of_a_stored_set_contains_the_separator() {
        assert!(EventType::ALL.iter().all(|it| !it.as_str().contains(',')));
        assert!(Scope::ALL.iter().all(|it| !it.as_str().contains(',')));
    }

    #[test]
    fn an_offset_beyond_all_rows_stays_beyond_them() {
        assert_eq!(clamped(u64::MAX), i64::MAX);
    }
}
