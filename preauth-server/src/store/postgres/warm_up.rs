//! Prepares new sessions for creates and deliveries, and keeps some open.
//!
//! PostgreSQL reads, analyses and plans a statement anew in each session, and those of a create are long: its first one in a
//! session takes several times as long as the next ones. Sessions are opened when more happens at once than before, so
//! without this each burst would begin with slow answers.

use std::time::Duration;

use sqlx::PgConnection;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::connections::Connections;
use super::{commit, offers, outbox, rate_counts};

/// Sessions that are kept open: one for each kind of statement. They work at once when much happens.
pub(super) const KEPT: u32 = 4;
/// Interval at which they are looked after; shorter than the time after which a pool closes idle ones.
const KEEP_EVERY: Duration = Duration::from_mins(1);
/// The statements for one caller have texts of their own; those for two serve every group.
const GROUPS: [usize; 2] = [1, 2];
/// After this time the rest is left to the first requests: a session is needed, and the database is slow.
const PATIENCE: Duration = Duration::from_secs(1);

/// Executes what creates and deliveries need, in their order, for nobody: nothing is written. A create without an endpoint has
/// a statement of its own; rarer ones, as with a file or a new supplier, are left to the first request.
pub(super) async fn warm_up(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let began = Instant::now();
    for callers in GROUPS {
        rate_counts::warm_up(connection, callers).await?;
        offers::warm_up(connection, callers).await?;
        commit::warm_up(connection, callers, true).await?;
        outbox::warm_up(connection, callers).await?;
        commit::warm_up(connection, callers, false).await?;
        if began.elapsed() > PATIENCE {
            break;
        }
    }
    Ok(())
}

/// The task that keeps sessions open; dropping this value ends it.
#[derive(Debug)]
pub(super) struct Keeper(JoinHandle<()>);

impl Keeper {
    pub(super) fn spawn(connections: Connections) -> Self {
        Self(tokio::spawn(async move {
            loop {
                sleep(KEEP_EVERY).await;
                connections.keep_open(KEPT).await;
            }
        }))
    }

    pub(super) fn end(&self) {
        self.0.abort();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}
