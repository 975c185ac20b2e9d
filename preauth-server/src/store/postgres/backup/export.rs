//! Copies all tables within one snapshot.

use std::io::Write;
use std::path::Path;

use futures_util::TryStreamExt;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::files::{self, HashedFile};
use crate::store::backup::rows_digest::RowsDigest;
use crate::store::backup::{
    BackupError, Contents, CopiedTable, DatabaseKind, FILES_LIST, Part, Secrets, TABLES_FOLDER,
    TableContents,
};
use crate::store::sql::endpoints::each_secret;
use crate::store::{DatabaseUrl, migrations};

use super::super::open;
use super::{OWN_TABLES, SESSION, catalog, quoted, reading};

const LIST_FILES: &str = "COPY (SELECT DISTINCT encode(sha256, 'hex') || ' ' || size_bytes
     FROM invoice_files ORDER BY 1) TO STDOUT";

/// Copies the database that `url` names into `folder`.
pub(in crate::store) async fn export(
    url: &DatabaseUrl,
    folder: &Path,
    secrets: Secrets<'_>,
) -> Result<Contents, BackupError> {
    let options = open::checked(url).await?.options(SESSION);
    let mut connection = open::connect(&options).await?;
    let names = known_tables(&mut connection).await?;
    begin(&mut connection, &names)
        .await
        .map_err(BackupError::database("beginning to read the database"))?;
    // Tables that others made before the locks were held.
    let names = known_tables(&mut connection).await?;
    let contents = copied(&mut connection, &names, folder, secrets).await;
    // A failure to close is irrelevant.
    let _ = connection.close().await;
    contents
}

/// Reads one moment from now on. The locks keep migrations from changing a table meanwhile; they are taken
/// before the snapshot, and hinder nobody else.
async fn begin(connection: &mut PgConnection, names: &[String]) -> Result<(), sqlx::Error> {
    connection
        .execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .await?;
    let all = ["_sqlx_migrations".to_owned()];
    let all = names.iter().chain(&all).map(|name| quoted(name));
    let all = all.collect::<Vec<_>>().join(", ");
    let lock = format!("LOCK TABLE {all} IN ACCESS SHARE MODE");
    connection.execute(AssertSqlSafe(lock)).await.map(drop)
}

/// The tables to copy; fails if there is one that no migration of this build made.
async fn known_tables(connection: &mut PgConnection) -> Result<Vec<String>, BackupError> {
    let known = migrations::tables(&migrations::of_postgres());
    let mut tables = catalog::tables(connection)
        .await
        .map_err(BackupError::database("listing the tables"))?;
    tables.retain(|table| !OWN_TABLES.contains(&table.name.as_str()));
    let (known, unknown): (Vec<_>, Vec<_>) = tables
        .into_iter()
        .partition(|table| known.contains(&table.name));
    if !unknown.is_empty() {
        let tables = unknown.into_iter().map(|table| table.name).collect();
        return Err(BackupError::UnknownTables { tables });
    }
    // The content of the others ends with a crash, too, and is not to be read on a standby.
    let logged = known.into_iter().filter(|table| !table.is_unlogged);
    Ok(logged.map(|table| table.name).collect())
}

async fn copied(
    connection: &mut PgConnection,
    names: &[String],
    folder: &Path,
    secrets: Secrets<'_>,
) -> Result<Contents, BackupError> {
    let failed = BackupError::database::<sqlx::Error>;
    let reading_facts = || failed("reading the database");
    let version = sqlx::query_scalar("SELECT current_setting('server_version')");
    let database_version = version
        .fetch_one(&mut *connection)
        .await
        .map_err(reading_facts())?;
    let schema_version = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(&mut *connection)
        .await
        .map_err(reading_facts())?;
    let deployment_id = sqlx::query_scalar("SELECT id FROM deployment")
        .fetch_optional(&mut *connection)
        .await
        .map_err(reading_facts())?;
    each_secret(connection, secrets)
        .await
        .map_err(BackupError::database("reading the signing secrets"))?;
    let (part, _) = copy_out(connection, LIST_FILES, folder, FILES_LIST).await?;
    let mut parts = vec![part];
    let tables_folder = folder.join(TABLES_FOLDER);
    files::create_private_directory(&tables_folder).map_err(BackupError::file(&tables_folder))?;
    let mut tables = Vec::new();
    for name in names {
        let columns = catalog::columns(connection, name)
            .await
            .map_err(reading_facts())?;
        let path = format!("{TABLES_FOLDER}/{name}");
        let statement = reading(name, &columns);
        let (part, (rows, rows_digest)) = copy_out(connection, &statement, folder, &path).await?;
        parts.push(part);
        tables.push(TableContents {
            name: name.clone(),
            rows,
            copied: Some(CopiedTable {
                columns,
                rows_digest,
            }),
        });
    }
    let sequences = catalog::sequences(connection)
        .await
        .map_err(reading_facts())?;
    connection
        .execute("COMMIT")
        .await
        .map_err(reading_facts())?;
    Ok(Contents {
        database: DatabaseKind::Postgresql,
        database_version,
        schema_version,
        deployment_id,
        tables,
        sequences,
        parts,
    })
}

/// Writes what the statement returns to a new file; returns the number of its rows and their digest, too.
async fn copy_out(
    connection: &mut PgConnection,
    statement: &str,
    folder: &Path,
    name: &str,
) -> Result<(Part, (u64, String)), BackupError> {
    let task = format!("copying {name}");
    let path = folder.join(name);
    let mut file = HashedFile::create(&path).map_err(BackupError::file(&path))?;
    let mut digest = RowsDigest::default();
    let mut stream = connection
        .copy_out_raw(statement)
        .await
        .map_err(BackupError::database(&task))?;
    let failed = BackupError::database::<sqlx::Error>;
    while let Some(piece) = stream.try_next().await.map_err(failed(&task))? {
        digest.update(&piece);
        file.write_all(&piece).map_err(BackupError::file(&path))?;
    }
    drop(stream);
    let written = file.finish().map_err(BackupError::file(&path))?;
    Ok((Part::new(name, written), digest.finish()))
}
