//! The read side.

use async_trait::async_trait;

use crate::operation::Operation;
use crate::port::{Filter, HistoryEntry, OperationPage, PageRequest, Queries, Unavailable, Viewer};
use crate::value::OperationId;

use super::MemoryStore;

#[async_trait]
impl Queries for MemoryStore {
    async fn find(
        &self,
        viewer: Viewer,
        id: OperationId,
    ) -> Result<Option<Operation>, Unavailable> {
        let tables = self.lock();
        let found = tables.operations.get(&id);
        Ok(found
            .filter(|found| viewer.sees(found))
            .map(|found| tables.present(found)))
    }

    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable> {
        let tables = self.lock();
        let shown = || {
            let newest_first = tables.operations.values().rev();
            newest_first.filter(|it| viewer.sees(it) && passes(filter, it))
        };
        let offset = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        Ok(OperationPage {
            operations: shown()
                .skip(offset)
                .take(limit)
                .map(|operation| tables.present(operation))
                .collect(),
            total: u64::try_from(shown().count()).unwrap_or(u64::MAX),
        })
    }

    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable> {
        Ok(self.lock().histories.get(&id).cloned().unwrap_or_default())
    }
}

fn passes(filter: &Filter, operation: &Operation) -> bool {
    let Filter {
        external_reference,
        statuses,
    } = filter;
    (external_reference.is_none() || *external_reference == operation.external_reference)
        && (statuses.is_empty() || statuses.contains(&operation.status()))
}
