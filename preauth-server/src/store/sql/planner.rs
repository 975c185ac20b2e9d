//! What a transaction asks of PostgreSQL's planner.

use super::{Session, query, sql};

/// Reads ranges in the order of an index until the transaction ends. Without statistics PostgreSQL expects few rows, and
/// would read and sort all of a company's.
pub(super) async fn read_in_index_order(session: &mut dyn Session) -> Result<(), sqlx::Error> {
    query(sql!({
        sqlite: "SELECT 1",
        postgres: "SELECT set_config('enable_bitmapscan', 'off', TRUE), set_config('enable_sort', 'off', TRUE),
                          set_config('enable_incremental_sort', 'off', TRUE)"
    }))
    .fetch_one(session)
    .await?;
    Ok(())
}
