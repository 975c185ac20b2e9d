//! Extensions as rows, for the platform's staff.

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{ExtensionId, OperationId};

use crate::directory::{Extensions, OperationExtension, Page};
use crate::store::error::Fault;
use crate::store::rows::{clamped, extension};

use super::{Database, Listed, Session, query};

#[async_trait]
impl<D: Database> Extensions for D {
    async fn reserve_extension(&self) -> Result<ExtensionId, Unavailable> {
        Ok(self.next_extension().await?)
    }

    async fn extension(&self, id: ExtensionId) -> Result<Option<OperationExtension>, Unavailable> {
        let found = self.read(&id, |session, id| Box::pin(by_id(session, *id)));
        Ok(found.await?)
    }

    async fn extensions(
        &self,
        operation: OperationId,
        page: PageRequest,
    ) -> Result<Page<OperationExtension>, Unavailable> {
        let input = (operation, page);
        let found = self.read_snapshot(&input, |session, (operation, page)| {
            Box::pin(list(session, *operation, *page))
        });
        Ok(found.await?.page(self.set_aside(), extension))
    }
}

async fn by_id(
    session: &mut dyn Session,
    id: ExtensionId,
) -> Result<Option<OperationExtension>, Fault> {
    let row = query(
        "SELECT id, operation_id, new_due_date, total_amount_cents, status
         FROM extensions WHERE id = $1",
    )
    .bind(id.get())
    .fetch_optional(session)
    .await?;
    Ok(row.as_ref().map(extension).transpose()?)
}

async fn list(
    session: &mut dyn Session,
    operation: OperationId,
    page: PageRequest,
) -> Result<Listed, Fault> {
    let total = query("SELECT count(*) AS total FROM extensions WHERE operation_id = $1")
        .bind(operation.get())
        .total(session)
        .await?;
    let rows = query(
        "SELECT id, operation_id, new_due_date, total_amount_cents, status
         FROM extensions WHERE operation_id = $1 ORDER BY +id DESC LIMIT $2 OFFSET $3",
    )
    .bind(operation.get())
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(session)
    .await?;
    Ok(Listed::whole(rows, total))
}
