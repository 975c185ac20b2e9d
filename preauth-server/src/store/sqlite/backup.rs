//! Copies the file while its server writes to it, and puts a copy where no file is yet.
//!
//! `VACUUM INTO` copies one snapshot in one step. A copy page by page would restart with each write
//! of another process, and never end. In the meantime the log grows as fast as the server writes,
//! and is truncated afterwards; a copy takes seconds per gigabyte.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use futures_util::TryStreamExt;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

use crate::files::{self, HashedFile, HashedReader};
use crate::store::backup::{
    BackupError, Contents, DatabaseKind, FILES_LIST, Part, SQLITE_PART, Secrets, TableContents,
};
use crate::store::sql::endpoints::each_secret;

use super::archive::{SqliteArchive, options};
use super::{identity, migrations, open};

/// Copies the database at `path` into `folder`.
pub(in crate::store) async fn export(
    path: &Path,
    folder: &Path,
    secrets: Secrets<'_>,
) -> Result<Contents, BackupError> {
    SqliteArchive::open(path).await?;
    let copy = folder.join(SQLITE_PART);
    // SQLite itself would make it readable for others.
    files::create_private(&copy).map_err(BackupError::file(&copy))?;
    copy_to(path, &copy).await?;
    let failed = BackupError::database::<sqlx::Error>("copying the database");
    identity::make_copy(&copy).await.map_err(failed)?;
    let mut connection = options(&copy).connect().await.map_err(unopened(&copy))?;
    let contents = described(&mut connection, folder, secrets).await;
    // A failure to close is irrelevant.
    let _ = connection.close().await;
    let mut contents = contents?;
    let file = BackupError::file(&copy);
    File::open(&copy)
        .and_then(|file| file.sync_all())
        .map_err(file)?;
    let read = files::fingerprint(&copy).map_err(BackupError::file(&copy))?;
    contents.parts.insert(0, Part::new(SQLITE_PART, read));
    Ok(contents)
}

async fn copy_to(path: &Path, copy: &Path) -> Result<(), BackupError> {
    let mut source = options(path).connect().await.map_err(unopened(path))?;
    let not_text = || io::Error::other("its name is no text");
    let name = copy.to_str().ok_or_else(not_text);
    let copied = sqlx::query("VACUUM INTO ?1")
        .bind(name.map_err(BackupError::file(copy))?)
        .execute(&mut source)
        .await;
    copied.map_err(BackupError::database("copying the database"))?;
    let _ = source.close().await;
    Ok(())
}

/// Checks the copy and reads what it has.
async fn described(
    copy: &mut SqliteConnection,
    folder: &Path,
    secrets: Secrets<'_>,
) -> Result<Contents, BackupError> {
    check_soundness(copy).await?;
    migrations::check(copy)
        .await
        .map_err(|_| damaged(&"the copy has another schema"))?;
    let failed = || BackupError::database::<sqlx::Error>("reading the copy");
    let list = list_files(copy, folder).await?;
    each_secret(copy, secrets)
        .await
        .map_err(BackupError::database("reading the copy"))?;
    let schema_version = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations");
    let version = sqlx::query_scalar("SELECT sqlite_version()");
    let owner = sqlx::query_scalar("SELECT id FROM deployment");
    Ok(Contents {
        database: DatabaseKind::Sqlite,
        database_version: version.fetch_one(&mut *copy).await.map_err(failed())?,
        schema_version: schema_version
            .fetch_one(&mut *copy)
            .await
            .map_err(failed())?,
        deployment_id: owner.fetch_optional(&mut *copy).await.map_err(failed())?,
        tables: counted(copy).await.map_err(failed())?,
        sequences: Vec::new(),
        parts: vec![list],
    })
}

async fn check_soundness(connection: &mut SqliteConnection) -> Result<(), BackupError> {
    let found: String = sqlx::query_scalar("PRAGMA integrity_check(1)")
        .fetch_one(connection)
        .await
        .map_err(|error| damaged(&error))?;
    if found == "ok" {
        Ok(())
    } else {
        Err(damaged(&format_args!("the copy is damaged ({found})")))
    }
}

fn damaged(what: &dyn ToString) -> BackupError {
    let what = what.to_string();
    BackupError::Damaged { what }
}

async fn counted(connection: &mut SqliteConnection) -> Result<Vec<TableContents>, sqlx::Error> {
    let names: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'
         ORDER BY name",
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut tables = Vec::new();
    for name in names {
        let quoted = name.replace('"', "\"\"");
        let count = format!("SELECT count(*) FROM \"{quoted}\"");
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(count))
            .fetch_one(&mut *connection)
            .await?;
        let rows = rows.unsigned_abs();
        tables.push(TableContents {
            name,
            rows,
            copied: None,
        });
    }
    Ok(tables)
}

async fn list_files(copy: &mut SqliteConnection, folder: &Path) -> Result<Part, BackupError> {
    let path = folder.join(FILES_LIST);
    let mut list = HashedFile::create(&path).map_err(BackupError::file(&path))?;
    let mut rows = sqlx::query(
        "SELECT DISTINCT lower(hex(sha256)) AS hash, size_bytes FROM invoice_files ORDER BY hash",
    )
    .fetch(copy);
    let failed = BackupError::database::<sqlx::Error>;
    while let Some(row) = rows.try_next().await.map_err(failed("reading the copy"))? {
        let hash: String = row.try_get(0).map_err(failed("reading the copy"))?;
        let size: i64 = row.try_get(1).map_err(failed("reading the copy"))?;
        writeln!(list, "{hash} {size}").map_err(BackupError::file(&path))?;
    }
    let written = list.finish().map_err(BackupError::file(&path))?;
    Ok(Part::new(FILES_LIST, written))
}

/// Compares the number of rows of each table.
pub(in crate::store) async fn compare(path: &Path, contents: &Contents) -> Result<(), BackupError> {
    let mut connection = options(path).connect().await.map_err(unopened(path))?;
    check_soundness(&mut connection).await?;
    let found = counted(&mut connection).await;
    let _ = connection.close().await;
    let found = found.map_err(BackupError::database("counting the rows"))?;
    if found == contents.tables {
        return Ok(());
    }
    let differs = contents.tables.iter().find(|table| !found.contains(table));
    let what = differs.map_or("it has further tables".to_owned(), |table| {
        format!(
            "{} has not the {} rows of the backup",
            table.name, table.rows
        )
    });
    Err(BackupError::Damaged { what })
}

fn unopened(path: &Path) -> impl FnOnce(sqlx::Error) -> BackupError {
    let path = path.to_owned();
    move |cause| BackupError::Open(open::database_error(&path, cause))
}

/// A restore into a new file, which has another name until it is complete.
#[derive(Debug)]
pub struct SqliteImport {
    path: PathBuf,
    incomplete: PathBuf,
    /// Keeps servers and other restores away.
    _lock: File,
}

impl SqliteImport {
    pub(in crate::store) fn begin(path: &Path) -> Result<Self, BackupError> {
        open::check_path(path)?;
        open::make_folder(path)?;
        open::check_place(path)?;
        let lock = open::lock(path)?;
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            let file = PathBuf::from(name);
            if file.symlink_metadata().is_ok() {
                return Err(BackupError::NotEmpty {
                    database: file.display().to_string(),
                    kind: DatabaseKind::Sqlite,
                });
            }
        }
        let incomplete = open::restoring(path);
        // With the lock it can only be of a restore that was cut off.
        files::remove_if_there(&incomplete).map_err(BackupError::file(&incomplete))?;
        files::create_private(&incomplete).map_err(BackupError::file(&incomplete))?;
        Ok(Self {
            path: path.to_owned(),
            incomplete,
            _lock: lock,
        })
    }

    pub(in crate::store) fn finish(
        self,
        folder: &Path,
        contents: &Contents,
    ) -> Result<(), BackupError> {
        let part = contents.part(SQLITE_PART)?;
        let source = folder.join(SQLITE_PART);
        let mut reader = HashedReader::open(&source).map_err(BackupError::file(&source))?;
        let failed = || BackupError::file(&self.incomplete);
        let mut file = File::options()
            .append(true)
            .open(&self.incomplete)
            .map_err(failed())?;
        while let Some(piece) = reader.next_piece().map_err(BackupError::file(&source))? {
            file.write_all(&piece).map_err(failed())?;
        }
        if !part.is(&reader.finish()) {
            return Err(BackupError::Unreadable {
                what: format!("{SQLITE_PART} is not what its manifest says"),
            });
        }
        file.sync_all().map_err(failed())?;
        // With the lock nobody else makes a file of that name.
        std::fs::rename(&self.incomplete, &self.path).map_err(failed())?;
        let parent = self.path.parent().filter(|it| !it.as_os_str().is_empty());
        let parent = parent.unwrap_or_else(|| Path::new("."));
        files::sync_folder(parent).map_err(BackupError::file(parent))
    }
}
