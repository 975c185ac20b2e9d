//! The codes of databases' errors. PostgreSQL's have five characters and never coincide with SQLite's
//! numbers.

const SERIALIZATION_FAILURE: &str = "40001";
const DEADLOCK_DETECTED: &str = "40P01";
/// A write on a standby, or on a read-only server.
const READ_ONLY_TRANSACTION: &str = "25006";
const LOCK_NOT_AVAILABLE: &str = "55P03";
/// Class of violations of the schema's constraints.
const CLASS_INTEGRITY: &str = "23";
/// Class of values that do not fit their column.
const CLASS_DATA: &str = "22";

/// Whether another record has the same key.
pub(super) fn is_duplicate(error: &sqlx::Error) -> bool {
    let error = error.as_database_error();
    error.is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

/// Whether the database rolled the transaction back because of another.
pub(super) fn is_rolled_back(code: &str) -> bool {
    matches!(code, SERIALIZATION_FAILURE | DEADLOCK_DETECTED)
}

/// Whether another server may accept what this one refuses, or the server is about to end the
/// connection.
pub(super) fn ends_use(code: &str) -> bool {
    ends_connection(code) || code == READ_ONLY_TRANSACTION
}

/// Whether a constraint of the schema is violated.
pub(super) fn breaks_constraint(code: &str) -> bool {
    code.starts_with(CLASS_INTEGRITY)
}

/// Whether the written data violates a constraint of the schema, or the type of a column.
pub(in crate::store) fn breaks_rule(error: &sqlx::Error) -> bool {
    code(error).is_some_and(|code| breaks_constraint(&code) || code.starts_with(CLASS_DATA))
}

/// Whether the statement timed out while it waited for a lock.
pub(in crate::store) fn is_locked(error: &sqlx::Error) -> bool {
    code(error).is_some_and(|code| code == LOCK_NOT_AVAILABLE)
}

pub(super) fn ends_connection(code: &str) -> bool {
    code.starts_with("57P") || code.starts_with("08")
}

/// The code of the database's error, if it is one.
pub(in crate::store) fn code(error: &sqlx::Error) -> Option<String> {
    let code = error.as_database_error()?.code()?;
    Some(code.into_owned())
}
