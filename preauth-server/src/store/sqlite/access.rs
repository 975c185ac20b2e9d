//! API keys and their rate windows.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, Timestamp};
use sqlx::SqliteConnection;

use crate::access::{Access, KeyHash, KeyRecord, RateLimit, Window};
use crate::store::error::Fault;
use crate::store::rows::{join_key_parties, key_columns, key_record};
use crate::store::sql::access;

use super::SqliteStore;
use super::rate_windows::KeyUse;
use super::rows::Columns;

#[async_trait]
impl Access for SqliteStore {
    async fn authenticate(
        &self,
        key: &KeyHash,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<Option<KeyRecord>, Unavailable> {
        let Some(mut entry) = self.key(key).await? else {
            return Ok(None);
        };
        if entry.revoked_at.is_none() && now < entry.expires_at {
            entry.window = Some(self.windows.count(entry.key, limit, now));
        }
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

impl SqliteStore {
    /// The key, from memory if it was looked up since anything changed.
    async fn key(&self, key: &KeyHash) -> Result<Option<KeyRecord>, Fault> {
        let before = match self.keys.find(key) {
            Ok(entry) => return Ok(Some(entry)),
            Err(generation) => generation,
        };
        let found = find_with_window(&mut *self.reader().await?, key).await?;
        let Some((entry, stored)) = found else {
            return Ok(None);
        };
        if let Some(stored) = stored {
            self.windows.continue_from(entry.key, stored);
        }
        self.keys.add(before, *key, entry.clone());
        Ok(Some(entry))
    }
}

/// A key, with its window as saved.
async fn find_with_window(
    connection: &mut SqliteConnection,
    key: &KeyHash,
) -> Result<Option<(KeyRecord, Option<KeyUse>)>, Fault> {
    let row = sqlx::query(concat!(
        "SELECT ",
        key_columns!(),
        ", w.count, w.started_at, w.last_used_at
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
    let columns = Columns::of("rate_windows", &row);
    let count: Option<u32> = columns.raw("count")?;
    let key_use = count.map(|count| key_use(columns, count)).transpose()?;
    Ok(Some((key_record(&row, None)?, key_use)))
}

fn key_use(columns: Columns<'_>, count: u32) -> Result<KeyUse, Fault> {
    Ok(KeyUse {
        window: Window {
            count,
            started_at: columns.timestamp("started_at")?,
        },
        last_used_at: columns.timestamp("last_used_at")?,
    })
}
