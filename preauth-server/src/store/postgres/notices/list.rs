//! The platform's look at staged mails, and another try for those that failed.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{CompanyId, NoticeId, OperationId, Timestamp};
use sqlx::postgres::{PgRow, Postgres};
use sqlx::{PgConnection, QueryBuilder, Row};
use uuid::Uuid;

use super::super::PostgresStore;
use super::super::rows::{Columns, clamped, count};
use super::resend;
use crate::directory::{DirectoryError, Notice, NoticeFilter, NoticeStatus, Notices, Page};
use crate::store::error::Fault;
use crate::store::rows::Corrupt;
use crate::store::set_aside::SetAside;

const SELECT: &str = "SELECT id, head_office_id, operation_id, kind, recipient, status, is_held,
        staged_at, next_attempt_at, ended_at, attempts_made, last_error, joined_to
 FROM notices ";

#[async_trait]
impl Notices for PostgresStore {
    async fn notice(&self, id: NoticeId) -> Result<Option<Notice>, Unavailable> {
        let found = self.read(&id, |connection, id| Box::pin(by_id(connection, *id)));
        Ok(found.await?)
    }

    async fn notices(
        &self,
        company: CompanyId,
        filter: NoticeFilter,
        page: PageRequest,
    ) -> Result<Page<Notice>, Unavailable> {
        let input = (company, filter, page, Arc::clone(&self.set_aside));
        let listed =
            self.read_snapshot(&input, |connection, (company, filter, page, set_aside)| {
                Box::pin(list(connection, *company, *filter, *page, set_aside))
            });
        Ok(listed.await?)
    }

    async fn resend_notice(&self, id: NoticeId, at: Timestamp) -> Result<(), DirectoryError> {
        let resent = self.write((id, at), |connection, input| {
            Box::pin(resend::one(connection, input))
        });
        Ok(resent.await?)
    }
}

async fn by_id(connection: &mut PgConnection, id: NoticeId) -> Result<Option<Notice>, Fault> {
    let mut query = QueryBuilder::new(SELECT);
    query.push("WHERE id = ").push_bind(id.as_uuid());
    let found = read(connection, query, |rows| rows.iter().map(notice).collect()).await?;
    Ok(found.into_iter().next())
}

async fn list(
    connection: &mut PgConnection,
    company: CompanyId,
    filter: NoticeFilter,
    page: PageRequest,
    set_aside: &SetAside,
) -> Result<Page<Notice>, Fault> {
    let total = total(connection, company, filter).await?;
    let mut query = QueryBuilder::new(SELECT);
    restrict(&mut query, company, filter);
    query.push(" ORDER BY staged_at DESC, id DESC LIMIT ");
    query.push_bind(i64::from(page.limit)).push(" OFFSET ");
    query.push_bind(clamped(page.offset()));
    let items = read(connection, query, |rows| {
        Ok(set_aside.readable(rows, notice))
    })
    .await?;
    Ok(Page { items, total })
}

async fn total(
    connection: &mut PgConnection,
    company: CompanyId,
    filter: NoticeFilter,
) -> Result<u64, Fault> {
    let mut query = QueryBuilder::new("SELECT count(*) FROM notices ");
    restrict(&mut query, company, filter);
    let row = query.build().fetch_one(connection).await?;
    Ok(count(row.try_get(0)?))
}

fn restrict(query: &mut QueryBuilder<Postgres>, company: CompanyId, filter: NoticeFilter) {
    query.push("WHERE head_office_id = ");
    query.push_bind(company.as_uuid());
    if let Some(kind) = filter.kind {
        query.push(" AND kind = ").push_bind(kind.as_str());
    }
    if let Some(operation) = filter.operation {
        query
            .push(" AND operation_id = ")
            .push_bind(operation.get());
    }
    match filter.status {
        None => {}
        Some(NoticeStatus::Pending) => {
            query.push(" AND status = 'PENDING' AND NOT is_held");
        }
        Some(NoticeStatus::Held) => {
            query.push(" AND status = 'PENDING' AND is_held");
        }
        Some(status @ (NoticeStatus::Sent | NoticeStatus::Failed | NoticeStatus::Canceled)) => {
            query.push(" AND status = ").push_bind(status.as_str());
        }
    }
}

async fn read(
    connection: &mut PgConnection,
    mut query: QueryBuilder<Postgres>,
    decode: impl FnOnce(&[PgRow]) -> Result<Vec<Notice>, Corrupt>,
) -> Result<Vec<Notice>, Fault> {
    let rows = query.build().fetch_all(connection).await?;
    Ok(decode(&rows)?)
}

fn notice(row: &PgRow) -> Result<Notice, Corrupt> {
    let columns = Columns::of("notices", row);
    let is_held: bool = columns.raw("is_held")?;
    let status = match columns.parsed("status")? {
        NoticeStatus::Pending if is_held => NoticeStatus::Held,
        status => status,
    };
    let operation: Option<i64> = columns.raw("operation_id")?;
    let joined_to: Option<Uuid> = columns.raw("joined_to")?;
    Ok(Notice {
        id: NoticeId::new(columns.uuid("id")?),
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
        joined_to: joined_to.map(NoticeId::new),
    })
}
