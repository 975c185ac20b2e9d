//! Keys and their rate windows.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, CompanyId, Timestamp, UserId};
use sqlx::PgConnection;
use sqlx::postgres::PgRow;

use crate::access::{Access, Entry, KeyHash, RateLimit, Window};

use super::PostgresStore;
use super::error::Fault;
use super::rows::Columns;

#[async_trait]
impl Access for PostgresStore {
    async fn enter(
        &self,
        key: &KeyHash,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<Option<Entry>, Unavailable> {
        let visit = Visit {
            hash: *key,
            limit,
            now,
        };
        // A request that is counted twice, because its connection broke, harms nobody.
        let entered = self.read(&visit, |connection, visit| {
            Box::pin(enter(connection, visit))
        });
        Ok(entered.await?)
    }
}

/// One request to be counted.
#[derive(Debug)]
struct Visit {
    hash: KeyHash,
    limit: RateLimit,
    now: Timestamp,
}

/// Looks a key up and counts the request in its key's window, in a new one when the old one is
/// over; in one round trip. A key that is revoked or expired is found and not counted.
///
/// Requests may arrive here in another order than they were made, so an earlier moment counts in
/// the window that stands; one earlier by a whole window means that a clock was set back.
async fn enter(connection: &mut PgConnection, visit: &Visit) -> Result<Option<Entry>, Fault> {
    let window_ms = i64::from(visit.limit.window_seconds).saturating_mul(1000);
    let row = sqlx::query(
        "WITH found AS (
             SELECT k.id, k.scopes, k.revoked_at, k.expires_at, k.company_id, k.user_id,
                    c.kind, c.head_office_id, u.permissions,
                    u.active AND o.head_office_id = c.head_office_id AS user_is_active
             FROM api_keys k
             JOIN companies c ON c.id = k.company_id
             JOIN users u ON u.id = k.user_id
             JOIN companies o ON o.id = u.company_id
             WHERE k.hash = $1
         ),
         counted AS (
             INSERT INTO rate_windows AS w (api_key_id, started_at, count, last_used_at)
             SELECT id, $2, 1, $2 FROM found WHERE revoked_at IS NULL AND expires_at > $2
             ON CONFLICT (api_key_id) DO UPDATE
             SET started_at = CASE WHEN abs($2 - w.started_at) < $3 THEN w.started_at ELSE $2 END,
                 count = CASE WHEN abs($2 - w.started_at) < $3
                              THEN least(w.count + 1, $4 + 1) ELSE 1 END,
                 last_used_at = greatest(w.last_used_at, $2)
             RETURNING count, started_at
         )
         SELECT found.*, counted.count, counted.started_at
         FROM found LEFT JOIN counted ON TRUE",
    )
    .bind(visit.hash.0.as_slice())
    .bind(visit.now.unix_millis())
    .bind(window_ms)
    .bind(i64::from(visit.limit.requests))
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(entry).transpose()
}

fn entry(row: &PgRow) -> Result<Entry, Fault> {
    let columns = Columns::of("api_keys", row);
    Ok(Entry {
        key: ApiKeyId::new(columns.uuid("id")?),
        scopes: columns.set("scopes")?,
        revoked_at: columns.optional_timestamp("revoked_at")?,
        expires_at: columns.timestamp("expires_at")?,
        company: CompanyId::new(columns.uuid("company_id")?),
        company_kind: columns.parsed("kind")?,
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        user: UserId::new(columns.uuid("user_id")?),
        user_is_active: columns.raw("user_is_active")?,
        permissions: columns.set("permissions")?,
        window: window(row)?,
    })
}

fn window(row: &PgRow) -> Result<Option<Window>, Fault> {
    let columns = Columns::of("rate_windows", row);
    let Some(count) = columns.optional_whole("count")? else {
        return Ok(None);
    };
    Ok(Some(Window {
        count,
        started_at: columns.timestamp("started_at")?,
    }))
}
