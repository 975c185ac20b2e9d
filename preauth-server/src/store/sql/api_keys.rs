//! API keys.

use async_trait::async_trait;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{ApiKeyId, CompanyId, Timestamp};

use crate::access::{KeyFragment, KeyHash};
use crate::directory::{ApiKey, ApiKeys, DirectoryError, Page};
use crate::store::error::{Fault, WriteError, one_row_or};
use crate::store::rows::{api_key, clamped, set_text};

use super::{Database, Listed, Row, Session, query, remember, sql};

/// The time of a key's last use is in its latest rate window.
macro_rules! select_keys {
    ($($rest:tt)+) => {
        sql!(
            "SELECT k.id, k.company_id, k.user_id, k.name, k.prefix, k.scopes, k.created_at,
                    k.expires_at, k.revoked_at, w.last_used_at
             FROM api_keys k LEFT JOIN "
            {
                sqlite: "rate_windows w ON w.api_key_id = k.id ",
                postgres: "LATERAL (
                    SELECT r.last_used_at FROM rate_counts r WHERE r.api_key_id = k.id
                    ORDER BY r.generation DESC LIMIT 1) AS w ON TRUE "
            }
            $($rest)+
        )
    };
}

#[async_trait]
impl<D: Database> ApiKeys for D {
    async fn add_api_key(
        &self,
        key: &ApiKey,
        hash: &KeyHash,
        reply: Option<&NewReply>,
    ) -> Result<(), DirectoryError> {
        let input = (key.clone(), *hash, reply.cloned());
        let added = self.write(input, |session, (key, hash, reply)| {
            Box::pin(async move {
                insert(session, key, hash).await?;
                remember(session, reply.as_ref(), key.created_at).await
            })
        });
        Ok(added.await?)
    }

    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, Unavailable> {
        self.save_key_uses().await?;
        let found = self.read(&id, |session, id| Box::pin(by_id(session, *id)));
        Ok(found.await?)
    }

    async fn api_keys(
        &self,
        company: CompanyId,
        page: PageRequest,
    ) -> Result<Page<ApiKey>, Unavailable> {
        self.save_key_uses().await?;
        let input = (company, page);
        let listed = self.read_snapshot(&input, |session, (company, page)| {
            Box::pin(list(session, *company, *page))
        });
        Ok(listed.await?.page(self.set_aside(), api_key))
    }

    async fn find_api_keys(
        &self,
        fragment: &KeyFragment,
        limit: u32,
    ) -> Result<Vec<ApiKey>, Unavailable> {
        self.save_key_uses().await?;
        let input = (fragment.clone(), limit);
        let found = self.read(&input, |session, (fragment, limit)| {
            Box::pin(find(session, fragment, *limit))
        });
        Ok(self.set_aside().readable(&found.await?, api_key))
    }

    async fn revoke_api_key(&self, id: ApiKeyId, at: Timestamp) -> Result<(), DirectoryError> {
        let revoked = self.write((id, at), |session, input| Box::pin(revoke(session, input)));
        revoked.await?;
        self.forget_key(id);
        Ok(())
    }
}

async fn insert(session: &mut dyn Session, key: &ApiKey, hash: &KeyHash) -> Result<(), WriteError> {
    let done = query(
        "INSERT INTO api_keys (id, company_id, user_id, name, hash, prefix, scopes, created_at,
             expires_at, revoked_at)
         SELECT $1, c.id, u.id, $4, $5, $6, $7, $8, $9, $10
         FROM companies c JOIN users u ON u.id = $3 WHERE c.id = $2",
    )
    .bind(key.id.as_uuid())
    .bind(key.company.as_uuid())
    .bind(key.responsible_user.as_uuid())
    .bind(key.name.as_str())
    .bind(hash.0.as_slice())
    .bind(key.prefix.as_str())
    .bind(set_text(key.scopes))
    .bind(key.created_at.unix_millis())
    .bind(key.expires_at.unix_millis())
    .bind(key.revoked_at.map(Timestamp::unix_millis))
    .execute(session)
    .await?;
    one_row_or(done, WriteError::NotFound)
}

/// Revokes a key; the first revocation's time stays.
async fn revoke(
    session: &mut dyn Session,
    (id, at): &(ApiKeyId, Timestamp),
) -> Result<(), WriteError> {
    let done = query("UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1")
        .bind(id.as_uuid())
        .bind(at.unix_millis())
        .execute(session)
        .await?;
    one_row_or(done, WriteError::NotFound)
}

async fn by_id(session: &mut dyn Session, id: ApiKeyId) -> Result<Option<ApiKey>, Fault> {
    let row = query(select_keys!("WHERE k.id = $1"))
        .bind(id.as_uuid())
        .fetch_optional(session)
        .await?;
    Ok(row.as_ref().map(api_key).transpose()?)
}

async fn list(
    session: &mut dyn Session,
    company: CompanyId,
    page: PageRequest,
) -> Result<Listed, Fault> {
    let total = query("SELECT count(*) AS total FROM api_keys WHERE company_id = $1")
        .bind(company.as_uuid())
        .total(session)
        .await?;
    let rows = query(select_keys!(
        "WHERE k.company_id = $1
         ORDER BY k.created_at DESC, k.id DESC LIMIT $2 OFFSET $3"
    ))
    .bind(company.as_uuid())
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(session)
    .await?;
    Ok(Listed::whole(rows, total))
}

/// Finds keys by a range of their prefixes, and by the hash if the whole key is known.
async fn find(
    session: &mut dyn Session,
    fragment: &KeyFragment,
    limit: u32,
) -> Result<Vec<Row>, Fault> {
    let rows = query(select_keys!(
        "WHERE k.prefix" BYTEWISE " >= $1 AND k.prefix" BYTEWISE " < $2
           AND ($3" BYTES " IS NULL OR k.hash = $3)
         ORDER BY k.prefix" BYTEWISE ", k.created_at DESC, k.id DESC LIMIT $4"
    ))
    .bind(fragment.prefix())
    .bind(fragment.end())
    .bind(fragment.hash().map(|hash| hash.0.to_vec()))
    .bind(limit)
    .fetch_all(session)
    .await?;
    Ok(rows)
}
