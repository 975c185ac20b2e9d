//! The schema, embedded: every step from an empty file to this build's tables.

use std::borrow::Cow;

use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};
use sqlx::{PgConnection, SqlSafeStr};

use super::error::Fault;

/// Where the database notes which steps it has taken.
const TABLE: &str = "_sqlx_migrations";
/// A table that does not exist.
const UNDEFINED_TABLE: &str = "42P01";

/// The steps. A published one is never changed: the database keeps its checksum.
fn steps() -> Migrator {
    Migrator::with_migrations(vec![
        step(
            1,
            "companies",
            include_str!("../../../migrations/postgres/0001_companies.sql"),
        ),
        step(
            2,
            "operations",
            include_str!("../../../migrations/postgres/0002_operations.sql"),
        ),
        step(
            3,
            "events",
            include_str!("../../../migrations/postgres/0003_events.sql"),
        ),
        step(
            4,
            "invoices",
            include_str!("../../../migrations/postgres/0004_invoices.sql"),
        ),
        step(
            5,
            "operation_counts",
            include_str!("../../../migrations/postgres/0005_operation_counts.sql"),
        ),
    ])
}

fn step(version: i64, name: &'static str, sql: &'static str) -> Migration {
    let kind = MigrationType::Simple;
    Migration::new(
        version,
        Cow::Borrowed(name),
        kind,
        sql.into_sql_str(),
        false,
    )
}

/// Takes the steps that the database has not taken; each in a transaction of its own.
pub(super) async fn run(connection: &mut PgConnection) -> Result<(), MigrateError> {
    steps().run_direct(None, connection, false).await
}

/// Whether the database has taken exactly this build's steps.
pub(super) async fn check(connection: &mut PgConnection) -> Result<(), Fault> {
    let taken = connection
        .list_applied_migrations(TABLE)
        .await
        .map_err(unlisted)?;
    let steps = steps();
    let known = steps.iter().map(|step| (step.version, &step.checksum));
    if known.eq(taken.iter().map(|step| (step.version, &step.checksum))) {
        Ok(())
    } else {
        Err(Fault::Schema)
    }
}

/// A database without the table has taken no step; one that does not answer has said nothing.
fn unlisted(error: MigrateError) -> Fault {
    match error {
        MigrateError::Execute(sqlx::Error::Database(error))
            if error.code().as_deref() == Some(UNDEFINED_TABLE) =>
        {
            Fault::Schema
        }
        MigrateError::Execute(error) => error.into(),
        _ => Fault::Schema,
    }
}
