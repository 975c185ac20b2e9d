//! What a transaction asks of PostgreSQL's planner.
//!
//! What statements ask by their words: where a row is found by its key, a condition that is also that of a partial index
//! is written as `+deleted_at IS NULL` or `status || '' = 'PENDING'`. Otherwise the planner may read the whole of that index
//! instead, which costs the same as long as it has few rows. It expects that hardly any row meets such a condition; in a
//! join, where that matters, the condition is `IS_NOT_REMOVED` of `sql!`, of which it expects half.

use super::{Dialect, Session, query};

/// Plans each statement for its values until the transaction ends. A kept plan knows neither them nor how large the tables
/// have become: of a list's filters it cannot tell which one leaves little.
pub(super) async fn plan_by_values(session: &mut dyn Session) -> Result<(), sqlx::Error> {
    set_on_postgres(
        session,
        "SELECT set_config('plan_cache_mode', 'force_custom_plan', TRUE)",
    )
    .await
}

/// Finds rows by their keys until the transaction ends, in triggers, too. PostgreSQL expects many rows of what a trigger
/// gets, and would read all that these may be joined to. Few rows are sorted, whatever the transaction asked before.
pub(in crate::store) async fn find_by_keys(session: &mut dyn Session) -> Result<(), sqlx::Error> {
    set_on_postgres(
        session,
        "SELECT set_config('enable_hashjoin', 'off', TRUE), set_config('enable_sort', 'on', TRUE)",
    )
    .await
}

/// Reads ranges in the order of an index until the transaction ends. Without statistics PostgreSQL expects few rows, and
/// would read and sort all of a company's.
pub(in crate::store) async fn read_in_index_order(
    session: &mut dyn Session,
) -> Result<(), sqlx::Error> {
    set_on_postgres(
        session,
        "SELECT set_config('enable_sort', 'off', TRUE), set_config('enable_incremental_sort', 'off', TRUE)",
    )
    .await
}

/// SQLite has none of these settings.
async fn set_on_postgres(session: &mut dyn Session, sql: &'static str) -> Result<(), sqlx::Error> {
    if session.dialect() == Dialect::Postgres {
        query(sql).fetch_one(session).await?;
    }
    Ok(())
}
