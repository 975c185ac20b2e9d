//! Rows of SQLite's driver.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::store::rows::raw_row;

pub(super) use crate::store::rows::{Columns, clamped};

raw_row!(SqliteRow, |row: &SqliteRow, column: &str| {
    let bytes: Option<&[u8]> = row.try_get(column)?;
    let id = bytes.map(Uuid::from_slice).transpose();
    id.map_err(|error| sqlx::Error::Decode(error.into()))
});
