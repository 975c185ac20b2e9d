//! The read side.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::{
    Filter, HistoryEntry, OperationPage, PageRequest, Queries, Unavailable, Viewer,
};
use preauth_core::value::{EnumSet, ExternalReference, OperationId, Status};
use sqlx::postgres::{PgRow, Postgres};
use sqlx::{PgConnection, QueryBuilder, Row};

use crate::store::page_window::Window;
use crate::store::rows::{history_entry, operation, select_operations};
use crate::store::set_aside::SetAside;

use super::PostgresStore;
use super::operations;
use super::rows::{clamped, count};
use crate::store::error::Fault;

#[async_trait]
impl Queries for PostgresStore {
    async fn find(
        &self,
        viewer: Viewer,
        id: OperationId,
    ) -> Result<Option<Operation>, Unavailable> {
        let found = self.read(&id, |connection, id| {
            Box::pin(operations::by_id(connection, *id))
        });
        Ok(found.await?.filter(|operation| viewer.sees(operation)))
    }

    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable> {
        let input = (viewer, filter.clone(), page, Arc::clone(&self.set_aside));
        let listed = self.read_snapshot(&input, |connection, (viewer, filter, page, set_aside)| {
            Box::pin(list(connection, *viewer, filter, *page, set_aside))
        });
        Ok(listed.await?)
    }

    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable> {
        let entries = self.read(&id, |connection, id| Box::pin(history(connection, *id)));
        Ok(entries.await?)
    }
}

async fn history(
    connection: &mut PgConnection,
    id: OperationId,
) -> Result<Vec<HistoryEntry>, Fault> {
    let rows = sqlx::query(
        "SELECT e.id, e.version, e.type, e.at, e.actor, e.actor_api_key_id, e.actor_user_id, e.body
         FROM operations o
         JOIN events e ON e.head_office_id = o.head_office_id AND e.operation_id = o.id
         WHERE o.id = $1 ORDER BY e.version",
    )
    .bind(id.get())
    .fetch_all(connection)
    .await?;
    Ok(rows.iter().map(history_entry).collect::<Result<_, _>>()?)
}

async fn list(
    connection: &mut PgConnection,
    viewer: Viewer,
    filter: &Filter,
    page: PageRequest,
    set_aside: &SetAside,
) -> Result<OperationPage, Fault> {
    let total = total(connection, viewer, filter).await?;
    let rows = rows(connection, viewer, filter, Window::of(page, total)).await?;
    let operations = set_aside.readable(&rows, operation);
    Ok(OperationPage { operations, total })
}

/// The database keeps counts by company and status. A reference has only a few operations.
async fn total(
    connection: &mut PgConnection,
    viewer: Viewer,
    filter: &Filter,
) -> Result<u64, Fault> {
    let mut query = QueryBuilder::new(if filter.external_reference.is_none() {
        "SELECT coalesce(sum(count), 0)::BIGINT FROM operation_counts WHERE "
    } else {
        "SELECT count(*) FROM operations WHERE "
    });
    restrict(&mut query, viewer, filter);
    let row = query.build().fetch_one(connection).await?;
    Ok(count(row.try_get(0)?))
}

/// The ids come from an index alone; only the rows of the page itself are read.
async fn rows(
    connection: &mut PgConnection,
    viewer: Viewer,
    filter: &Filter,
    window: Window,
) -> Result<Vec<PgRow>, Fault> {
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

/// The viewer's permission and the filter, in a form for which PostgreSQL uses an index.
fn restrict(query: &mut QueryBuilder<Postgres>, viewer: Viewer, filter: &Filter) {
    let Filter {
        external_reference,
        statuses,
    } = filter;
    match viewer {
        Viewer::HeadOffice(company) => {
            query.push("head_office_id = ");
            query.push_bind(company.as_uuid());
        }
        Viewer::Branch(company) => {
            let id = company.as_uuid();
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
    if !statuses.is_empty() {
        query.push(" AND status IN (");
        let mut list = query.separated(", ");
        // A set, because repeated statuses would only add statements.
        for status in statuses.iter().copied().collect::<EnumSet<Status>>().iter() {
            list.push_bind(status.as_str());
        }
        query.push(")");
    }
}
