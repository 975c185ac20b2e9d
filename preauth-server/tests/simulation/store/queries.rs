//! The read side.

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::{
    Filter, HistoryEntry, OperationPage, PageRequest, Queries, Unavailable, Viewer,
};
use preauth_core::value::OperationId;

use crate::faults::Call;

use super::SimStore;
use super::defective::undisguised;

#[async_trait]
impl Queries for SimStore {
    async fn find(
        &self,
        viewer: Viewer,
        id: OperationId,
    ) -> Result<Option<Operation>, Unavailable> {
        let ground = self.ground();
        let found = self.call(Call::Find, ground.queries.find(viewer, id));
        Ok(found.await?.map(undisguised))
    }

    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable> {
        let ground = self.ground();
        let listed = ground.queries.list(viewer, filter, page);
        let mut page = self.call(Call::List, listed).await?;
        page.operations = page.operations.into_iter().map(undisguised).collect();
        Ok(page)
    }

    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable> {
        let ground = self.ground();
        self.call(Call::History, ground.queries.history(id)).await
    }
}
