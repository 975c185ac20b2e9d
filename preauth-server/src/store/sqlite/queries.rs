//! The read side.

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::{
    Filter, HistoryEntry, OperationPage, PageRequest, Queries, Unavailable, Viewer,
};
use preauth_core::value::{EnumSet, ExternalReference, OperationId, Status};
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{QueryBuilder, Row, SqliteConnection};

use crate::store::page_window::Window;
use crate::store::rows::{history_entry, operation, select_operations};

use super::SqliteStore;
use super::operations;
use super::rows::{clamped, count};
use crate::store::error::Fault;

#[async_trait]
impl Queries for SqliteStore {
    async fn find(
        &self,
        viewer: Viewer,
        id: OperationId,
    ) -> Result<Option<Operation>, Unavailable> {
        let mut reader = self.reader().await?;
        let found = operations::by_id(&mut reader, id).await?;
        Ok(found.filter(|operation| viewer.sees(operation)))
    }

    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        let total = total(&mut snapshot, viewer, filter).await?;
        let rows = rows(&mut snapshot, viewer, filter, Window::of(page, total)).await?;
        let operations = self.set_aside.readable(&rows, operation);
        Ok(OperationPage { operations, total })
    }

    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query(
            "SELECT e.id, e.version, e.type, e.at, e.actor, e.actor_api_key_id, e.actor_user_id,
                    e.body
             FROM operations o
             JOIN events e ON e.head_office_id = o.head_office_id AND e.operation_id = o.id
             WHERE o.id = ?1 ORDER BY e.version",
        )
        .bind(id.get())
        .fetch_all(&mut *reader)
        .await
        .map_err(Fault::from)?;
        let entries: Result<_, _> = rows.iter().map(history_entry).collect();
        Ok(entries?)
    }
}

/// The database keeps counts by company and status. A reference has only a few operations.
async fn total(
    connection: &mut SqliteConnection,
    viewer: Viewer,
    filter: &Filter,
) -> Result<u64, Fault> {
    let mut query = QueryBuilder::new(if filter.external_reference.is_none() {
        "SELECT coalesce(sum(count), 0) FROM operation_counts WHERE "
    } else {
        "SELECT count(*) FROM operations WHERE "
    });
    restrict(&mut query, viewer, filter);
    let row = query.build().fetch_one(connection).await?;
    Ok(count(row.try_get(0)?))
}

/// The ids come from an index alone; only the rows of the page itself are read.
async fn rows(
    connection: &mut SqliteConnection,
    viewer: Viewer,
    filter: &Filter,
    window: Window,
) -> Result<Vec<SqliteRow>, Fault> {
    let (order, skip, take) = match window {
        Window::Empty => return Ok(Vec::new()),
        Window::FromNewest { skip, take } => ("DESC", skip, take),
        Window::FromOldest { skip, take } => ("ASC", skip, take),
    };
    let mut query = QueryBuilder::new(select_operations!(
        "WHERE o.id IN (SELECT id FROM operations WHERE "
    ));
    restrict(&mut query, viewer, filter);
    query.push(format_args!(" ORDER BY id {order} LIMIT "));
    query.push_bind(clamped(take)).push(" OFFSET ");
    query.push_bind(clamped(skip)).push(") ORDER BY o.id DESC");
    Ok(query.build().fetch_all(connection).await?)
}

/// The viewer's permission and the filter, in a form for which SQLite uses an index.
fn restrict(query: &mut QueryBuilder<Sqlite>, viewer: Viewer, filter: &Filter) {
    let Filter {
        external_reference,
        statuses,
    } = filter;
    match viewer {
        Viewer::HeadOffice(company) => {
            query.push("head_office_id = ");
            query.push_bind(company.as_uuid().as_bytes().as_slice());
        }
        Viewer::Branch(company) => {
            let id = company.as_uuid().as_bytes().as_slice();
            query.push("head_office_id = (SELECT head_office_id FROM companies WHERE id = ");
            query.push_bind(id).push(") AND payer_id = ").push_bind(id);
        }
        Viewer::Platform => {
            query.push("TRUE");
        }
    }
    if let Some(reference) = external_reference {
        query.push(" AND external_reference = ");
        query.push_bind(ExternalReference::as_str(reference));
    }
    // A set, because repeated statuses would only add statements.
    let statuses: EnumSet<Status> = statuses.iter().copied().collect();
    if !statuses.is_empty() {
        // For one status only, the index on the status has the order of the list; the sign keeps
        // SQLite from sorting a million rows of two.
        let sign = if statuses.len() == 1 { "" } else { "+" };
        query.push(format_args!(" AND {sign}status IN ("));
        let mut list = query.separated(", ");
        for status in statuses.iter() {
            list.push_bind(status.as_str());
        }
        query.push(")");
    }
}
