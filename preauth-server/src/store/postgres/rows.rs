//! Columns of a row, as the values they were written from.

use std::str::FromStr;

use preauth_core::port::Trigger;
use preauth_core::value::{EnumSet, Money, TextEnum, Timestamp};
use sqlx::postgres::{PgRow, Postgres};
use sqlx::{Decode, Row, Type};
use uuid::Uuid;

use super::error::Fault;

/// Between the texts of a set.
const SEPARATOR: &str = ",";

/// The columns of one row, with the name of the table for the case that one makes no sense.
#[derive(Clone, Copy)]
pub(super) struct Columns<'r> {
    row: &'r PgRow,
    table: &'static str,
}

impl<'r> Columns<'r> {
    pub(super) const fn of(table: &'static str, row: &'r PgRow) -> Self {
        Self { row, table }
    }

    /// The column as PostgreSQL has it; `Option` where it may be NULL.
    pub(super) fn raw<T>(&self, column: &'static str) -> Result<T, Fault>
    where
        T: Decode<'r, Postgres> + Type<Postgres>,
    {
        self.row.try_get(column).map_err(|_| self.corrupt(column))
    }

    pub(super) fn parsed<T: FromStr>(&self, column: &'static str) -> Result<T, Fault> {
        let text: &str = self.raw(column)?;
        text.parse().map_err(|_| self.corrupt(column))
    }

    pub(super) fn optional_parsed<T: FromStr>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, Fault> {
        let text: Option<&str> = self.raw(column)?;
        text.map(str::parse)
            .transpose()
            .map_err(|_| self.corrupt(column))
    }

    pub(super) fn uuid(&self, column: &'static str) -> Result<Uuid, Fault> {
        self.raw(column)
    }

    pub(super) fn timestamp(&self, column: &'static str) -> Result<Timestamp, Fault> {
        Timestamp::from_unix_millis(self.raw(column)?).ok_or_else(|| self.corrupt(column))
    }

    pub(super) fn optional_timestamp(
        &self,
        column: &'static str,
    ) -> Result<Option<Timestamp>, Fault> {
        let millis: Option<i64> = self.raw(column)?;
        millis
            .map(|millis| Timestamp::from_unix_millis(millis).ok_or_else(|| self.corrupt(column)))
            .transpose()
    }

    pub(super) fn money(&self, column: &'static str) -> Result<Money, Fault> {
        Money::from_cents(self.raw(column)?).ok_or_else(|| self.corrupt(column))
    }

    pub(super) fn optional_money(&self, column: &'static str) -> Result<Option<Money>, Fault> {
        let cents: Option<i64> = self.raw(column)?;
        cents
            .map(|cents| Money::from_cents(cents).ok_or_else(|| self.corrupt(column)))
            .transpose()
    }

    /// A whole number that some constructor judges.
    pub(super) fn number<T>(
        &self,
        column: &'static str,
        judge: impl FnOnce(i64) -> Option<T>,
    ) -> Result<T, Fault> {
        judge(self.raw(column)?).ok_or_else(|| self.corrupt(column))
    }

    /// A whole number of a narrower type; PostgreSQL has none without a sign.
    pub(super) fn whole<T: TryFrom<i64>>(&self, column: &'static str) -> Result<T, Fault> {
        self.number(column, |number| T::try_from(number).ok())
    }

    pub(super) fn optional_whole<T: TryFrom<i64>>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, Fault> {
        let number: Option<i64> = self.raw(column)?;
        number
            .map(|number| T::try_from(number).map_err(|_| self.corrupt(column)))
            .transpose()
    }

    pub(super) fn bytes<const N: usize>(&self, column: &'static str) -> Result<[u8; N], Fault> {
        let bytes: &[u8] = self.raw(column)?;
        bytes.try_into().map_err(|_| self.corrupt(column))
    }

    /// A set as [`set_text`] writes it.
    pub(super) fn set<T: TextEnum + FromStr>(
        &self,
        column: &'static str,
    ) -> Result<EnumSet<T>, Fault> {
        let text: &str = self.raw(column)?;
        text.split(SEPARATOR)
            .filter(|member| !member.is_empty())
            .map(|member| member.parse().map_err(|_| self.corrupt(column)))
            .collect()
    }

    pub(super) fn trigger(&self, column: &'static str) -> Result<Trigger, Fault> {
        match self.raw(column)? {
            "SCHEDULE" => Ok(Trigger::Schedule),
            "RESEND" => Ok(Trigger::Resend),
            _ => Err(self.corrupt(column)),
        }
    }

    /// The place in `answers` that a row is about, where `WITH ORDINALITY` counts from one.
    pub(super) fn place<'a, T>(
        &self,
        column: &'static str,
        answers: &'a mut [T],
    ) -> Result<Option<&'a mut T>, Fault> {
        let n: usize = self.whole(column)?;
        Ok(n.checked_sub(1).and_then(|n| answers.get_mut(n)))
    }

    pub(super) const fn corrupt(&self, column: &'static str) -> Fault {
        Fault::Corrupt {
            table: self.table,
            column,
        }
    }
}

/// The members of a set as one text, in the order of the contract.
pub(super) fn set_text<T: TextEnum>(set: EnumSet<T>) -> String {
    let texts: Vec<&str> = set.iter().map(T::as_str).collect();
    texts.join(SEPARATOR)
}

/// `LIMIT` and `OFFSET` in PostgreSQL's own integers: what lies beyond shows nothing, as it should.
pub(super) fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The result of `count(*)`.
pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
