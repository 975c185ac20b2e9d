//! Reports: the counts that they consist of, and how these come to be.
//!
//! Events are counted after their commits, in the order of the numbers by which they are read on request. So no commit
//! does more for it, and each event is counted exactly once.

mod count;
mod counts;
mod read;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use uuid::Uuid;

use crate::directory::{ReportQuery, ReportRow, Reports};

use super::Database;

pub(in crate::store) use counts::{Counts, FAILED_DELIVERY};

/// The head office under which all of them are counted together.
const EVERYBODY: Uuid = Uuid::nil();

#[async_trait]
impl<D: Database> Reports for D {
    async fn count_activity(&self) -> Result<u64, Unavailable> {
        // Without anything to count, nobody waits for the writer.
        let is_due = self.read_snapshot(&(), |session, ()| Box::pin(count::is_due(session)));
        if !is_due.await? {
            return Ok(0);
        }
        self.write_relaxed((), |session, ()| Box::pin(count::next(session)))
            .await
    }

    async fn report(&self, query: &ReportQuery) -> Result<Vec<ReportRow>, Unavailable> {
        let rows = self.read_snapshot(query, |session, query| Box::pin(read::rows(session, query)));
        Ok(rows.await?)
    }
}
