//! The search for operations of all companies.
//!
//! The ids come from the index of what is searched for; only the rows of the page itself are read.

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{Cnpj, EnumSet, ExternalReference, InvoiceNumber, Status};
use uuid::Uuid;

use crate::directory::{NEWEST, OperationFilter, OperationSearch, Page};
use crate::store::error::Fault;
use crate::store::rows::{Columns, clamped, operation, select_operations};

use super::newest::{self, Counted};
use super::planner::{plan_by_values, read_in_index_order};
use super::queries::having_any;
use super::{Builder, Database, Listed, Session, query};

#[async_trait]
impl<D: Database> OperationSearch for D {
    async fn search_operations(
        &self,
        filter: &OperationFilter,
        page: PageRequest,
    ) -> Result<Page<Operation>, Unavailable> {
        let input = (filter.clone(), page);
        let listed = self.read_snapshot(&input, |session, (filter, page)| {
            Box::pin(list(session, filter, *page))
        });
        Ok(listed.await?.page(self.set_aside(), operation))
    }
}

/// Where the ids come from. An operation has one payer and another supplier, so that no id comes twice.
#[derive(Clone, Copy)]
enum Source<'f> {
    Payer { head_office: Uuid, id: Uuid },
    Supplier(&'f Cnpj),
    Any,
}

/// The sources of a search. Only construction companies pay.
async fn sources<'f>(
    session: &mut dyn Session,
    filter: &'f OperationFilter,
) -> Result<Vec<Source<'f>>, Fault> {
    let Some(cnpj) = &filter.cnpj else {
        return Ok(vec![Source::Any]);
    };
    let payer =
        query("SELECT id, head_office_id FROM companies WHERE cnpj = $1 AND kind = 'CONSTRUCTION'")
            .bind(cnpj.as_str())
            .fetch_optional(session)
            .await?;
    let mut sources = vec![Source::Supplier(cnpj)];
    if let Some(row) = payer {
        let columns = Columns::of("companies", &row);
        sources.push(Source::Payer {
            head_office: columns.uuid("head_office_id")?,
            id: columns.uuid("id")?,
        });
    }
    Ok(sources)
}

impl OperationFilter {
    /// Repeated statuses would only add statements.
    fn statuses(&self) -> EnumSet<Status> {
        self.statuses.iter().copied().collect()
    }

    /// How the ids are found in the order of an index.
    fn way(&self, has_few_in_status: bool) -> Way {
        let is_named = self.invoice_number.is_some() || self.external_reference.is_some();
        if has_few_in_status && !is_named {
            return Way::Statuses;
        }
        let is_by_time =
            self.cnpj.is_none() && !is_named && (self.from.is_some() || self.until.is_some());
        if is_by_time { Way::Times } else { Way::Ids }
    }
}

/// How few rows are read beside those that are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By the index of what is searched for, which has the order of the ids. Ids are in about the order of their times.
    Ids,
    Times,
    /// A status of few operations, by the head offices that have any; these few are sorted.
    Statuses,
}

impl Way {
    /// The order of the operations of a source. The sign keeps the databases from walking through all ids for few.
    const fn order(self, has_few: bool) -> &'static str {
        match self {
            Self::Times => "created_at DESC, id DESC",
            Self::Ids if !has_few => "id DESC",
            Self::Ids | Self::Statuses => "+id DESC",
        }
    }

    const fn created_at(self) -> &'static str {
        match self {
            Self::Ids | Self::Times => "created_at",
            Self::Statuses => "+created_at",
        }
    }
}

async fn list(
    session: &mut dyn Session,
    filter: &OperationFilter,
    page: PageRequest,
) -> Result<Listed, Fault> {
    plan_by_values(session).await?;
    let way = filter.way(has_few(session, filter).await?);
    if way == Way::Times {
        read_in_index_order(session).await?;
    }
    let mut total: u64 = 0;
    let mut sources_with_order = Vec::new();
    for source in sources(session, filter).await? {
        let found = newest::found(session, |rows| {
            rows.push("SELECT 1 FROM operations WHERE ");
            restrict(rows, source, way, filter);
        });
        let found = found.await?;
        total = total.saturating_add(found);
        sources_with_order.push((source, way.order(found <= NEWEST.into())));
    }
    let counted = Counted::newest(total);
    let Some((take, skip)) = newest::within(page) else {
        return Ok(Listed::counted(Vec::new(), counted));
    };
    if counted.is_cut {
        read_in_index_order(session).await?;
    }
    // Each source gives as many as the page may need.
    let last = skip.saturating_add(take.into());
    let mut query = Builder::new("");
    let operations = (select_operations!("WHERE o.id"), "o");
    newest::among(&mut query, session.dialect(), operations, |ids| {
        ids.push("SELECT id FROM (");
        for (n, (source, order)) in sources_with_order.into_iter().enumerate() {
            if n > 0 {
                ids.push(" UNION ALL ");
            }
            ids.push("SELECT id, created_at FROM (SELECT id, created_at FROM operations WHERE ");
            restrict(ids, source, way, filter);
            ids.push(" ORDER BY ").push(order).push(" LIMIT ");
            ids.bind(clamped(last));
            ids.push(if n == 0 { ") AS one" } else { ") AS other" });
        }
        ids.push(") AS found ORDER BY ").push(way.order(false));
        ids.push(" LIMIT ").bind(take);
        ids.push(" OFFSET ").bind(clamped(skip));
    });
    query.push(match way {
        Way::Ids | Way::Statuses => " ORDER BY o.id DESC",
        Way::Times => " ORDER BY +o.created_at DESC, o.id DESC",
    });
    let rows = query.build().fetch_all(session).await?;
    Ok(Listed::counted(rows, counted))
}

/// Whether the statuses that are searched for are those of few operations, which the database counts.
async fn has_few(session: &mut dyn Session, filter: &OperationFilter) -> Result<bool, Fault> {
    let statuses = filter.statuses();
    if statuses.is_empty() {
        return Ok(false);
    }
    let mut query = Builder::new(
        "SELECT CAST(coalesce(sum(count), 0) AS BIGINT) AS total FROM operation_counts WHERE status IN ",
    );
    query.bind_list(statuses.iter().map(Status::as_str));
    Ok(query.build().total(session).await? <= NEWEST.into())
}

fn restrict<'q>(
    query: &mut Builder<'q>,
    source: Source<'q>,
    way: Way,
    filter: &'q OperationFilter,
) {
    let OperationFilter {
        statuses: _,
        external_reference,
        cnpj: _,
        invoice_number,
        from,
        until,
    } = filter;
    let statuses = filter.statuses();
    match source {
        Source::Any if way == Way::Statuses => {
            having_any(query, statuses);
        }
        Source::Any => {
            query.push("TRUE");
        }
        Source::Payer { head_office, id } => {
            query.push("head_office_id = ").bind(head_office);
            query.push(" AND payer_id = ").bind(id);
        }
        Source::Supplier(cnpj) => {
            if way == Way::Statuses {
                having_any(query, statuses);
                query.push(" AND ");
            }
            query.push("supplier_cnpj = ").bind(cnpj.as_str());
        }
    }
    if let Some(number) = invoice_number {
        query.push(" AND invoice_number = ");
        query.bind(InvoiceNumber::as_str(number));
    }
    if let Some(reference) = external_reference {
        // For each head office its own range of the index.
        query.push(
            " AND head_office_id IN (SELECT head_office_id FROM companies WHERE head_office_id = id)
              AND external_reference = ",
        );
        query.bind(ExternalReference::as_str(reference));
    }
    if let Some(from) = from {
        query.push(" AND ").push(way.created_at()).push(" >= ");
        query.bind(from.unix_millis());
    }
    if let Some(until) = until {
        query.push(" AND ").push(way.created_at()).push(" < ");
        query.bind(until.unix_millis());
    }
    if !statuses.is_empty() {
        query.push(" AND status IN ");
        query.bind_list(statuses.iter().map(Status::as_str));
    }
}
