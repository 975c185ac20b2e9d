//! The audit log: rows that writes leave in their own transactions, and the list of them.

mod row;
mod seal;
mod settings;

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{PageRequest, SealMark, Unavailable};
use preauth_core::value::Timestamp;

use crate::audit_trail::AuditedRequest;
use crate::directory::{AuditEntry, AuditFilter, AuditLog, AuditOutcome, Page, Sealing};
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::rows::{audit_entry, clamped};

use super::planner::{plan_by_values, read_in_index_order};
use super::{Builder, Database, Listed, Run, Session, newest};
pub(in crate::store) use row::of_commit;
pub(super) use seal::page as seals;

#[async_trait]
impl<D: Database> AuditLog for D {
    async fn leave_row(
        &self,
        request: Arc<AuditedRequest>,
        outcome: AuditOutcome,
    ) -> Result<(), Unavailable> {
        let left = self.write((request, outcome), |session, (request, outcome)| {
            Box::pin(row::insert(session, request, *outcome, &[]))
        });
        left.await.map_err(unavailable)
    }

    async fn seal(&self, now: Timestamp, known: Option<SealMark>) -> Result<Sealing, Unavailable> {
        let found = self.read(&known, |session, known| {
            Box::pin(seal::without_write(session, *known))
        });
        if let Some(outcome) = found.await? {
            return Ok(outcome);
        }
        let sealed = self.write((now, known), |session, (now, known)| {
            Box::pin(seal::seal(session, *now, *known))
        });
        sealed.await.map_err(unavailable)
    }

    async fn audit_log(
        &self,
        filter: AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditEntry>, Unavailable> {
        let input = (filter, page);
        let listed = self.read_snapshot(&input, |session, (filter, page)| {
            Box::pin(list(session, filter, *page))
        });
        Ok(listed.await?.page(self.set_aside(), audit_entry))
    }
}

/// Executes `run` and leaves the row of `request` in the same transaction, with the settings before and
/// after.
pub(in crate::store) async fn leaving_row<I, T>(
    session: &mut dyn Session,
    input: &I,
    run: Run<I, T, WriteError>,
    request: Option<&AuditedRequest>,
) -> Result<T, WriteError> {
    let Some(request) = request else {
        return run(session, input).await;
    };
    let record = request.record();
    let before = settings::read(session, &record).await?;
    let written = run(session, input).await?;
    let after = settings::read(session, &record).await?;
    let changes = settings::changes(&before, &after);
    row::insert(session, request, AuditOutcome::Done, &changes).await?;
    Ok(written)
}

/// The outcome of a write that leaves the row of `request`: once it is committed, the row is, too.
pub(in crate::store) fn with_row<T>(
    written: Result<T, WriteError>,
    request: Option<&AuditedRequest>,
) -> Result<T, WriteError> {
    if let (Ok(_), Some(request)) = (&written, request) {
        request.note_row();
    }
    written
}

async fn list(
    session: &mut dyn Session,
    filter: &AuditFilter,
    page: PageRequest,
) -> Result<Listed, Fault> {
    plan_by_values(session).await?;
    let counted = newest::total(session, |rows| {
        rows.push("SELECT 1 FROM audit_log");
        restrict(rows, filter);
    });
    let counted = counted.await?;
    let Some((take, skip)) = newest::within(page) else {
        return Ok(Listed::counted(Vec::new(), counted));
    };
    if counted.is_cut {
        read_in_index_order(session).await?;
    }
    let mut query = Builder::new(
        "SELECT id, request_id, at, operator_id, operator_name, role, address, action, outcome, record,
                company_id, changes
         FROM audit_log",
    );
    restrict(&mut query, filter);
    query.push(filter.order()).push(" LIMIT ").bind(take);
    query.push(" OFFSET ").bind(clamped(skip));
    let rows = query.build().fetch_all(session).await?;
    Ok(Listed::counted(rows, counted))
}

impl AuditFilter {
    /// The order in which an index has the rows. Ids are in about the order of their times.
    const fn order(&self) -> &'static str {
        let is_by_time = self.operator.is_none()
            && self.action.is_none()
            && self.record.is_none()
            && self.company.is_none()
            && (self.from.is_some() || self.until.is_some());
        if is_by_time {
            " ORDER BY at DESC, id DESC"
        } else {
            " ORDER BY id DESC"
        }
    }
}

fn restrict(query: &mut Builder<'_>, filter: &AuditFilter) {
    let AuditFilter {
        operator,
        action,
        record,
        company,
        from,
        until,
    } = filter;
    query.push(" WHERE 1 = 1");
    if let Some(operator) = operator {
        query.push(" AND operator_name = ");
        query.bind(operator.as_str().to_owned());
    }
    if let Some(action) = action {
        query.push(" AND action = ").bind(action.clone());
    }
    if let Some(record) = record {
        query.push(" AND record = ").bind(record.clone());
    }
    if let Some(company) = company {
        query.push(" AND company_id = ").bind(*company.as_uuid());
    }
    if let Some(from) = from {
        query.push(" AND at >= ").bind(from.unix_millis());
    }
    if let Some(until) = until {
        query.push(" AND at < ").bind(until.unix_millis());
    }
}
