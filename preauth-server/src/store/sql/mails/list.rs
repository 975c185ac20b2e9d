//! The platform's list of staged mails, and the resending of failed ones.

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{CompanyId, MailId, OperationId, Timestamp};
use uuid::Uuid;

use crate::directory::{DirectoryError, Mail, MailFilter, MailStatus, Mails, Page};
use crate::store::error::Fault;
use crate::store::rows::{Columns, Corrupt, clamped};

use super::super::{Builder, Database, Listed, Row, Session, newest};
use super::resend;

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

async fn list(
    session: &mut dyn Session,
    company: Option<CompanyId>,
    filter: MailFilter,
    page: PageRequest,
) -> Result<Listed, Fault> {
    let total = total(session, company, filter).await?;
    let Some((take, skip)) = newest::window(page, company) else {
        let rows = Vec::new();
        return Ok(Listed { rows, total });
    };
    let mut query = Builder::new(SELECT);
    restrict(&mut query, company, filter);
    // Ids are in the order of their times, and the primary key has that order over all companies.
    query.push(match company {
        Some(_) => " ORDER BY staged_at DESC, id DESC LIMIT ",
        None => " ORDER BY id DESC LIMIT ",
    });
    query.bind(take).push(" OFFSET ");
    query.bind(clamped(skip));
    let rows = query.build().fetch_all(session).await?;
    Ok(Listed { rows, total })
}

async fn total(
    session: &mut dyn Session,
    company: Option<CompanyId>,
    filter: MailFilter,
) -> Result<u64, Fault> {
    if company.is_none() {
        return newest::total(session, |rows| {
            rows.push("SELECT 1 FROM notices ");
            restrict(rows, company, filter);
        })
        .await;
    }
    let mut query = Builder::new("SELECT count(*) AS total FROM notices ");
    restrict(&mut query, company, filter);
    Ok(query.build().total(session).await?)
}

fn restrict(query: &mut Builder<'_>, company: Option<CompanyId>, filter: MailFilter) {
    query.push("WHERE 1 = 1");
    if let Some(company) = company {
        query
            .push(" AND head_office_id = ")
            .bind(*company.as_uuid());
    }
    if let Some(kind) = filter.kind {
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
        Some(MailStatus::Canceled) => {
            query.push(" AND status = 'CANCELED' AND NOT is_suppressed");
        }
        Some(MailStatus::Suppressed) => {
            query.push(" AND status = 'CANCELED' AND is_suppressed");
        }
        Some(status @ (MailStatus::Sent | MailStatus::Failed)) => {
            query.push(" AND status = ").bind(status.as_str());
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
