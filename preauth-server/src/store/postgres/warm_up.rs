//! Prepares new sessions for creates and deliveries.
//!
//! PostgreSQL reads, analyses and plans a statement anew in each session, and those of a create are long: its first one in a
//! session takes several times as long as the next ones. Sessions are opened when more happens at once than before, so
//! without this each burst would begin with slow answers.

use sqlx::PgConnection;

use crate::store::error::Fault;

use super::{commit, offers, outbox, rate_counts};

/// The statements for one caller have texts of their own; those for two serve every group.
const GROUPS: [usize; 2] = [1, 2];

/// Executes what each create and each delivery needs, in their order, for nobody: nothing is written.
pub(super) async fn warm_up(connection: &mut PgConnection) -> Result<(), Fault> {
    for callers in GROUPS {
        rate_counts::warm_up(connection, callers).await?;
        offers::warm_up(connection, callers).await?;
        commit::warm_up(connection, callers).await?;
        outbox::warm_up(connection, callers).await?;
    }
    Ok(())
}
