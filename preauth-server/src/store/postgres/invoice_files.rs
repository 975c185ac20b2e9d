//! Invoice files in the database: those of operations, and recently stored ones.

use async_trait::async_trait;
use preauth_core::operation::InvoiceFile;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, OperationId, Timestamp};
use sqlx::PgConnection;

use crate::directory::FileDescriptions;
use crate::invoice_files::{ContentHash, FileLedger};
use crate::store::rows::{content_hash, count, invoice_file};

use super::PostgresStore;
use crate::store::error::{Fault, WriteError, unavailable};

#[async_trait]
impl FileDescriptions for PostgresStore {
    async fn invoice_file(
        &self,
        operation: OperationId,
    ) -> Result<Option<InvoiceFile>, Unavailable> {
        let found = self.read(&operation, |connection, operation| {
            Box::pin(description(connection, *operation))
        });
        Ok(found.await?)
    }
}

#[async_trait]
impl FileLedger for PostgresStore {
    async fn announce_file(&self, file: ContentHash, now: Timestamp) -> Result<bool, Unavailable> {
        let announced = self.write((file, now), |connection, input| {
            Box::pin(announce(connection, input))
        });
        announced.await.map_err(unavailable)
    }

    async fn settle_files(
        &self,
        announced_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<ContentHash>, Unavailable> {
        let settled = self.write_relaxed((announced_before, limit), |connection, input| {
            Box::pin(settle(connection, input))
        });
        settled.await
    }

    async fn claim_unnamed_files(
        &self,
        announced_before: Timestamp,
        stale_before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ContentHash>, Unavailable> {
        let input = (announced_before, stale_before, now, limit);
        let claimed = self.write(input, |connection, input| {
            Box::pin(claim(connection, input))
        });
        claimed.await.map_err(unavailable)
    }

    async fn named_bytes(&self, head_office: CompanyId) -> Result<u64, Unavailable> {
        let named = self.read(&head_office, |connection, head_office| {
            Box::pin(named_bytes(connection, *head_office))
        });
        Ok(named.await?)
    }

    async fn forget_file(&self, file: ContentHash) -> Result<(), Unavailable> {
        let forgotten =
            self.write_relaxed(file, |connection, file| Box::pin(forget(connection, *file)));
        forgotten.await
    }
}

async fn description(
    connection: &mut PgConnection,
    operation: OperationId,
) -> Result<Option<InvoiceFile>, Fault> {
    let row = sqlx::query(
        "SELECT name, media_type, size_bytes, sha256 FROM invoice_files WHERE operation_id = $1",
    )
    .bind(operation.get())
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    Ok(Some(invoice_file(&row)?))
}

async fn named_bytes(connection: &mut PgConnection, head_office: CompanyId) -> Result<u64, Fault> {
    let bytes: i64 = sqlx::query_scalar(
        "SELECT coalesce(sum(bytes), 0)::BIGINT FROM invoice_file_bytes WHERE head_office_id = $1",
    )
    .bind(head_office.as_uuid())
    .fetch_one(connection)
    .await?;
    Ok(count(bytes))
}

async fn announce(
    connection: &mut PgConnection,
    (file, now): &(ContentHash, Timestamp),
) -> Result<bool, WriteError> {
    let done = sqlx::query(
        "INSERT INTO announced_files (sha256, announced_at) VALUES ($1, $2)
         ON CONFLICT (sha256) DO UPDATE
         SET announced_at = greatest(announced_files.announced_at, excluded.announced_at)
         WHERE announced_files.removal_began_at IS NULL",
    )
    .bind(file.as_bytes().as_slice())
    .bind(now.unix_millis())
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

async fn settle(
    connection: &mut PgConnection,
    (announced_before, limit): &(Timestamp, u32),
) -> Result<Vec<ContentHash>, WriteError> {
    let rows = sqlx::query(
        "DELETE FROM announced_files WHERE sha256 = ANY (ARRAY(
             SELECT sha256 FROM announced_files a
             WHERE announced_at < $1 AND removal_began_at IS NULL
               AND (SELECT 1 FROM invoice_files f WHERE f.sha256 = a.sha256 LIMIT 1) IS NOT NULL
             ORDER BY announced_at LIMIT $2 FOR UPDATE SKIP LOCKED))
         RETURNING sha256",
    )
    .bind(announced_before.unix_millis())
    .bind(i64::from(*limit))
    .fetch_all(connection)
    .await?;
    Ok(rows.iter().map(content_hash).collect::<Result<_, _>>()?)
}

async fn claim(
    connection: &mut PgConnection,
    (announced_before, stale_before, now, limit): &(Timestamp, Timestamp, Timestamp, u32),
) -> Result<Vec<ContentHash>, WriteError> {
    let rows = sqlx::query(
        "UPDATE announced_files SET removal_began_at = $3
         WHERE sha256 = ANY (ARRAY(
             SELECT sha256 FROM announced_files a
             WHERE announced_at < $1 AND (removal_began_at IS NULL OR removal_began_at < $2)
               AND (SELECT 1 FROM invoice_files f WHERE f.sha256 = a.sha256 LIMIT 1) IS NULL
             ORDER BY announced_at LIMIT $4 FOR UPDATE SKIP LOCKED))
         RETURNING sha256",
    )
    .bind(announced_before.unix_millis())
    .bind(stale_before.unix_millis())
    .bind(now.unix_millis())
    .bind(i64::from(*limit))
    .fetch_all(connection)
    .await?;
    Ok(rows.iter().map(content_hash).collect::<Result<_, _>>()?)
}

async fn forget(connection: &mut PgConnection, file: ContentHash) -> Result<(), WriteError> {
    sqlx::query("DELETE FROM announced_files WHERE sha256 = $1 AND removal_began_at IS NOT NULL")
        .bind(file.as_bytes().as_slice())
        .execute(connection)
        .await?;
    Ok(())
}
