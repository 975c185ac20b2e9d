//! The read side.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::{
    Filter, HistoryEntry, OperationPage, PageRequest, Queries, Unavailable, Viewer,
};
use preauth_core::value::{EnumSet, ExternalReference, OperationId, Status};

use crate::store::error::Fault;
use crate::store::page_window::Window;
use crate::store::rows::{clamped, history_entry, operation, select_operations};

use super::{Builder, Database, Dialect, Listed, Row, Session, query};

/// The read side of a database.
pub(in crate::store) struct Reads<D>(pub(in crate::store) Arc<D>);

/// As many ids are sorted in less time than a walk through those of all others takes.
const RARE: u64 = 100_000;

#[async_trait]
impl<D: Database> Queries for Reads<D> {
    async fn find(
        &self,
        viewer: Viewer,
        id: OperationId,
    ) -> Result<Option<Operation>, Unavailable> {
        let found = self.0.operation(id).await?;
        Ok(found.filter(|operation| viewer.sees(operation)))
    }

    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable> {
        let input = (viewer, filter.clone(), page);
        let listed = self
            .0
            .read_snapshot(&input, |session, (viewer, filter, page)| {
                Box::pin(list(session, *viewer, filter, *page))
            });
        let listed = listed.await?;
        Ok(OperationPage {
            operations: self.0.set_aside().readable(&listed.rows, operation),
            total: listed.total(),
        })
    }

    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable> {
        let rows = self
            .0
            .read(&id, |session, id| Box::pin(history(session, *id)));
        Ok(self.0.set_aside().readable(&rows.await?, history_entry))
    }
}

async fn history(session: &mut dyn Session, id: OperationId) -> Result<Vec<Row>, Fault> {
    let rows = query(
        "SELECT e.id, e.version, e.type, e.at, e.actor, e.actor_api_key_id, e.actor_user_id, e.body,
                p.operator_id, p.name AS operator_name, p.request_id, p.address
         FROM operations o
         JOIN events e ON e.head_office_id = o.head_office_id AND e.operation_id = o.id
         LEFT JOIN event_operators p ON p.event_id = e.id
         WHERE o.id = $1 ORDER BY e.version",
    )
    .bind(id.get())
    .fetch_all(session)
    .await?;
    Ok(rows)
}

async fn list(
    session: &mut dyn Session,
    viewer: Viewer,
    filter: &Filter,
    page: PageRequest,
) -> Result<Listed, Fault> {
    let total = total(session, viewer, filter).await?;
    // A status of few operations among a million is found by the head offices that have any.
    let is_rare = matches!(viewer, Viewer::Platform)
        && filter.external_reference.is_none()
        && !filter.statuses.is_empty()
        && total <= RARE;
    let window = Window::of(page, total);
    let rows = rows(session, viewer, filter, window, is_rare).await?;
    Ok(Listed::whole(rows, total))
}

/// The database keeps counts by company and status. A reference has only a few operations.
async fn total(session: &mut dyn Session, viewer: Viewer, filter: &Filter) -> Result<u64, Fault> {
    let mut query = Builder::new(if filter.external_reference.is_none() {
        "SELECT CAST(coalesce(sum(count), 0) AS BIGINT) AS total FROM operation_counts WHERE "
    } else {
        "SELECT count(*) AS total FROM operations WHERE "
    });
    restrict(&mut query, session.dialect(), viewer, filter, false);
    Ok(query.build().total(session).await?)
}

/// The ids come from an index alone; only the rows of the page itself are read.
async fn rows(
    session: &mut dyn Session,
    viewer: Viewer,
    filter: &Filter,
    window: Window,
    is_rare: bool,
) -> Result<Vec<Row>, Fault> {
    let (order, skip, take) = match window {
        Window::Empty => return Ok(Vec::new()),
        Window::FromNewest { skip, take } => ("DESC", skip, take),
        Window::FromOldest { skip, take } => ("ASC", skip, take),
    };
    let mut query = Builder::new(select_operations!(
        "WHERE o.id IN (SELECT id FROM operations WHERE "
    ));
    restrict(&mut query, session.dialect(), viewer, filter, is_rare);
    // The sign keeps the databases from walking through all ids.
    query.push(if is_rare {
        " ORDER BY +id "
    } else {
        " ORDER BY id "
    });
    query.push(order).push(" LIMIT ");
    query.bind(clamped(take)).push(" OFFSET ");
    query.bind(clamped(skip)).push(") ORDER BY o.id DESC");
    Ok(query.build().fetch_all(session).await?)
}

/// Those of the head offices that have any in these statuses: the index begins with the head office.
pub(super) fn having_any(query: &mut Builder<'_>, statuses: EnumSet<Status>) {
    query.push("head_office_id IN (SELECT head_office_id FROM operation_counts WHERE status IN ");
    query.bind_list(statuses.iter().map(Status::as_str));
    query.push(" GROUP BY head_office_id HAVING sum(count) > 0)");
}

/// Repeated statuses would only add statements.
fn set(statuses: &[Status]) -> EnumSet<Status> {
    statuses.iter().copied().collect()
}

/// The viewer's permission and the filter, in a form for which both databases use an index.
fn restrict<'q>(
    query: &mut Builder<'q>,
    dialect: Dialect,
    viewer: Viewer,
    filter: &'q Filter,
    is_rare: bool,
) {
    let Filter {
        external_reference,
        statuses,
    } = filter;
    match viewer {
        Viewer::HeadOffice(company) => {
            query.push("head_office_id = ");
            query.bind(*company.as_uuid());
        }
        Viewer::Branch(company) => {
            let id = *company.as_uuid();
            query.push("head_office_id = (SELECT head_office_id FROM companies WHERE id = ");
            query.bind(id).push(") AND payer_id = ").bind(id);
        }
        Viewer::Platform if is_rare => {
            having_any(query, set(statuses));
        }
        Viewer::Platform => {
            query.push("TRUE");
        }
    }
    if let Some(reference) = external_reference {
        query.push(" AND external_reference = ");
        query.bind(ExternalReference::as_str(reference));
    }
    let statuses = set(statuses);
    if !statuses.is_empty() {
        // For one status only, the index on the status has the order of the list; the sign keeps
        // SQLite from sorting a million rows of two.
        let is_sorted = statuses.len() == 1 || dialect != Dialect::Sqlite || is_rare;
        query.push(if is_sorted {
            " AND status IN "
        } else {
            " AND +status IN "
        });
        query.bind_list(statuses.iter().map(Status::as_str));
    }
}
