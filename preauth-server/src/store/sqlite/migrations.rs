//! Migrates a file to this build's schema, or checks whether that is needed.

use sqlx::SqliteConnection;
use sqlx::migrate::{Migrate, MigrateError, Migrator};

use crate::store::error::{Fault, code};
use crate::store::migrations;
use crate::store::schema::{self, PendingSteps, SANDBOX_TABLE, STEPS_TABLE, SchemaMismatch};

/// SQLite has no specific code for a missing table.
const GENERIC_ERROR: &str = "1";

/// Whether this build may migrate the database; changes nothing in it.
pub(super) async fn check_owner(connection: &mut SqliteConnection) -> Result<(), Fault> {
    pending(connection).await.map(drop)
}

/// What there is to migrate.
pub(super) async fn pending(connection: &mut SqliteConnection) -> Result<PendingSteps, Fault> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'",
    )
    .fetch_all(&mut *connection)
    .await?;
    let taken = if tables.iter().any(|name| name == STEPS_TABLE) {
        connection.list_applied_migrations(STEPS_TABLE).await?
    } else {
        Vec::new()
    };
    let ours = [STEPS_TABLE, SANDBOX_TABLE];
    let foreign = tables
        .into_iter()
        .find(|name| !ours.contains(&name.as_str()));
    if let (true, Some(table)) = (taken.is_empty(), foreign) {
        return Err(SchemaMismatch::Foreign { table }.into());
    }
    let oldest_supported = oldest_supported(connection).await?;
    let steps = migrations::of_sqlite();
    Ok(PendingSteps::of(&steps, &taken, oldest_supported)?)
}

/// Applies the missing migrations, each in a transaction of its own.
pub(super) async fn run(connection: &mut SqliteConnection) -> Result<(), Fault> {
    connection.ensure_migrations_table(STEPS_TABLE).await?;
    let steps = migrations::of_sqlite();
    let taken = connection.list_applied_migrations(STEPS_TABLE).await?;
    let oldest_supported = oldest_supported(connection).await?;
    schema::pending(&steps, &taken, oldest_supported)?;
    let mut migrator = Migrator::with_migrations(steps);
    // The check above has shown that this build supports the migrations of newer ones.
    migrator.set_ignore_missing(true);
    Ok(migrator.run_direct(None, connection, false).await?)
}

/// Whether this build supports the database without migration.
pub(super) async fn check(connection: &mut SqliteConnection) -> Result<(), Fault> {
    let listed = connection.list_applied_migrations(STEPS_TABLE).await;
    let taken = listed.or_else(|error| match error {
        MigrateError::Execute(error) if is_missing_table(&error) => Ok(Vec::new()),
        error => Err(error),
    })?;
    let steps = migrations::of_sqlite();
    let oldest_supported = if schema::has_unknown(&steps, &taken) {
        oldest_supported(connection).await?
    } else {
        None
    };
    Ok(schema::check(&steps, &taken, oldest_supported)?)
}

/// The oldest migration that a build must know; `None` before the database records it.
async fn oldest_supported(connection: &mut SqliteConnection) -> Result<Option<i64>, Fault> {
    let oldest = sqlx::query_scalar("SELECT oldest_supported FROM schema_compatibility")
        .fetch_optional(connection)
        .await;
    match oldest {
        Ok(oldest) => Ok(oldest),
        Err(error) if is_missing_table(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_missing_table(error: &sqlx::Error) -> bool {
    code(error).as_deref() == Some(GENERIC_ERROR)
}
