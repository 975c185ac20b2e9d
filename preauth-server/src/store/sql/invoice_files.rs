//! Invoice files in the database: those of operations, and recently stored ones.

use async_trait::async_trait;
use preauth_core::operation::InvoiceFile;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, OperationId, Timestamp};

use crate::directory::FileDescriptions;
use crate::invoice_files::{ContentHash, FileLedger};
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::rows::{content_hash, invoice_file};

use super::{Database, Session, query, sql};

#[async_trait]
impl<D: Database> FileDescriptions for D {
    async fn invoice_file(
        &self,
        operation: OperationId,
    ) -> Result<Option<InvoiceFile>, Unavailable> {
        let found = self.read(&operation, |session, operation| {
            Box::pin(description(session, *operation))
        });
        Ok(found.await?)
    }
}

#[async_trait]
impl<D: Database> FileLedger for D {
    async fn announce_file(
        &self,
        file: ContentHash,
        stale_before: Timestamp,
        now: Timestamp,
    ) -> Result<bool, Unavailable> {
        let announced = self.write((file, stale_before, now), |session, input| {
            Box::pin(announce(session, input))
        });
        announced.await.map_err(unavailable)
    }

    async fn settle_files(
        &self,
        announced_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<ContentHash>, Unavailable> {
        let settled = self.write_relaxed((announced_before, limit), |session, input| {
            Box::pin(settle(session, input))
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
        let claimed = self.write(input, |session, input| Box::pin(claim(session, input)));
        claimed.await.map_err(unavailable)
    }

    async fn named_bytes(&self, head_office: CompanyId) -> Result<u64, Unavailable> {
        let named = self.read(&head_office, |session, head_office| {
            Box::pin(named_bytes(session, *head_office))
        });
        Ok(named.await?)
    }

    async fn release_files(
        &self,
        files: Vec<ContentHash>,
        claimed_at: Timestamp,
        announced_at: Option<Timestamp>,
    ) -> Result<(), Unavailable> {
        let input = (files, claimed_at, announced_at);
        let released =
            self.write_relaxed(input, |session, input| Box::pin(release(session, input)));
        released.await
    }

    async fn forget_file(&self, file: ContentHash) -> Result<(), Unavailable> {
        let forgotten = self.write_relaxed(file, |session, file| Box::pin(forget(session, *file)));
        forgotten.await
    }
}

async fn description(
    session: &mut dyn Session,
    operation: OperationId,
) -> Result<Option<InvoiceFile>, Fault> {
    let row = query(
        "SELECT name, media_type, size_bytes, sha256 FROM invoice_files WHERE operation_id = $1",
    )
    .bind(operation.get())
    .fetch_optional(session)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    Ok(Some(invoice_file(&row)?))
}

async fn named_bytes(session: &mut dyn Session, head_office: CompanyId) -> Result<u64, Fault> {
    let bytes = query(
        "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) AS total FROM invoice_file_bytes
         WHERE head_office_id = $1",
    )
    .bind(head_office.as_uuid())
    .total(session)
    .await?;
    Ok(bytes)
}

async fn announce(
    session: &mut dyn Session,
    (file, stale_before, now): &(ContentHash, Timestamp, Timestamp),
) -> Result<bool, WriteError> {
    let done = query(
        "INSERT INTO announced_files (sha256, announced_at) VALUES ($1, $2)
         ON CONFLICT (sha256) DO UPDATE
         SET announced_at = CASE WHEN announced_files.announced_at > excluded.announced_at
                                 THEN announced_files.announced_at ELSE excluded.announced_at END,
             removal_began_at = NULL
         WHERE announced_files.removal_began_at IS NULL OR announced_files.removal_began_at < $3",
    )
    .bind(file.as_bytes().as_slice())
    .bind(now.unix_millis())
    .bind(stale_before.unix_millis())
    .execute(session)
    .await?;
    Ok(done == 1)
}

async fn settle(
    session: &mut dyn Session,
    (announced_before, limit): &(Timestamp, u32),
) -> Result<Vec<ContentHash>, WriteError> {
    let rows = query(sql!(
        "DELETE FROM announced_files WHERE sha256" AMONG "
             SELECT sha256 FROM announced_files a
             WHERE announced_at < $1 AND removal_began_at IS NULL
               AND (SELECT 1 FROM invoice_files f WHERE f.sha256 = a.sha256 LIMIT 1) IS NOT NULL
             ORDER BY announced_at LIMIT $2" SKIP_LOCKED "
         RETURNING sha256"
    ))
    .bind(announced_before.unix_millis())
    .bind(*limit)
    .fetch_all(session)
    .await?;
    Ok(rows.iter().map(content_hash).collect::<Result<_, _>>()?)
}

async fn claim(
    session: &mut dyn Session,
    (announced_before, stale_before, now, limit): &(Timestamp, Timestamp, Timestamp, u32),
) -> Result<Vec<ContentHash>, WriteError> {
    let rows = query(sql!(
        "UPDATE announced_files SET removal_began_at = $3
         WHERE sha256" AMONG "
             SELECT sha256 FROM announced_files a
             WHERE announced_at < $1
               AND (removal_began_at IS NULL OR removal_began_at < $2 OR removal_began_at > $5)
               AND (SELECT 1 FROM invoice_files f WHERE f.sha256 = a.sha256 LIMIT 1) IS NULL
             ORDER BY announced_at LIMIT $4" SKIP_LOCKED "
         RETURNING sha256"
    ))
    .bind(announced_before.unix_millis())
    .bind(stale_before.unix_millis())
    .bind(now.unix_millis())
    .bind(*limit)
    // As far ahead as `stale_before` is behind.
    .bind(now.saturating_add(now.since(*stale_before)).unix_millis())
    .fetch_all(session)
    .await?;
    Ok(rows.iter().map(content_hash).collect::<Result<_, _>>()?)
}

async fn release(
    session: &mut dyn Session,
    (files, claimed_at, announced_at): &(Vec<ContentHash>, Timestamp, Option<Timestamp>),
) -> Result<(), WriteError> {
    for file in files {
        query(
            "UPDATE announced_files
             SET removal_began_at = NULL, announced_at = coalesce($3, announced_at)
             WHERE sha256 = $1 AND removal_began_at = $2",
        )
        .bind(file.as_bytes().as_slice())
        .bind(claimed_at.unix_millis())
        .bind(announced_at.map(Timestamp::unix_millis))
        .execute(session)
        .await?;
    }
    Ok(())
}

async fn forget(session: &mut dyn Session, file: ContentHash) -> Result<(), WriteError> {
    query("DELETE FROM announced_files WHERE sha256 = $1 AND removal_began_at IS NOT NULL")
        .bind(file.as_bytes().as_slice())
        .execute(session)
        .await?;
    Ok(())
}
