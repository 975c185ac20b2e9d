//! Rows of SQLite's driver.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::store::rows::raw_row;

pub(super) use crate::store::rows::{Columns, clamped, count, set_text};

raw_row!(SqliteRow, |row: &SqliteRow, column: &str| {
    let bytes: Option<&[u8]> = row.try_get(column)?;
    let id = bytes.map(Uuid::from_slice).transpose();
    id.map_err(|error| sqlx::Error::Decode(error.into()))
});

/// A list of ids as the JSON text for `json_each`; read each with `unhex(value)`.
pub(super) fn id_list<'a>(ids: impl Iterator<Item = &'a Uuid>) -> String {
    let quoted: Vec<String> = ids.map(|id| format!("\"{}\"", id.as_simple())).collect();
    format!("[{}]", quoted.join(","))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::id_list;

    #[test]
    fn ids_are_listed_in_hexadecimal() {
        let ids = [Uuid::from_u128(1), Uuid::from_u128(0xAB)];
        let expected = "[\"00000000000000000000000000000001\",\
                         \"000000000000000000000000000000ab\"]";
        assert_eq!(id_list(ids.iter()), expected);
        assert_eq!(id_list([].iter()), "[]");
    }
}
