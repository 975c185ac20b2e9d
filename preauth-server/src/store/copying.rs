//! Copies either kind of database to a folder, and back into an empty one.

use std::path::Path;

use super::backup::{BackupError, Contents, DatabaseKind, Secrets};
use super::postgres::{self, PostgresImport};
use super::sqlite::{self, SqliteImport};
use super::url::Kind;
use super::{DatabaseUrl, migrations};

/// Copies the database that `url` names into `folder`, as it is at one moment, while servers work on it.
pub async fn export(
    url: &DatabaseUrl,
    folder: &Path,
    secrets: Secrets<'_>,
) -> Result<Contents, BackupError> {
    match url.kind()? {
        Kind::Sqlite(path) => sqlite::export(path.as_ref(), folder, secrets).await,
        Kind::Postgres => postgres::export(url, folder, secrets).await,
    }
}

/// A restore in progress. Until it is finished servers refuse the database; when it is cut off, another
/// one begins anew.
#[derive(Debug)]
pub enum Import {
    /// Into a new file.
    Sqlite(SqliteImport),
    /// Into an empty database.
    Postgres(Box<PostgresImport>),
}

/// Begins to restore these contents into the database that `url` names, which must be empty: a file that
/// does not exist, or a database without tables.
pub async fn begin_import(url: &DatabaseUrl, contents: &Contents) -> Result<Import, BackupError> {
    let known = match contents.database {
        DatabaseKind::Sqlite => migrations::of_sqlite(),
        DatabaseKind::Postgresql => migrations::of_postgres(),
    };
    let known = known.iter().map(|step| step.version).max().unwrap_or(0);
    if contents.schema_version > known {
        let backup = contents.schema_version;
        return Err(BackupError::NewerSchema { backup, known });
    }
    match (url.kind()?, contents.database) {
        (Kind::Sqlite(path), DatabaseKind::Sqlite) => {
            SqliteImport::begin(path.as_ref()).map(Import::Sqlite)
        }
        (Kind::Postgres, DatabaseKind::Postgresql) => {
            let import = PostgresImport::begin(url).await?;
            Ok(Import::Postgres(Box::new(import)))
        }
        (Kind::Sqlite(_) | Kind::Postgres, kind) => Err(BackupError::OtherKind(kind)),
    }
}

impl Import {
    /// Restores the copy in `folder`; the database can be used afterwards, by a server that adopts it.
    pub async fn finish(self, folder: &Path, contents: &Contents) -> Result<(), BackupError> {
        match self {
            Self::Sqlite(import) => import.finish(folder, contents),
            Self::Postgres(import) => import.finish(folder, contents).await,
        }
    }
}

/// Compares the number of rows of each table, and on PostgreSQL their digest, with these contents.
pub async fn compare(url: &DatabaseUrl, contents: &Contents) -> Result<(), BackupError> {
    match url.kind()? {
        Kind::Sqlite(path) => sqlite::compare(path.as_ref(), contents).await,
        // The import compares what it has written before it commits.
        Kind::Postgres => Ok(()),
    }
}
