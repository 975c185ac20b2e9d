//! Extensions as rows, for the platform's staff.

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{ExtensionId, OperationId};
use sqlx::SqliteConnection;

use crate::directory::{Extensions, OperationExtension, Page};
use crate::store::rows::extension;

use super::SqliteStore;
use super::rows::{clamped, count};
use crate::store::error::Fault;

#[async_trait]
impl Extensions for SqliteStore {
    async fn reserve_extension(&self) -> Result<ExtensionId, Unavailable> {
        Ok(self.counters.next_extension()?)
    }

    async fn extension(&self, id: ExtensionId) -> Result<Option<OperationExtension>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(by_id(&mut reader, id).await?)
    }

    async fn extensions(
        &self,
        operation: OperationId,
        page: PageRequest,
    ) -> Result<Page<OperationExtension>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        Ok(list(&mut snapshot, operation, page).await?)
    }
}

async fn by_id(
    connection: &mut SqliteConnection,
    id: ExtensionId,
) -> Result<Option<OperationExtension>, Fault> {
    let row = sqlx::query(
        "SELECT id, operation_id, new_due_date, total_amount_cents, status
         FROM extensions WHERE id = ?1",
    )
    .bind(id.get())
    .fetch_optional(connection)
    .await?;
    Ok(row.as_ref().map(extension).transpose()?)
}

async fn list(
    connection: &mut SqliteConnection,
    operation: OperationId,
    page: PageRequest,
) -> Result<Page<OperationExtension>, Fault> {
    let total = sqlx::query_scalar("SELECT count(*) FROM extensions WHERE operation_id = ?1")
        .bind(operation.get())
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query(
        "SELECT id, operation_id, new_due_date, total_amount_cents, status
         FROM extensions WHERE operation_id = ?1 ORDER BY id DESC LIMIT ?2 OFFSET ?3",
    )
    .bind(operation.get())
    .bind(i64::from(page.limit))
    .bind(clamped(page.offset()))
    .fetch_all(connection)
    .await?;
    let items: Result<_, _> = rows.iter().map(extension).collect();
    Ok(Page {
        items: items?,
        total: count(total),
    })
}
