//! API keys and their rate windows.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, CompanyId, Timestamp, UserId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::access::{Access, KeyHash, KeyRecord, RateLimit, Window};
use crate::fair::{Tenant, on_account_of};
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::exhausted::{Known, is_used_up};
use crate::store::rows::key_hash;

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
            let counted = on_account_of(Tenant::HeadOffice(entry.head_office), counted);
            entry.window = Some(counted.await.map_err(unavailable)?);
        }
        self.exhausted.note(*key, limit, &entry);
        Ok(Some(entry))
    }

    async fn find(&self, key: &KeyHash) -> Result<Option<KeyRecord>, Unavailable> {
        let entry = self.key(key).await?;
        Ok(entry.map(|entry| KeyRecord {
            window: None,
            ..entry
        }))
    }

    async fn key_hashes(
        &self,
        after: ApiKeyId,
        limit: u32,
    ) -> Result<Vec<(ApiKeyId, KeyHash)>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(key_hashes(&mut reader, after, limit).await?)
    }
}

async fn key_hashes(
    connection: &mut SqliteConnection,
    after: ApiKeyId,
    limit: u32,
) -> Result<Vec<(ApiKeyId, KeyHash)>, Fault> {
    let rows = sqlx::query("SELECT id, hash FROM api_keys WHERE id > ?1 ORDER BY id LIMIT ?2")
        .bind(after.as_uuid().as_bytes().as_slice())
        .bind(limit)
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(key_hash).collect::<Result<_, _>>()?)
}

impl SqliteStore {
    async fn key(&self, key: &KeyHash) -> Result<Option<KeyRecord>, Fault> {
        find(&mut *self.reader().await?, key).await
    }
}

/// One request to be counted.
#[derive(Debug)]
struct KeyLookup {
    key: ApiKeyId,
    limit: RateLimit,
    now: Timestamp,
}

/// The key, with the window that was counted last.
async fn find(
    connection: &mut SqliteConnection,
    key: &KeyHash,
) -> Result<Option<KeyRecord>, Fault> {
    let row = sqlx::query(
        "SELECT k.id, k.scopes, k.revoked_at, k.expires_at, k.company_id, k.user_id,
                c.kind, c.head_office_id, u.permissions,
                u.active AND o.head_office_id = c.head_office_id AS user_is_active,
                c.suspended_at IS NOT NULL OR h.suspended_at IS NOT NULL
                    AS company_is_suspended,
                w.count, w.started_at
         FROM api_keys k
         JOIN companies c ON c.id = k.company_id
         JOIN companies h ON h.id = c.head_office_id
         JOIN users u ON u.id = k.user_id
         JOIN companies o ON o.id = u.company_id
         LEFT JOIN rate_windows w ON w.api_key_id = k.id
         WHERE k.hash = ?1",
    )
    .bind(key.0.as_slice())
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(entry).transpose()
}

fn entry(row: &SqliteRow) -> Result<KeyRecord, Fault> {
    let columns = Columns::of("api_keys", row);
    Ok(KeyRecord {
        key: ApiKeyId::new(columns.uuid("id")?),
        scopes: columns.set("scopes")?,
        revoked_at: columns.optional_timestamp("revoked_at")?,
        expires_at: columns.timestamp("expires_at")?,
        company: CompanyId::new(columns.uuid("company_id")?),
        company_kind: columns.parsed("kind")?,
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        company_is_suspended: columns.raw("company_is_suspended")?,
        user: UserId::new(columns.uuid("user_id")?),
        user_is_active: columns.raw("user_is_active")?,
        permissions: columns.set("permissions")?,
        window: match columns.raw::<Option<u32>>("count")? {
            Some(_) => Some(window(row)?),
            None => None,
        },
    })
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
