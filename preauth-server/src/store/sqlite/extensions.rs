//! Extensions as rows, as the platform's people look at them.

use async_trait::async_trait;
use preauth_core::operation::{Extension, ExtensionStatus};
use preauth_core::port::{ExtensionRecord, PageRequest, Unavailable};
use preauth_core::value::{ExtensionId, OperationId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::directory::{Extensions, OperationExtension, Page};

use super::SqliteStore;
use super::error::Fault;
use super::rows::{Columns, clamped, count};

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
    row.as_ref().map(extension).transpose()
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
    let items: Result<_, Fault> = rows.iter().map(extension).collect();
    Ok(Page {
        items: items?,
        total: count(total),
    })
}

/// Reads a row of the table back.
pub(super) fn extension(row: &SqliteRow) -> Result<OperationExtension, Fault> {
    let columns = Columns::of("extensions", row);
    let extension = Extension {
        id: columns.number("id", ExtensionId::new)?,
        new_due_date: columns.parsed("new_due_date")?,
        total_amount: columns.money("total_amount_cents")?,
    };
    let status = ExtensionStatus::parse(columns.raw("status")?);
    let status = status.ok_or_else(|| columns.corrupt("status"))?;
    Ok(OperationExtension {
        operation: columns.number("operation_id", OperationId::new)?,
        record: ExtensionRecord { extension, status },
    })
}
