//! Restores a copy into an empty database.
//!
//! A mark is made first and removed by the transaction that writes all rows, so that a restore that is
//! cut off at any moment leaves a database that servers refuse, and another restore begins anew.

use std::path::Path;
use std::time::Duration;

use futures_util::TryStreamExt;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::time::sleep;

use crate::files::HashedReader;
use crate::store::backup::rows_digest::RowsDigest;
use crate::store::backup::{
    BackupError, Contents, CopiedTable, DatabaseKind, TABLES_FOLDER, TableContents,
};
use crate::store::schema::RESTORE_TABLE;
use crate::store::{COPY_MARGIN, DatabaseUrl};

use super::super::{migrations, open};
use super::rebuild;
use super::{SESSION, catalog, listed, quoted, reading};

/// The advisory lock of a restore.
const TURN: i64 = 0x7072_6561_7574_6802;
/// Number of attempts to get that lock: the session of a process that was killed ends a moment later.
const MAX_TURN_POLLS: u32 = 25;
const TURN_POLL: Duration = Duration::from_millis(200);

/// A restore into an empty database.
#[derive(Debug)]
pub struct PostgresImport {
    options: PgConnectOptions,
    /// Holds the advisory lock.
    turn: PgConnection,
}

impl PostgresImport {
    /// Marks an empty database; one that a restore was cut off in counts as empty.
    pub(in crate::store) async fn begin(url: &DatabaseUrl) -> Result<Self, BackupError> {
        let options = open::options(url)?;
        let mut turn = open::connect(&options).await?;
        let database = open::name(&options);
        take_turn(&mut turn, &database).await?;
        let is_marked = mark(&mut turn)
            .await
            .map_err(BackupError::database("marking the database"))?;
        if !is_marked {
            return Err(BackupError::NotEmpty {
                database,
                kind: DatabaseKind::Postgresql,
            });
        }
        Ok(Self { options, turn })
    }

    pub(in crate::store) async fn finish(
        self,
        folder: &Path,
        contents: &Contents,
    ) -> Result<(), BackupError> {
        let mut connection = open::connect(&self.options).await?;
        migrations::run_up_to(&mut connection, contents.schema_version)
            .await
            .map_err(BackupError::database("making the tables"))?;
        let _ = connection.close().await;
        let mut connection = open::connect(&self.options.clone().options(SESSION)).await?;
        write_all(&mut connection, folder, contents).await?;
        analyse(&mut connection)
            .await
            .map_err(BackupError::database("analysing the tables"))?;
        let _ = connection.close().await;
        let _ = self.turn.close().await;
        Ok(())
    }
}

/// A server's kept plans must not be made for empty tables. Without a list PostgreSQL would analyse
/// its own catalog, too, and warn a user who is no superuser of each table there.
async fn analyse(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let tables = catalog::tables(connection).await?;
    let names: Vec<_> = tables.iter().map(|table| quoted(&table.name)).collect();
    let statement = format!("ANALYZE {}", names.join(", "));
    connection.execute(AssertSqlSafe(statement)).await.map(drop)
}

async fn take_turn(turn: &mut PgConnection, database: &str) -> Result<(), BackupError> {
    for _ in 0..MAX_TURN_POLLS {
        let is_ours: bool = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)")
            .bind(TURN)
            .fetch_one(&mut *turn)
            .await
            .map_err(BackupError::database("locking the database"))?;
        if is_ours {
            return Ok(());
        }
        sleep(TURN_POLL).await;
    }
    Err(BackupError::UnderWay {
        database: database.to_owned(),
    })
}

/// Returns `false` when the database is not empty.
async fn mark(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    if !migrations::is_half_restored(connection).await? {
        if !catalog::tables(connection).await?.is_empty() {
            return Ok(false);
        }
        let mark = format!("CREATE TABLE {RESTORE_TABLE} (began_at TIMESTAMPTZ DEFAULT now())");
        connection.execute(AssertSqlSafe(mark)).await?;
        return Ok(true);
    }
    // A server that does not know the mark may have worked on it.
    let is_used: bool = sqlx::query_scalar("SELECT to_regclass('companies') IS NOT NULL")
        .fetch_one(&mut *connection)
        .await?;
    if is_used {
        return sqlx::query_scalar("SELECT NOT EXISTS (SELECT 1 FROM companies)")
            .fetch_one(connection)
            .await;
    }
    Ok(true)
}

/// One transaction, which also removes the mark.
async fn write_all(
    connection: &mut PgConnection,
    folder: &Path,
    contents: &Contents,
) -> Result<(), BackupError> {
    let failed = BackupError::database::<sqlx::Error>;
    connection
        .execute("BEGIN")
        .await
        .map_err(failed("beginning"))?;
    let names: Vec<_> = contents.tables.iter().map(|it| it.name.clone()).collect();
    let removed = rebuild::remove(connection, &names)
        .await
        .map_err(failed("removing the indexes of the empty tables"))?;
    if !names.is_empty() {
        // Migrations have written rows of their own.
        let all: Vec<_> = names.iter().map(|name| quoted(name)).collect();
        let truncate = format!("TRUNCATE {}", all.join(", "));
        connection
            .execute(AssertSqlSafe(truncate))
            .await
            .map_err(failed("emptying the new tables"))?;
    }
    for table in &contents.tables {
        copy_in(connection, folder, contents, table).await?;
    }
    removed
        .make_again(connection)
        .await
        .map_err(failed("making the indexes and foreign keys"))?;
    for table in &contents.tables {
        check_rows(connection, table).await?;
    }
    set_sequences(connection, contents)
        .await
        .map_err(failed("setting the sequences"))?;
    let unmark = format!("DROP TABLE {RESTORE_TABLE}; COMMIT");
    connection
        .execute(AssertSqlSafe(unmark))
        .await
        .map_err(failed("committing"))
        .map(drop)
}

async fn copy_in(
    connection: &mut PgConnection,
    folder: &Path,
    contents: &Contents,
    table: &TableContents,
) -> Result<(), BackupError> {
    let name = &table.name;
    let task = format!("restoring {name}");
    let copied = copied(table)?;
    let mut expected = catalog::columns(connection, name)
        .await
        .map_err(BackupError::database(&task))?;
    let mut given = copied.columns.clone();
    expected.sort_unstable();
    given.sort_unstable();
    if expected != given {
        let what = format!("table {name} has other columns than its step of the schema");
        return Err(BackupError::Unreadable { what });
    }
    let path = format!("{TABLES_FOLDER}/{name}");
    let part = contents.part(&path)?;
    let file = folder.join(&path);
    let mut reader = HashedReader::open(&file).map_err(BackupError::file(&file))?;
    let statement = format!(
        "COPY {} ({}) FROM STDIN",
        quoted(name),
        listed(&copied.columns)
    );
    let failed = BackupError::database::<sqlx::Error>;
    let mut copy = connection
        .copy_in_raw(&statement)
        .await
        .map_err(failed(&task))?;
    while let Some(piece) = reader.next_piece().map_err(BackupError::file(&file))? {
        copy.send(piece).await.map_err(failed(&task))?;
    }
    if !part.is(&reader.finish()) {
        let _ = copy.abort("the backup is damaged").await;
        let what = format!("{path} is not what its manifest says");
        return Err(BackupError::Unreadable { what });
    }
    copy.finish().await.map_err(failed(&task)).map(drop)
}

fn copied(table: &TableContents) -> Result<&CopiedTable, BackupError> {
    let copied = table.copied.as_ref();
    copied.ok_or_else(|| BackupError::Unreadable {
        what: format!("table {} was not copied", table.name),
    })
}

/// Reads all rows back and compares them with the backup.
async fn check_rows(
    connection: &mut PgConnection,
    table: &TableContents,
) -> Result<(), BackupError> {
    let name = &table.name;
    let task = format!("reading {name} back");
    let copied = copied(table)?;
    let statement = reading(name, &copied.columns);
    let mut stream = connection
        .copy_out_raw(&statement)
        .await
        .map_err(BackupError::database(&task))?;
    let mut digest = RowsDigest::default();
    let failed = BackupError::database::<sqlx::Error>;
    while let Some(piece) = stream.try_next().await.map_err(failed(&task))? {
        digest.update(&piece);
    }
    if digest.finish() == (table.rows, copied.rows_digest.clone()) {
        return Ok(());
    }
    let what = format!("the restored rows of {name} are not those of the backup");
    Err(BackupError::Unreadable { what })
}

/// What was acknowledged after the backup has ids, too, and none of them may be assigned again.
async fn set_sequences(
    connection: &mut PgConnection,
    contents: &Contents,
) -> Result<(), sqlx::Error> {
    for sequence in &contents.sequences {
        let margin = if sequence.cycles { 0 } else { COPY_MARGIN };
        sqlx::query("SELECT setval($1::REGCLASS, $2, $3)")
            .bind(quoted(&sequence.name))
            .bind(sequence.last_value.saturating_add(margin))
            .bind(sequence.is_called)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
