//! The identity of the database, and the file in which its row was written.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::hold::{Deployment, DeploymentId, Identity};
use crate::store::error::{Fault, WriteError, unavailable};

use super::rows::Columns;
use super::{SqliteStore, counters};

/// A row to be written: the id, whether it was given, and the file's birth.
type Row = (DeploymentId, bool, String);

#[async_trait]
impl Identity for SqliteStore {
    async fn deployment(&self) -> Result<Option<Deployment>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(read(&mut reader, &self.path).await?)
    }

    async fn claim(&self, id: &DeploymentId, is_given: bool) -> Result<(), Unavailable> {
        let row: Row = (id.clone(), is_given, birth(&self.path)?);
        self.writer
            .write(row, |connection, row| Box::pin(claim(connection, row)))
            .await
            .map_err(unavailable)
    }

    async fn adopt(&self, id: &DeploymentId, is_given: bool) -> Result<(), Unavailable> {
        let row: Row = (id.clone(), is_given, birth(&self.path)?);
        self.writer
            .write(row, |connection, row| Box::pin(adopt(connection, row)))
            .await
            .map_err(unavailable)
    }
}

/// The owner that the database in the file at `path` names.
pub(super) async fn read(
    connection: &mut SqliteConnection,
    path: &Path,
) -> Result<Option<Deployment>, Fault> {
    let row = sqlx::query("SELECT id, is_given, place FROM deployment")
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let columns = Columns::of("deployment", &row);
    let place: String = columns.raw("place")?;
    let present = born(path).map_err(sqlx::Error::Io)?;
    Ok(Some(Deployment {
        id: columns.parsed("id")?,
        is_given: columns.raw("is_given")?,
        is_in_place: is_same(&place, &present),
    }))
}

async fn claim(
    connection: &mut SqliteConnection,
    (id, is_given, place): &Row,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO deployment (id, is_given, place) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )
    .bind(id.as_str())
    .bind(*is_given)
    .bind(place)
    .execute(connection)
    .await?;
    Ok(())
}

async fn adopt(connection: &mut SqliteConnection, row: &Row) -> Result<(), WriteError> {
    sqlx::query("DELETE FROM deployment")
        .execute(&mut *connection)
        .await?;
    counters::move_on_in_copy(connection).await?;
    claim(connection, row).await
}

/// Makes a database a copy, also if it replaces the file that it was copied from: removes the recorded file, and
/// advances its ids.
pub(super) async fn make_copy(database: &Path) -> Result<(), sqlx::Error> {
    let mut connection = SqliteConnectOptions::new()
        .filename(database)
        .connect()
        .await?;
    sqlx::query("UPDATE deployment SET place = ''")
        .execute(&mut connection)
        .await?;
    counters::move_on(&mut connection).await?;
    connection.close().await
}

fn birth(path: &Path) -> Result<String, Unavailable> {
    born(path).map_err(|cause| Unavailable {
        cause: Box::new(cause),
    })
}

/// Attributes that a file does not share with its copies: its creation time and its number; the
/// number alone on file systems without creation times.
fn born(path: &Path) -> io::Result<String> {
    let metadata = std::fs::metadata(path)?;
    let created = created_nanos(&metadata).map(|nanos| nanos.to_string());
    Ok(format!(
        "{}/{}",
        created.unwrap_or_default(),
        metadata.ino()
    ))
}

fn created_nanos(metadata: &Metadata) -> Option<u128> {
    let created = metadata.created().ok()?;
    Some(created.duration_since(UNIX_EPOCH).ok()?.as_nanos())
}

/// Compares the creation times if both have one; a file system may begin to store it.
fn is_same(stored: &str, present: &str) -> bool {
    match (stored.split_once('/'), present.split_once('/')) {
        (Some((stored, _)), Some((present, _))) if !stored.is_empty() && !present.is_empty() => {
            stored == present
        }
        (Some((_, stored)), Some((_, present))) => stored == present,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{birth, is_same};

    #[test]
    fn a_copied_file_has_another_birth_and_a_renamed_one_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (first, moved, copy) = (
            folder.path().join("a"),
            folder.path().join("b"),
            folder.path().join("c"),
        );
        std::fs::write(&first, "x").unwrap();
        let before = birth(&first).unwrap();
        std::fs::write(&first, "more").unwrap();
        std::fs::rename(&first, &moved).unwrap();
        assert!(is_same(&before, &birth(&moved).unwrap()));
        std::fs::copy(&moved, &copy).unwrap();
        assert!(!is_same(&before, &birth(&copy).unwrap()));
    }

    #[test]
    fn without_a_time_of_birth_on_both_sides_the_files_number_decides() {
        for (stored, present, same) in [
            ("5/1", "5/2", true),
            ("5/1", "6/1", false),
            ("/1", "5/1", true),
            ("5/1", "/2", false),
            ("/1", "/1", true),
            ("", "5/1", false),
            ("", "/1", false),
        ] {
            assert_eq!(is_same(stored, present), same, "{stored} {present}");
        }
    }
}
