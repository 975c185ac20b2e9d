//! API keys and their rate windows.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, Timestamp};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::access::{Access, KeyHash, KeyRecord, RateLimit, Window};
use crate::fair::{Tenant, charged_to};
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::exhausted::{Known, is_used_up};
use crate::store::rows::{join_key_parties, key_columns, key_record};
use crate::store::sql::access;

use super::SqliteStore;
use super::rows::Columns;

#[async_trait]
impl Access for SqliteStore {
    async fn authenticate(
        &self,
        key: &KeyHash,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<Option<KeyRecord>, Unavailable> {
        let known = match self.exhausted.find(key, limit, now) {
            Known::UsedUp(entry) => return Ok(Some(entry)),
            Known::Recheck(entry) => Some(entry),
            Known::Nothing => None,
        };
        // Looked up before counting: unknown keys and requests above the limit do not queue for the
        // writer.
        let mut entry = match (self.key(key).await, known) {
            (Ok(Some(entry)), _) => entry,
            (Ok(None), _) => return Ok(None),
            (Err(_), Some(known)) => return Ok(Some(known)),
            (Err(fault), None) => return Err(fault.into()),
        };
        if entry.revoked_at.is_some() || entry.expires_at <= now {
            entry.window = None;
        } else if !is_used_up(&entry, limit, now) {
            let lookup = KeyLookup {
                key: entry.key,
                limit,
                now,
            };
            // A power failure may lose the count, which is harmless, so the write need not wait for
            // the disk.
            let counted = self.writer.write_relaxed(lookup, |connection, lookup| {
                Box::pin(count(connection, lookup))
            });
            let counted = charged_to(Tenant::HeadOffice(entry.head_office), counted);
            entry.window = Some(counted.await.map_err(unavailable)?);
        }
        self.exhausted.note(*key, limit, &entry);
        Ok(Some(entry))
    }

    async fn find(&self, key: &KeyHash) -> Result<Option<KeyRecord>, Unavailable> {
        Ok(access::find(&mut *self.reader().await?, key).await?)
    }

    async fn key_hashes(
        &self,
        after: ApiKeyId,
        limit: u32,
    ) -> Result<Vec<(ApiKeyId, KeyHash)>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(access::key_hashes(&mut *reader, after, limit).await?)
    }
}

/// One request to be counted.
#[derive(Debug)]
struct KeyLookup {
    key: ApiKeyId,
    limit: RateLimit,
    now: Timestamp,
}

impl SqliteStore {
    /// The key, with the window that was counted last.
    async fn key(&self, key: &KeyHash) -> Result<Option<KeyRecord>, Fault> {
        find_with_window(&mut *self.reader().await?, key).await
    }
}

async fn find_with_window(
    connection: &mut SqliteConnection,
    key: &KeyHash,
) -> Result<Option<KeyRecord>, Fault> {
    let row = sqlx::query(concat!(
        "SELECT ",
        key_columns!(),
        ", w.count, w.started_at
         FROM api_keys k",
        join_key_parties!(),
        "LEFT JOIN rate_windows w ON w.api_key_id = k.id
         WHERE k.hash = ?1"
    ))
    .bind(key.0.as_slice())
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let count: Option<u32> = Columns::of("rate_windows", &row).raw("count")?;
    let window = count.map(|_| window(&row)).transpose()?;
    Ok(Some(key_record(&row, window)?))
}

/// Counts a request in its key's window, in a new one when the old one is over.
///
/// Requests may arrive here in another order than they were made, so an earlier time counts in the
/// current window; a difference of a whole window means that the clock was set back.
async fn count(
    connection: &mut SqliteConnection,
    lookup: &KeyLookup,
) -> Result<Window, WriteError> {
    let window_ms = i64::from(lookup.limit.window_seconds).saturating_mul(1000);
    let row = sqlx::query(
        "INSERT INTO rate_windows (api_key_id, started_at, count, last_used_at)
         VALUES (?1, ?2, 1, ?2)
         ON CONFLICT (api_key_id) DO UPDATE
         SET started_at = iif(abs(?2 - started_at) < ?3, started_at, ?2),
             count = iif(abs(?2 - started_at) < ?3, min(count + 1, ?4 + 1), 1),
             last_used_at = max(last_used_at, ?2)
         RETURNING count, started_at",
    )
    .bind(lookup.key.as_uuid().as_bytes().as_slice())
    .bind(lookup.now.unix_millis())
    .bind(window_ms)
    .bind(lookup.limit.requests)
    .fetch_one(connection)
    .await?;
    Ok(window(&row)?)
}

fn window(row: &SqliteRow) -> Result<Window, Fault> {
    let columns = Columns::of("rate_windows", row);
    Ok(Window {
        count: columns.raw("count")?,
        started_at: columns.timestamp("started_at")?,
    })
}
