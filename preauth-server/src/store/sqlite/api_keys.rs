//! API keys.

use async_trait::async_trait;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{ApiKeyId, CompanyId, Timestamp};
use sqlx::{Row, SqliteConnection};

use crate::access::KeyFragment;
use crate::access::KeyHash;
use crate::directory::{ApiKey, ApiKeys, DirectoryError, Page};
use crate::store::rows::api_key;
use crate::store::set_aside::SetAside;

use super::SqliteStore;
use super::error::{Fault, WriteError, one_row_or};
use super::platform_replies::remember;
use super::rows::{clamped, count, set_text};

#[async_trait]
impl ApiKeys for SqliteStore {
    async fn add_api_key(
        &self,
        key: &ApiKey,
        hash: &KeyHash,
        reply: Option<&NewReply>,
    ) -> Result<(), DirectoryError> {
        let input = (key.clone(), *hash, reply.cloned());
        let added = self.writer.write(input, |connection, (key, hash, reply)| {
            Box::pin(async move {
                insert(connection, key, hash).await?;
                remember(connection, reply.as_ref(), key.created_at).await
            })
        });
        Ok(added.await?)
    }

    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, Unavailable> {
        let mut reader = self.reader().await?;
        let row = sqlx::query(
            "SELECT k.id, k.company_id, k.user_id, k.name, k.prefix, k.scopes, k.created_at,
                    k.expires_at, k.revoked_at, w.last_used_at
             FROM api_keys k LEFT JOIN rate_windows w ON w.api_key_id = k.id
             WHERE k.id = ?1",
        )
        .bind(id.as_uuid().as_bytes().as_slice())
        .fetch_optional(&mut *reader)
        .await
        .map_err(Fault::from)?;
        Ok(row.as_ref().map(api_key).transpose()?)
    }

    async fn api_keys(
        &self,
        company: CompanyId,
        page: PageRequest,
    ) -> Result<Page<ApiKey>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        Ok(list(&mut snapshot, company, page, &self.set_aside).await?)
    }

    async fn find_api_keys(
        &self,
        fragment: &KeyFragment,
        limit: u32,
    ) -> Result<Vec<ApiKey>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(find(&mut reader, fragment, limit, &self.set_aside).await?)
    }

    async fn revoke_api_key(&self, id: ApiKeyId, at: Timestamp) -> Result<(), DirectoryError> {
        let revoked = self.writer.write((id, at), |connection, input| {
            Box::pin(revoke(connection, input))
        });
        revoked.await?;
        self.exhausted.forget(id);
        Ok(())
    }
}

async fn insert(
    connection: &mut SqliteConnection,
    key: &ApiKey,
    hash: &KeyHash,
) -> Result<(), WriteError> {
    let done = sqlx::query(
        "INSERT INTO api_keys (id, company_id, user_id, name, hash, prefix, scopes, created_at,
             expires_at, revoked_at)
         SELECT ?1, c.id, u.id, ?4, ?5, ?6, ?7, ?8, ?9, ?10
         FROM companies c JOIN users u ON u.id = ?3 WHERE c.id = ?2",
    )
    .bind(key.id.as_uuid().as_bytes().as_slice())
    .bind(key.company.as_uuid().as_bytes().as_slice())
    .bind(key.responsible_user.as_uuid().as_bytes().as_slice())
    .bind(key.name.as_str())
    .bind(hash.0.as_slice())
    .bind(key.prefix.as_str())
    .bind(set_text(key.scopes))
    .bind(key.created_at.unix_millis())
    .bind(key.expires_at.unix_millis())
    .bind(key.revoked_at.map(Timestamp::unix_millis))
    .execute(connection)
    .await?;
    one_row_or(done.rows_affected(), WriteError::NotFound)
}

/// Revokes a key; the first revocation's time stays.
async fn revoke(
    connection: &mut SqliteConnection,
    (id, at): &(ApiKeyId, Timestamp),
) -> Result<(), WriteError> {
    let done =
        sqlx::query("UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1")
            .bind(id.as_uuid().as_bytes().as_slice())
            .bind(at.unix_millis())
            .execute(connection)
            .await?;
    one_row_or(done.rows_affected(), WriteError::NotFound)
}

async fn list(
    connection: &mut SqliteConnection,
    company: CompanyId,
    page: PageRequest,
    set_aside: &SetAside,
) -> Result<Page<ApiKey>, Fault> {
    let total = sqlx::query("SELECT count(*) FROM api_keys WHERE company_id = ?1")
        .bind(company.as_uuid().as_bytes().as_slice())
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query(
        "SELECT k.id, k.company_id, k.user_id, k.name, k.prefix, k.scopes, k.created_at,
                k.expires_at, k.revoked_at, w.last_used_at
         FROM api_keys k LEFT JOIN rate_windows w ON w.api_key_id = k.id
         WHERE k.company_id = ?1
         ORDER BY k.created_at DESC, k.id DESC LIMIT ?2 OFFSET ?3",
    )
    .bind(company.as_uuid().as_bytes().as_slice())
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(connection)
    .await?;
    Ok(Page {
        items: set_aside.readable(&rows, api_key),
        total: count(total.try_get(0)?),
    })
}

/// Finds keys by a range of their prefixes, and by the hash if the whole key is known.
async fn find(
    connection: &mut SqliteConnection,
    fragment: &KeyFragment,
    limit: u32,
    set_aside: &SetAside,
) -> Result<Vec<ApiKey>, Fault> {
    let rows = sqlx::query(
        "SELECT k.id, k.company_id, k.user_id, k.name, k.prefix, k.scopes, k.created_at,
                k.expires_at, k.revoked_at, w.last_used_at
         FROM api_keys k LEFT JOIN rate_windows w ON w.api_key_id = k.id
         WHERE k.prefix >= ?1 AND k.prefix < ?2
           AND (?3 IS NULL OR k.hash = ?3)
         ORDER BY k.prefix, k.created_at DESC, k.id DESC LIMIT ?4",
    )
    .bind(fragment.prefix())
    .bind(fragment.end())
    .bind(fragment.hash().map(|hash| hash.0.to_vec()))
    .bind(limit)
    .fetch_all(connection)
    .await?;
    Ok(set_aside.readable(&rows, api_key))
}
