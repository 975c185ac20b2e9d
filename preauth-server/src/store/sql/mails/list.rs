//! The platform's list of staged mails, and the resending of failed ones.

use std::collections::BTreeSet;

use async_trait::async_trait;
use preauth_core::port::{MailKind, PageRequest, Unavailable};
use preauth_core::value::{CompanyId, MailId, OperationId, Timestamp};
use uuid::Uuid;

use crate::directory::{DirectoryError, Mail, MailFilter, MailStatus, Mails, Page};
use crate::store::error::Fault;
use crate::store::rows::{Columns, Corrupt, clamped};

use super::super::newest;
use super::super::planner::{plan_by_values, read_in_index_order};
use super::super::{Builder, Database, Listed, Row, Session, query, sql};
use super::resend;

/// The kind that most mails are, which the index by kinds leaves out: such a mail costs nothing there.
const COMMONEST: MailKind = MailKind::Offer;

const SELECT: &str = "SELECT id, head_office_id, operation_id, coalesce(variant, kind) AS kind, recipient, status, is_held,
        is_suppressed,        staged_at, next_attempt_at, ended_at, attempts_made, last_error, joined_to
 FROM notices ";

#[async_trait]
impl<D: Database> Mails for D {
    async fn mail(&self, id: MailId) -> Result<Option<Mail>, Unavailable> {
        let found = self.read(&id, |session, id| Box::pin(by_id(session, *id)));
        Ok(found.await?)
    }

    async fn mails(
        &self,
        company: Option<CompanyId>,
        filter: MailFilter,
        page: PageRequest,
    ) -> Result<Page<Mail>, Unavailable> {
        let input = (company, filter, page);
        let listed = self.read_snapshot(&input, |session, (company, filter, page)| {
            Box::pin(list(session, *company, *filter, *page))
        });
        Ok(listed.await?.page(self.set_aside(), mail))
    }

    async fn recorded_mails(&self, ids: &[MailId]) -> Result<BTreeSet<MailId>, Unavailable> {
        let ids: Vec<Uuid> = ids.iter().map(|id| *id.as_uuid()).collect();
        let found = self.read(&ids, |session, ids| {
            Box::pin(recorded(session, ids.clone()))
        });
        Ok(found.await?)
    }

    async fn resend_mail(&self, id: MailId, at: Timestamp) -> Result<(), DirectoryError> {
        let resent = self.write((id, at), |session, input| {
            Box::pin(resend::one(session, input))
        });
        Ok(resent.await?)
    }
}

async fn by_id(session: &mut dyn Session, id: MailId) -> Result<Option<Mail>, Fault> {
    let mut query = Builder::new(SELECT);
    query.push("WHERE id = ").bind(id.as_uuid());
    let row = query.build().fetch_optional(session).await?;
    Ok(row.as_ref().map(mail).transpose()?)
}

/// How few rows are read beside those that are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The head office's index has their order.
    OfCompany,
    /// There are few about one operation.
    OfOperation,
    /// Most mails are listed, or more wait than a list has; and ids are in the order of their times.
    ById,
    /// A partial index has these alone, in the order of their times. The primary key has another order, so that it is not
    /// walked instead.
    ByTime,
    /// Those that wait are found by what is due, and sorted.
    Waiting,
}

impl Way {
    fn of(company: Option<CompanyId>, filter: MailFilter) -> Self {
        if company.is_some() {
            return Self::OfCompany;
        }
        if filter.operation.is_some() {
            return Self::OfOperation;
        }
        match filter.status {
            Some(MailStatus::Pending | MailStatus::Held) => Self::Waiting,
            Some(MailStatus::Failed | MailStatus::Canceled | MailStatus::Suppressed) => {
                Self::ByTime
            }
            None | Some(MailStatus::Sent) if is_by_kind(company, filter) => Self::ByTime,
            None | Some(MailStatus::Sent) => Self::ById,
        }
    }

    const fn order(self) -> &'static str {
        match self {
            Self::OfCompany | Self::ByTime => " ORDER BY staged_at DESC, id DESC",
            Self::OfOperation | Self::ById | Self::Waiting => " ORDER BY id DESC",
        }
    }
}

async fn recorded(session: &mut dyn Session, ids: Vec<Uuid>) -> Result<BTreeSet<MailId>, Fault> {
    let rows = query(sql!("SELECT id FROM notices WHERE id" (is_one_of "$1")));
    let rows = rows.bind(ids).fetch_all(session).await?;
    let id = |row| Columns::of("notices", row).uuid("id").map(MailId::new);
    Ok(rows.iter().map(id).collect::<Result<_, _>>()?)
}

/// Whether nothing else leaves fewer mails than their kind.
fn is_by_kind(company: Option<CompanyId>, filter: MailFilter) -> bool {
    let MailFilter {
        status,
        kind,
        operation,
    } = filter;
    let is_restricted = company.is_some()
        || operation.is_some()
        || status.is_some_and(|status| status != MailStatus::Sent);
    kind.is_some_and(|kind| kind != COMMONEST) && !is_restricted
}

async fn list(
    session: &mut dyn Session,
    company: Option<CompanyId>,
    filter: MailFilter,
    page: PageRequest,
) -> Result<Listed, Fault> {
    let mut way = Way::of(company, filter);
    plan_by_values(session).await?;
    if way == Way::ByTime {
        read_in_index_order(session).await?;
    }
    let counted = newest::count(session, company, |rows| {
        rows.push(" FROM notices ");
        restrict(rows, company, filter);
    });
    let counted = counted.await?;
    let Some((take, skip)) = newest::window(page, company) else {
        return Ok(Listed::counted(Vec::new(), counted));
    };
    if way == Way::Waiting && counted.is_cut {
        // Sorting all of them would cost the more the longer the queue is.
        way = Way::ById;
    }
    if way == Way::ById {
        read_in_index_order(session).await?;
    }
    let mut query = Builder::new("");
    if way == Way::Waiting {
        // Apart from the order, for which the planner would walk through the ids of all mails.
        query.push("WITH waiting AS MATERIALIZED (SELECT id FROM notices ");
        restrict(&mut query, company, filter);
        query.push(") ");
        let select = format!("{SELECT}WHERE id");
        newest::among(&mut query, session.dialect(), (&select, "notices"), |ids| {
            ids.push("SELECT id FROM waiting");
            page_of(ids, way, take, skip);
        });
        query.push(way.order());
    } else {
        query.push(SELECT);
        restrict(&mut query, company, filter);
        page_of(&mut query, way, take, skip);
    }
    let rows = query.build().fetch_all(session).await?;
    Ok(Listed::counted(rows, counted))
}

fn page_of(query: &mut Builder<'_>, way: Way, take: u32, skip: u64) {
    query.push(way.order()).push(" LIMIT ").bind(take);
    query.push(" OFFSET ").bind(clamped(skip));
}

fn restrict(query: &mut Builder<'_>, company: Option<CompanyId>, filter: MailFilter) {
    query.push("WHERE 1 = 1");
    if let Some(company) = company {
        query
            .push(" AND head_office_id = ")
            .bind(*company.as_uuid());
    }
    if let Some(kind) = filter.kind {
        if is_by_kind(company, filter) {
            // The words of the partial index, which would be read instead of one that leaves less.
            query.push(" AND coalesce(variant, kind) <> 'OFFER'");
        }
        query
            .push(" AND coalesce(variant, kind) = ")
            .bind(kind.as_str());
    }
    if let Some(operation) = filter.operation {
        query.push(" AND operation_id = ").bind(operation.get());
    }
    match filter.status {
        None => {}
        Some(MailStatus::Pending) => {
            query.push(" AND status = 'PENDING' AND NOT is_held");
        }
        Some(MailStatus::Held) => {
            query.push(" AND status = 'PENDING' AND is_held");
        }
        // The words of the partial index, here and below.
        Some(MailStatus::Canceled) => {
            query.push(" AND status IN ('FAILED', 'CANCELED') AND status = 'CANCELED' AND NOT is_suppressed");
        }
        Some(MailStatus::Failed) => {
            query.push(" AND status IN ('FAILED', 'CANCELED') AND status = 'FAILED'");
        }
        Some(MailStatus::Suppressed) => {
            query.push(
                " AND status IN ('FAILED', 'CANCELED') AND status = 'CANCELED' AND is_suppressed",
            );
        }
        Some(MailStatus::Sent) => {
            query.push(" AND status = 'SENT'");
        }
    }
}

fn mail(row: &Row) -> Result<Mail, Corrupt> {
    let columns = Columns::of("notices", row);
    let [is_held, is_suppressed] = ["is_held", "is_suppressed"].map(|name| columns.raw(name));
    let status = MailStatus::of(columns.parsed("status")?, is_held?, is_suppressed?);
    let operation: Option<i64> = columns.raw("operation_id")?;
    let joined_to: Option<Uuid> = columns.raw("joined_to")?;
    Ok(Mail {
        id: MailId::new(columns.uuid("id")?),
        company: CompanyId::new(columns.uuid("head_office_id")?),
        operation: operation.and_then(OperationId::new),
        kind: columns.parsed("kind")?,
        recipient: columns.parsed("recipient")?,
        status,
        created_at: columns.timestamp("staged_at")?,
        next_attempt_at: columns.optional_timestamp("next_attempt_at")?,
        ended_at: columns.optional_timestamp("ended_at")?,
        attempts_made: columns.raw("attempts_made")?,
        last_error: columns.raw("last_error")?,
        joined_to: joined_to.map(MailId::new),
    })
}
