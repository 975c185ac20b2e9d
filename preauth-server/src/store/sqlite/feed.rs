//! Events on request: a commit numbers its own event, because there is one writer; old numbers are removed.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, Timestamp};
use sqlx::{Row, SqliteConnection};
use tokio::sync::Notify;

use crate::feed::{EventNumbers, Look, Numbered};
use crate::store::error::{Fault, WriteError};

use super::SqliteStore;

/// Maximum number of numbers that one look reports.
const MAX_REPORTED: i64 = 10_000;

#[async_trait]
impl EventNumbers for SqliteStore {
    async fn number(&self, look: Look) -> Result<Numbered, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(report(&mut reader, look.since).await.map_err(Fault::from)?)
    }

    fn committed(&self) -> Arc<Notify> {
        Arc::clone(&self.committed)
    }
}

async fn report(
    connection: &mut SqliteConnection,
    since: Option<i64>,
) -> Result<Numbered, sqlx::Error> {
    let Some(since) = since else {
        let latest = sqlx::query_scalar("SELECT coalesce(max(number), 0) FROM event_feed")
            .fetch_one(connection)
            .await?;
        return Ok(Numbered {
            upto: latest,
            ..Numbered::default()
        });
    };
    let rows = sqlx::query(
        "SELECT number, head_office_id FROM event_feed WHERE number > ?1 ORDER BY number LIMIT ?2",
    )
    .bind(since)
    .bind(MAX_REPORTED)
    .fetch_all(connection)
    .await?;
    let mut numbered = Numbered {
        upto: since,
        has_more: i64::try_from(rows.len()).is_ok_and(|found| found >= MAX_REPORTED),
        ..Numbered::default()
    };
    for row in rows {
        numbered.upto = row.try_get("number")?;
        let id = row.try_get("head_office_id")?;
        numbered.head_offices.push(CompanyId::new(id));
    }
    Ok(numbered)
}

/// Removes the oldest numbers, as long as their events happened before `before`; `limit` at most.
pub(super) async fn forget(
    connection: &mut SqliteConnection,
    (before, limit): &(Timestamp, u32),
) -> Result<u64, WriteError> {
    // From the beginning of the table to the first event that is kept, so that nothing older stands behind a
    // number that was removed.
    let upto: Option<i64> = sqlx::query_scalar(
        "SELECT max(number) FROM (
             SELECT number, max(at) OVER (ORDER BY number) AS latest FROM (
                 SELECT number, at FROM event_feed ORDER BY number LIMIT ?2))
         WHERE latest < ?1",
    )
    .bind(before.unix_millis())
    .bind(limit)
    .fetch_one(&mut *connection)
    .await?;
    let Some(upto) = upto else { return Ok(0) };
    sqlx::query(
        "INSERT INTO event_feed_ends (head_office_id, company_id, number, event_id)
         SELECT f.head_office_id, c.id, max(f.number), f.event_id
         FROM event_feed f CROSS JOIN companies c ON c.id IN (f.payer_id, f.supplier_id)
         WHERE f.number <= ?1 AND c.head_office_id = f.head_office_id
         GROUP BY +f.head_office_id, c.id
         ON CONFLICT (head_office_id, company_id) DO UPDATE
         SET number = excluded.number, event_id = excluded.event_id",
    )
    .bind(upto)
    .execute(&mut *connection)
    .await?;
    let removed = sqlx::query("DELETE FROM event_feed WHERE number <= ?1")
        .bind(upto)
        .execute(connection)
        .await?;
    Ok(removed.rows_affected())
}
