//! The five column types of a driver.

use uuid::Uuid;

/// A row of either database's driver. `None` is NULL.
pub(in crate::store) trait RawRow: Send + Sync {
    fn text(&self, column: &str) -> Result<Option<&str>, sqlx::Error>;
    fn blob(&self, column: &str) -> Result<Option<&[u8]>, sqlx::Error>;
    fn whole(&self, column: &str) -> Result<Option<i64>, sqlx::Error>;
    fn flag(&self, column: &str) -> Result<Option<bool>, sqlx::Error>;
    fn uuid(&self, column: &str) -> Result<Option<Uuid>, sqlx::Error>;
}

/// Implements [`RawRow`] by the row's own decoders; an id is decoded as `$uuid`.
macro_rules! raw_row {
    ($row:ty, $uuid:expr) => {
        impl $crate::store::rows::RawRow for $row {
            fn text(&self, column: &str) -> Result<Option<&str>, sqlx::Error> {
                sqlx::Row::try_get(self, column)
            }

            fn blob(&self, column: &str) -> Result<Option<&[u8]>, sqlx::Error> {
                sqlx::Row::try_get(self, column)
            }

            fn whole(&self, column: &str) -> Result<Option<i64>, sqlx::Error> {
                sqlx::Row::try_get(self, column)
            }

            fn flag(&self, column: &str) -> Result<Option<bool>, sqlx::Error> {
                sqlx::Row::try_get(self, column)
            }

            fn uuid(&self, column: &str) -> Result<Option<uuid::Uuid>, sqlx::Error> {
                $uuid(self, column)
            }
        }
    };
}
pub(in crate::store) use raw_row;

/// A type of a column before conversion.
pub(in crate::store) trait Raw<'r>: Sized {
    /// `None` where the column is NULL and this type does not allow it.
    fn read(row: &'r dyn RawRow, column: &str) -> Result<Option<Self>, sqlx::Error>;
}

impl<'r, T: Raw<'r>> Raw<'r> for Option<T> {
    fn read(row: &'r dyn RawRow, column: &str) -> Result<Option<Self>, sqlx::Error> {
        T::read(row, column).map(Some)
    }
}

macro_rules! raw {
    ($($type:ty: |$row:ident, $column:ident| $read:expr;)+) => {
        $(impl<'r> Raw<'r> for $type {
            fn read($row: &'r dyn RawRow, $column: &str) -> Result<Option<Self>, sqlx::Error> {
                $read
            }
        })+
    };
}

raw! {
    &'r str: |row, column| row.text(column);
    String: |row, column| Ok(row.text(column)?.map(str::to_owned));
    &'r [u8]: |row, column| row.blob(column);
    Vec<u8>: |row, column| Ok(row.blob(column)?.map(<[u8]>::to_vec));
    bool: |row, column| row.flag(column);
    Uuid: |row, column| row.uuid(column);
    i64: |row, column| row.whole(column);
    u16: |row, column| narrow(row, column);
    u32: |row, column| narrow(row, column);
    u64: |row, column| narrow(row, column);
    usize: |row, column| narrow(row, column);
}

/// A whole number of a narrower or unsigned type.
fn narrow<T: TryFrom<i64>>(row: &dyn RawRow, column: &str) -> Result<Option<T>, sqlx::Error>
where
    T::Error: std::error::Error + Send + Sync + 'static,
{
    let number = row.whole(column)?;
    let number = number.map(T::try_from).transpose();
    number.map_err(|error| sqlx::Error::Decode(error.into()))
}
