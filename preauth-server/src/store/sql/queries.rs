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

use super::newest;
use super::planner::{plan_by_values, read_in_index_order};
use super::value::Value;
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
    let index = Index::of(session.dialect(), viewer, filter);
    if index.is_none() {
        plan_by_values(session).await?;
    }
    let total = total(session, viewer, filter).await?;
    // A status of few operations among a million is found by the head offices that have any.
    let is_rare = matches!(viewer, Viewer::Platform)
        && filter.external_reference.is_none()
        && !filter.statuses.is_empty()
        && total <= RARE;
    let window = Window::of(page, total);
    let rows = rows(session, viewer, filter, (window, index), is_rare).await?;
    Ok(Listed::whole(rows, total))
}

/// The database keeps counts by company and status. A reference has only a few operations.
async fn total(session: &mut dyn Session, viewer: Viewer, filter: &Filter) -> Result<u64, Fault> {
    let mut query = Builder::new(if filter.external_reference.is_none() {
        "SELECT CAST(coalesce(sum(count), 0) AS BIGINT) AS total FROM operation_counts WHERE "
    } else {
        "SELECT count(*) AS total FROM operations WHERE "
    });
    restrict(&mut query, session.dialect(), viewer, filter, false, None);
    Ok(query.build().total(session).await?)
}

/// The ids come from an index alone; only the rows of the page itself are read.
async fn rows(
    session: &mut dyn Session,
    viewer: Viewer,
    filter: &Filter,
    (window, index): (Window, Option<Index>),
    is_rare: bool,
) -> Result<Vec<Row>, Fault> {
    let (order, skip, take) = match window {
        Window::Empty => return Ok(Vec::new()),
        Window::FromNewest { skip, take } => ("DESC", skip, take),
        Window::FromOldest { skip, take } => ("ASC", skip, take),
    };
    let dialect = session.dialect();
    let is_by_counts = is_rare && dialect == Dialect::Postgres;
    if index.is_some() || is_by_counts {
        read_in_index_order(session).await?;
    }
    let mut query = Builder::new("");
    let operations = (select_operations!("WHERE o.id"), "o");
    newest::among(&mut query, dialect, operations, |ids| {
        if is_by_counts {
            by_counts(ids, set(&filter.statuses));
        } else {
            ids.push("SELECT id FROM operations WHERE ");
            restrict(ids, dialect, viewer, filter, is_rare, index);
        }
        ids.push(" ORDER BY ");
        if let Some(index) = index {
            ids.push(index.column()).push(" ").push(order).push(", ");
        }
        // The sign keeps the databases from walking through all ids.
        ids.push(if is_rare { "+id " } else { "id " });
        ids.push(order).push(" LIMIT ");
        ids.bind(clamped(take)).push(" OFFSET ");
        ids.bind(clamped(skip));
    });
    query.push(" ORDER BY o.id DESC");
    Ok(query.build().fetch_all(session).await?)
}

/// The index that has a company's list in its order. The ids of all companies are in this order, too: by statistics of few
/// rows, and by those of a company that has most of the rows, PostgreSQL would go over them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    HeadOffice,
    Status,
    Payer,
}

impl Index {
    /// A reference and several statuses have no such index.
    fn of(dialect: Dialect, viewer: Viewer, filter: &Filter) -> Option<Self> {
        if dialect == Dialect::Sqlite || filter.external_reference.is_some() {
            return None;
        }
        match (viewer, set(&filter.statuses).len()) {
            (Viewer::HeadOffice(_), 0) => Some(Self::HeadOffice),
            (Viewer::HeadOffice(_), 1) => Some(Self::Status),
            (Viewer::Branch(_), 0) => Some(Self::Payer),
            _ => None,
        }
    }

    /// The column before the id that the order must have for no other index to serve it. PostgreSQL leaves a column of equal
    /// values out of an order, so its condition is a range.
    const fn column(self) -> &'static str {
        match self {
            Self::HeadOffice => "head_office_id",
            Self::Status => "status",
            Self::Payer => "payer_id",
        }
    }
}

/// Those of the head offices that have any in these statuses: the index begins with the head office.
pub(super) fn having_any(query: &mut Builder<'_>, statuses: EnumSet<Status>) {
    query.push("head_office_id IN (SELECT head_office_id FROM operation_counts WHERE status IN ");
    query.bind_list(statuses.iter().map(Status::as_str));
    query.push(" GROUP BY head_office_id HAVING sum(count) > 0)");
}

/// The same on PostgreSQL, for each of them in the order of the index on the status alone: by statistics of few rows
/// PostgreSQL would take any index of a head office that has the status.
fn by_counts(query: &mut Builder<'_>, statuses: EnumSet<Status>) {
    query.push(
        "SELECT id FROM (
             SELECT head_office_id, status FROM operation_counts WHERE status IN ",
    );
    query.bind_list(statuses.iter().map(Status::as_str));
    query.push(
        " GROUP BY head_office_id, status HAVING sum(count) > 0) AS c
         CROSS JOIN LATERAL (
             SELECT o.id FROM operations o
             WHERE o.head_office_id = c.head_office_id AND o.status BETWEEN c.status AND c.status
             ORDER BY o.status, o.id LIMIT ",
    );
    query.bind(clamped(RARE)).push(") AS o");
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
    index: Option<Index>,
) {
    let is_ordered = |column| index.is_some_and(|it| it.column() == column);
    let Filter {
        external_reference,
        statuses,
    } = filter;
    match viewer {
        Viewer::HeadOffice(company) => {
            let is_range = is_ordered("head_office_id");
            equal(query, "head_office_id", *company.as_uuid(), is_range);
        }
        Viewer::Branch(company) => {
            let id = *company.as_uuid();
            query.push("head_office_id = (SELECT head_office_id FROM companies WHERE id = ");
            query.bind(id).push(") AND ");
            equal(query, "payer_id", id, is_ordered("payer_id"));
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
    if let Some(status) = statuses.iter().next().filter(|_| is_ordered("status")) {
        query.push(" AND ");
        equal(query, "status", status.as_str(), true);
    } else if !statuses.is_empty() {
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

/// Adds that a column has this value, as a range if an order by it is to be kept.
fn equal<'q>(
    query: &mut Builder<'q>,
    column: &str,
    value: impl Into<Value<'q>> + Clone,
    is_range: bool,
) {
    query.push(column);
    if is_range {
        query.push(" BETWEEN ").bind(value.clone()).push(" AND ");
    } else {
        query.push(" = ");
    }
    query.bind(value);
}
