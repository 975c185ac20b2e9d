//! Extensions as rows, for the platform's staff.

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{ExtensionId, OperationId};
use sqlx::PgConnection;

use crate::directory::{Extensions, OperationExtension, Page};
use crate::store::rows::extension;

use super::rows::{clamped, count};
use super::{PostgresStore, sequences};
use crate::store::error::Fault;

#[async_trait]
impl Extensions for PostgresStore {
    async fn reserve_extension(&self) -> Result<ExtensionId, Unavailable> {
        let reserved = self.read(&(), |connection, ()| {
            Box::pin(sequences::next_extension(connection))
        });
        Ok(reserved.await?)
    }

    async fn extension(&self, id: ExtensionId) -> Result<Option<OperationExtension>, Unavailable> {
        let found = self.read(&id, |connection, id| Box::pin(by_id(connection, *id)));
        Ok(found.await?)
    }

    async fn extensions(
        &self,
        operation: OperationId,
        page: PageRequest,
    ) -> Result<Page<OperationExtension>, Unavailable> {
        let input = (operation, page);
        let found = self.read_snapshot(&input, |connection, (operation, page)| {
            Box::pin(list(connection, *operation, *page))
        });
        Ok(found.await?)
    }
}

async fn by_id(
    connection: &mut PgConnection,
    id: ExtensionId,
) -> Result<Option<OperationExtension>, Fault> {
    let row = sqlx::query(
        "SELECT id, operation_id, new_due_date, total_amount_cents, status
         FROM extensions WHERE id = $1",
    )
    .bind(id.get())
    .fetch_optional(connection)
    .await?;
    Ok(row.as_ref().map(extension).transpose()?)
}

async fn list(
    connection: &mut PgConnection,
    operation: OperationId,
    page: PageRequest,
) -> Result<Page<OperationExtension>, Fault> {
    let total = sqlx::query_scalar("SELECT count(*) FROM extensions WHERE operation_id = $1")
        .bind(operation.get())
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query(
        "SELECT id, operation_id, new_due_date, total_amount_cents, status
         FROM extensions WHERE operation_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3",
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
