//! The read side, as core asks for it.

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::{
    Filter, HistoryEntry, OperationPage, PageRequest, Queries, Unavailable, Viewer,
};
use preauth_core::value::OperationId;

use super::Ledger;

#[async_trait]
impl Queries for Ledger {
    async fn find(
        &self,
        viewer: Viewer,
        id: OperationId,
    ) -> Result<Option<Operation>, Unavailable> {
        let found = self.books().operations.get(&id).cloned();
        Ok(found.filter(|it| viewer.sees(it)))
    }

    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable> {
        let books = self.books();
        let shown = books.operations.values().rev().filter(|it| {
            let Filter {
                external_reference,
                statuses,
            } = filter;
            viewer.sees(it)
                && (external_reference.is_none() || *external_reference == it.external_reference)
                && (statuses.is_empty() || statuses.contains(&it.status()))
        });
        let shown: Vec<_> = shown.cloned().collect();
        let total = u64::try_from(shown.len()).unwrap_or(u64::MAX);
        let above = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let operations = shown.into_iter().skip(above).take(limit).collect();
        Ok(OperationPage { operations, total })
    }

    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable> {
        let books = self.books();
        let of_it = books
            .events
            .iter()
            .filter(|(operation, _)| *operation == id);
        Ok(of_it.map(|(_, entry)| entry.clone()).collect())
    }
}
