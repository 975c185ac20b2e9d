//! What a database said, for logs and the command line.

use sqlx::migrate::MigrateError;
use sqlx::postgres::PgDatabaseError;

use crate::log::chain;

/// The error with its causes, without the line of PostgreSQL's own source that raised it.
pub(in crate::store) fn said(error: &sqlx::Error) -> String {
    let text = chain(error);
    match of_postgres(error).and_then(PgDatabaseError::line) {
        Some(line) => text.replace(&format!(" at line {line}"), ""),
        None => text,
    }
}

fn of_postgres(error: &sqlx::Error) -> Option<&PgDatabaseError> {
    match error {
        sqlx::Error::Database(error) => error.try_downcast_ref(),
        sqlx::Error::Migrate(error) => match &**error {
            MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _) => {
                of_postgres(cause)
            }
            _ => None,
        },
        _ => None,
    }
}
