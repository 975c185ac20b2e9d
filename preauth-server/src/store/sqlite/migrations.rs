//! The embedded migrations, from an empty file to this build's schema.

use sqlx::SqliteConnection;
use sqlx::error::DatabaseError;
use sqlx::migrate::{Migrate, MigrateError, Migration, Migrator};

use crate::store::schema::{self, SANDBOX_TABLE, STEPS_TABLE, SchemaMismatch, step};

use crate::store::error::Fault;

/// SQLite has no specific code for a missing table.
const GENERIC_ERROR: &str = "1";

/// The migrations, oldest first.
#[expect(clippy::too_many_lines, reason = "a list, one entry a step")]
fn steps() -> Vec<Migration> {
    vec![
        step(
            1,
            "companies",
            include_str!("../../../migrations/sqlite/0001_companies.sql"),
        ),
        step(
            2,
            "operations",
            include_str!("../../../migrations/sqlite/0002_operations.sql"),
        ),
        step(
            3,
            "events",
            include_str!("../../../migrations/sqlite/0003_events.sql"),
        ),
        step(
            4,
            "invoices",
            include_str!("../../../migrations/sqlite/0004_invoices.sql"),
        ),
        step(
            5,
            "operation_counts",
            include_str!("../../../migrations/sqlite/0005_operation_counts.sql"),
        ),
        step(
            6,
            "schema_compatibility",
            include_str!("../../../migrations/sqlite/0006_schema_compatibility.sql"),
        ),
        step(
            7,
            "endpoint_resumption",
            include_str!("../../../migrations/sqlite/0007_endpoint_resumption.sql"),
        ),
        step(
            8,
            "operation_count_changes",
            include_str!("../../../migrations/sqlite/0008_operation_count_changes.sql"),
        ),
        step(
            9,
            "platform_replies",
            include_str!("../../../migrations/sqlite/0009_platform_replies.sql"),
        ),
        step(
            11,
            "deployment",
            include_str!("../../../migrations/sqlite/0011_deployment.sql"),
        ),
        step(
            12,
            "id_lineages",
            include_str!("../../../migrations/sqlite/0012_id_lineages.sql"),
        ),
        step(
            13,
            "legal_entities_and_numbers",
            include_str!("../../../migrations/sqlite/0013_legal_entities_and_numbers.sql"),
        ),
        step(
            14,
            "supplier_invitations",
            include_str!("../../../migrations/sqlite/0014_supplier_invitations.sql"),
        ),
        step(
            15,
            "invitations_of_offers",
            include_str!("../../../migrations/sqlite/0015_invitations_of_offers.sql"),
        ),
        step(
            16,
            "invoice_file_bytes",
            include_str!("../../../migrations/sqlite/0016_invoice_file_bytes.sql"),
        ),
        step(
            17,
            "rate_counts",
            include_str!("../../../migrations/sqlite/0017_rate_counts.sql"),
        ),
        step(
            18,
            "joined_mails",
            include_str!("../../../migrations/sqlite/0018_joined_mails.sql"),
        ),
        step(
            19,
            "suspensions",
            include_str!("../../../migrations/sqlite/0019_suspensions.sql"),
        ),
        step(
            20,
            "invoice_file_bytes_before",
            include_str!("../../../migrations/sqlite/0020_invoice_file_bytes_before.sql"),
        ),
        step(
            21,
            "mail_queue",
            include_str!("../../../migrations/sqlite/0021_mail_queue.sql"),
        ),
        step(
            22,
            "mail_turns",
            include_str!("../../../migrations/sqlite/0022_mail_turns.sql"),
        ),
        step(
            23,
            "oldest_supported",
            include_str!("../../../migrations/sqlite/0023_oldest_supported.sql"),
        ),
        step(
            24,
            "lean_rows",
            include_str!("../../../migrations/sqlite/0024_lean_rows.sql"),
        ),
    ]
}

/// Whether this build may migrate the database; changes nothing in it.
pub(super) async fn check_owner(connection: &mut SqliteConnection) -> Result<(), Fault> {
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
    if taken.is_empty() && !tables.iter().all(|name| ours.contains(&name.as_str())) {
        return Err(SchemaMismatch::Foreign.into());
    }
    let oldest_supported = oldest_supported(connection).await?;
    Ok(schema::pending(&steps(), &taken, oldest_supported).map(drop)?)
}

/// Applies the missing migrations, each in a transaction of its own.
pub(super) async fn run(connection: &mut SqliteConnection) -> Result<(), Fault> {
    connection.ensure_migrations_table(STEPS_TABLE).await?;
    let steps = steps();
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
    let steps = steps();
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
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.as_deref() == Some(GENERIC_ERROR)
}
