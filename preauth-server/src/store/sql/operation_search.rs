//! The search for operations of all companies.
//!
//! The ids come from the index of what is searched for; only the rows of the page itself are read.

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{Cnpj, EnumSet, ExternalReference, InvoiceNumber, Status};

use crate::directory::{NEWEST, OperationFilter, OperationSearch, Page};
use crate::store::error::Fault;
use crate::store::rows::{clamped, operation, select_operations};

use super::{Builder, Database, Dialect, Listed, Session, newest};

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
    Payer(&'f Cnpj),
    Supplier(&'f Cnpj),
    Any,
}

impl OperationFilter {
    fn sources(&self) -> Vec<Source<'_>> {
        match &self.cnpj {
            Some(cnpj) => vec![Source::Payer(cnpj), Source::Supplier(cnpj)],
            None => vec![Source::Any],
        }
    }

    /// The order in which an index has what is searched for. Ids are in about the order of their times.
    /// PostgreSQL's index of the times has no order: it would sort all that began since a moment, of which the
    /// newest are the last ones of all.
    fn order(&self, dialect: Dialect, total: u64) -> &'static str {
        let is_full = dialect == Dialect::Postgres && total >= u64::from(NEWEST);
        let are_last = is_full && self.until.is_none();
        let is_by_time = self.cnpj.is_none()
            && self.invoice_number.is_none()
            && self.external_reference.is_none()
            && (self.from.is_some() || self.until.is_some())
            && !are_last;
        if is_by_time {
            "created_at DESC, id DESC"
        } else {
            "id DESC"
        }
    }
}

async fn list(
    session: &mut dyn Session,
    filter: &OperationFilter,
    page: PageRequest,
) -> Result<Listed, Fault> {
    let mut total: u64 = 0;
    for source in filter.sources() {
        let found = newest::total(session, |rows| {
            rows.push("SELECT 1 FROM operations WHERE ");
            restrict(rows, source, filter);
        });
        total = total.saturating_add(found.await?);
    }
    let total = total.min(NEWEST.into());
    let Some((take, skip)) = newest::within(page) else {
        let rows = Vec::new();
        return Ok(Listed { rows, total });
    };
    let order = filter.order(session.dialect(), total);
    // Each source gives as many as the page may need.
    let last = skip.saturating_add(take.into());
    let mut query = Builder::new(select_operations!("WHERE o.id IN (SELECT id FROM ("));
    for (n, source) in filter.sources().into_iter().enumerate() {
        if n > 0 {
            query.push(" UNION ALL ");
        }
        query.push("SELECT id, created_at FROM (SELECT id, created_at FROM operations WHERE ");
        restrict(&mut query, source, filter);
        query.push(" ORDER BY ").push(order).push(" LIMIT ");
        query.bind(clamped(last));
        query.push(if n == 0 { ") AS one" } else { ") AS other" });
    }
    query.push(") AS found ORDER BY ").push(order);
    query.push(" LIMIT ").bind(take);
    query.push(" OFFSET ").bind(clamped(skip));
    query.push(") ORDER BY ");
    query.push(if order.starts_with("id") {
        "o.id DESC"
    } else {
        "o.created_at DESC, o.id DESC"
    });
    let rows = query.build().fetch_all(session).await?;
    Ok(Listed { rows, total })
}

fn restrict<'q>(query: &mut Builder<'q>, source: Source<'q>, filter: &'q OperationFilter) {
    let OperationFilter {
        statuses,
        external_reference,
        cnpj: _,
        invoice_number,
        from,
        until,
    } = filter;
    match source {
        Source::Any => {
            query.push("TRUE");
        }
        Source::Payer(cnpj) => {
            query.push("head_office_id = (SELECT head_office_id FROM companies WHERE cnpj = ");
            query.bind(cnpj.as_str());
            query.push(") AND payer_id = (SELECT id FROM companies WHERE cnpj = ");
            query.bind(cnpj.as_str()).push(")");
        }
        Source::Supplier(cnpj) => {
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
        query.push(" AND created_at >= ").bind(from.unix_millis());
    }
    if let Some(until) = until {
        query.push(" AND created_at < ").bind(until.unix_millis());
    }
    let statuses: EnumSet<Status> = statuses.iter().copied().collect();
    if !statuses.is_empty() {
        query.push(" AND status IN ");
        query.bind_list(statuses.iter().map(Status::as_str));
    }
}
