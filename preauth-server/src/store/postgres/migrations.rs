//! Migrates a database to this build's schema beside running servers, or checks whether that is needed.

use std::time::Duration;

use sqlx::migrate::{AppliedMigration, Migrate, MigrateError, Migration};
use sqlx::{Executor, PgConnection};
use tokio::time::sleep;

use crate::store::error::{Fault, code};
use crate::store::migrations;
use crate::store::schema::{
    self, PendingSteps, RESTORE_TABLE, SANDBOX_TABLE, STEPS_TABLE, SchemaMismatch,
};

use super::untransacted::{Statement, statements};

/// A table that does not exist.
const UNDEFINED_TABLE: &str = "42P01";
const LOCK_NOT_AVAILABLE: &str = "55P03";
const DEADLOCK_DETECTED: &str = "40P01";
/// A table or view beside those that may be there before the first migration. Those of extensions, and other
/// schemas, do not count.
const FOREIGN: &str = "SELECT relname::TEXT FROM pg_class c
     WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND relkind IN ('r', 'p', 'f', 'm', 'v')
       AND relname::TEXT <> ALL ($1)
       AND NOT EXISTS (SELECT 1 FROM pg_depend d
            WHERE d.classid = 'pg_class'::REGCLASS AND d.objid = c.oid AND d.deptype = 'e')
     ORDER BY relname LIMIT 1";
/// The advisory lock for migrating.
pub(super) const TURN: i64 = 0x7072_6561_7574_6801;
/// Interval of attempts to get that lock.
const TURN_POLL: Duration = Duration::from_millis(200);
/// A statement that waits for a table's lock, e.g. behind an automatic vacuum, blocks all later users
/// of the table.
const SHORT_LOCK_WAIT: &str = "SET lock_timeout = '200ms'";
/// The tables of this database that others vacuum, quoted where necessary.
const VACUUMED: &str = "SELECT DISTINCT relation::REGCLASS::TEXT FROM pg_locks
     WHERE locktype = 'relation' AND mode = 'ShareUpdateExclusiveLock' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND relation IN (SELECT oid FROM pg_class
                        WHERE relkind = 'r' AND relnamespace = current_schema()::REGNAMESPACE)
       AND pid <> pg_backend_pid()";
/// Longer than PostgreSQL's usual `deadlock_timeout`.
const VACUUM_WAIT: &str = "SET lock_timeout = '3s'";
/// A statement that does not block writers may wait for all of them.
const ANY_LOCK_WAIT: &str = "SET lock_timeout = 0";
/// A process that freezes or is disconnected within a step must not keep its locks.
const SHORT_SILENCE: &str = "SET idle_in_transaction_session_timeout = '10s'";
/// PostgreSQL remarks on what a statement of a step leaves undone on purpose, e.g. an index that it need not drop.
const NO_REMARKS: &str = "SET client_min_messages = warning";
/// Pause between two attempts to get a table's lock, in which others can work.
const REST: Duration = Duration::from_secs(1);
/// Maximum number of attempts of a migration to get its locks: about ten minutes.
const MAX_ATTEMPTS: u32 = 500;

/// Applies the missing migrations while servers work on the database. Concurrent calls wait for
/// each other.
pub(super) async fn run(connection: &mut PgConnection) -> Result<(), Fault> {
    run_up_to(connection, i64::MAX).await
}

/// Applies the missing migrations whose number is at most `newest`.
pub(super) async fn run_up_to(connection: &mut PgConnection, newest: i64) -> Result<(), Fault> {
    await_turn(connection).await?;
    // Before anything is written.
    let taken = taken(connection).await?;
    refuse_foreign(connection, &taken).await?;
    connection.execute(SHORT_SILENCE).await?;
    connection.execute(NO_REMARKS).await?;
    connection.ensure_migrations_table(STEPS_TABLE).await?;
    let steps = migrations::of_postgres();
    let oldest_supported = oldest_supported(connection).await?;
    let pending = schema::pending(&steps, &taken, oldest_supported)?;
    for step in pending.iter().filter(|step| step.version <= newest) {
        take(connection, step).await?;
    }
    // Unlocks now, so that waiting processes do not depend on the end of the session.
    sqlx::query("SELECT pg_advisory_unlock($1)")
        .bind(TURN)
        .execute(connection)
        .await?;
    Ok(())
}

/// Polls for the lock: a statement that waits for it would hold a snapshot, for which a
/// concurrently built index waits.
async fn await_turn(connection: &mut PgConnection) -> Result<(), Fault> {
    let mut waits = false;
    loop {
        let is_ours: bool = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)")
            .bind(TURN)
            .fetch_one(&mut *connection)
            .await?;
        if is_ours {
            return Ok(());
        }
        if !waits {
            tracing::info!("another session migrates the database; waiting for its end");
            waits = true;
        }
        sleep(TURN_POLL).await;
    }
}

async fn take(connection: &mut PgConnection, step: &Migration) -> Result<(), Fault> {
    tracing::info!(step = step.version, name = %step.description, "migrating");
    for attempt in 1..MAX_ATTEMPTS {
        match attempted(connection, step).await {
            Err(error) if is_kept_from_locks(&error) => {
                tracing::warn!(
                    step = step.version,
                    attempt,
                    "another session holds a lock that this step needs; trying again"
                );
                // Before the next vacuum begins, the lock is free.
                if !cancel_vacuums(connection).await? {
                    sleep(REST).await;
                }
            }
            done => return Ok(done?),
        }
    }
    Ok(attempted(connection, step).await?)
}

/// Has PostgreSQL cancel automatic vacuums, which may last for hours, because they keep table locks from a
/// step; returns whether it did. It does so for any session that waits for their lock for a second
/// (`deadlock_timeout`). The one that waits here, unlike the step, blocks no readers and writers.
async fn cancel_vacuums(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let vacuumed: Vec<String> = sqlx::query_scalar(VACUUMED)
        .fetch_all(&mut *connection)
        .await?;
    connection.execute(VACUUM_WAIT).await?;
    let mut is_any_canceled = false;
    for table in vacuumed {
        // Two statements that are sent as one are a transaction, which ends with them.
        let lock = format!("LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE; SELECT 1");
        match connection.execute(sqlx::AssertSqlSafe(lock.as_str())).await {
            Ok(_) => is_any_canceled = true,
            // Other work takes the same lock, e.g. that on an index, and is not canceled.
            Err(error) if code(&error).as_deref() == Some(LOCK_NOT_AVAILABLE) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(is_any_canceled)
}

/// Applies a migration: in one transaction, or statement by statement. In the latter case each
/// statement may have been executed before.
async fn attempted(connection: &mut PgConnection, step: &Migration) -> Result<(), MigrateError> {
    if !step.no_tx {
        connection.execute(SHORT_LOCK_WAIT).await?;
        return connection.apply(STEPS_TABLE, step).await.map(drop);
    }
    for statement in statements(step.sql.as_str()) {
        let done = carry_out(connection, statement).await;
        done.map_err(|cause| MigrateError::ExecuteMigration(cause, step.version))?;
    }
    // Records the migration as applied.
    connection.skip(STEPS_TABLE, step).await
}

/// Each repetition is a transaction of its own.
async fn carry_out(connection: &mut PgConnection, statement: Statement) -> Result<(), sqlx::Error> {
    let Statement {
        sql,
        repeats,
        blocks,
    } = statement;
    let wait = if blocks {
        SHORT_LOCK_WAIT
    } else {
        ANY_LOCK_WAIT
    };
    connection.execute(wait).await?;
    loop {
        let done = connection
            .execute(sqlx::AssertSqlSafe(sql.as_str()))
            .await?;
        if !repeats || done.rows_affected() == 0 {
            return Ok(());
        }
    }
}

fn is_kept_from_locks(error: &MigrateError) -> bool {
    let (MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _)) = error else {
        return false;
    };
    matches!(
        code(cause).as_deref(),
        Some(LOCK_NOT_AVAILABLE | DEADLOCK_DETECTED)
    )
}

/// What there is to migrate.
pub(super) async fn pending(connection: &mut PgConnection) -> Result<PendingSteps, Fault> {
    let taken = taken(connection).await?;
    refuse_foreign(connection, &taken).await?;
    let oldest_supported = oldest_supported(connection).await?;
    let steps = migrations::of_postgres();
    Ok(PendingSteps::of(&steps, &taken, oldest_supported)?)
}

/// Refuses a database that has tables, and none by a migration of ours.
async fn refuse_foreign(
    connection: &mut PgConnection,
    applied: &[AppliedMigration],
) -> Result<(), Fault> {
    if !applied.is_empty() {
        return Ok(());
    }
    let found: Option<String> = sqlx::query_scalar(FOREIGN)
        .bind([STEPS_TABLE, SANDBOX_TABLE, RESTORE_TABLE].as_slice())
        .fetch_optional(&mut *connection)
        .await?;
    match found {
        // Not the table of a first step that another session has taken meanwhile.
        Some(table) if taken(connection).await?.is_empty() => {
            Err(SchemaMismatch::Foreign { table }.into())
        }
        Some(_) | None => Ok(()),
    }
}

async fn taken(connection: &mut PgConnection) -> Result<Vec<AppliedMigration>, Fault> {
    let listed = connection.list_applied_migrations(STEPS_TABLE).await;
    Ok(listed.or_else(|error| match error {
        // A database without the table has no migration.
        MigrateError::Execute(error) if code(&error).as_deref() == Some(UNDEFINED_TABLE) => {
            Ok(Vec::new())
        }
        error => Err(error),
    })?)
}

/// Whether this build supports the database without migration.
pub(super) async fn check(connection: &mut PgConnection) -> Result<(), Fault> {
    let taken = taken(connection).await?;
    refuse_foreign(connection, &taken).await?;
    let steps = migrations::of_postgres();
    let oldest_supported = if schema::has_unknown(&steps, &taken) {
        oldest_supported(connection).await?
    } else {
        None
    };
    Ok(schema::check(&steps, &taken, oldest_supported)?)
}

/// Whether a restore into the database has begun and not ended.
pub(super) async fn is_half_restored(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
        .bind(RESTORE_TABLE)
        .fetch_one(connection)
        .await
}

/// The oldest migration that a build must know; `None` before the database records it.
async fn oldest_supported(connection: &mut PgConnection) -> Result<Option<i64>, Fault> {
    // A statement that names a missing table would abort the transaction.
    let is_recorded: bool =
        sqlx::query_scalar("SELECT to_regclass('schema_compatibility') IS NOT NULL")
            .fetch_one(&mut *connection)
            .await?;
    if !is_recorded {
        return Ok(None);
    }
    let oldest = sqlx::query_scalar("SELECT oldest_supported FROM schema_compatibility")
        .fetch_optional(connection)
        .await?;
    Ok(oldest)
}
