//! The platform's look at staged mails, and another try for those that failed.

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{CompanyId, NoticeId, OperationId, Timestamp};
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{QueryBuilder, Row, SqliteConnection};
use uuid::Uuid;

use super::super::SqliteStore;
use super::super::rows::{Columns, clamped, count};
use super::resend;
use crate::directory::{DirectoryError, Notice, NoticeFilter, NoticeStatus, Notices, Page};
use crate::store::error::Fault;
use crate::store::rows::Corrupt;

const SELECT: &str = "SELECT id, head_office_id, operation_id, kind, recipient, status, is_held,
        staged_at, next_attempt_at, ended_at, attempts_made, last_error, joined_to
 FROM notices ";

#[async_trait]
impl Notices for SqliteStore {
    async fn notice(&self, id: NoticeId) -> Result<Option<Notice>, Unavailable> {
        let mut reader = self.reader().await?;
        let mut query = QueryBuilder::new(SELECT);
        query.push("WHERE id = ");
        query.push_bind(id.as_uuid().as_bytes().as_slice());
        let found = read(&mut reader, query, |rows| rows.iter().map(notice).collect()).await?;
        Ok(found.into_iter().next())
    }

    async fn notices(
        &self,
        company: CompanyId,
        filter: NoticeFilter,
        page: PageRequest,
    ) -> Result<Page<Notice>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        let total = total(&mut snapshot, company, filter).await?;
        let mut query = QueryBuilder::new(SELECT);
        restrict(&mut query, company, filter);
        query.push(" ORDER BY staged_at DESC, id DESC LIMIT ");
        query.push_bind(page.limit).push(" OFFSET ");
        query.push_bind(clamped(page.offset()));
        let items = read(&mut snapshot, query, |rows| {
            Ok(self.set_aside.readable(rows, notice))
        })
        .await?;
        Ok(Page { items, total })
    }

    async fn resend_notice(&self, id: NoticeId, at: Timestamp) -> Result<(), DirectoryError> {
        let resent = self.writer.write((id, at), |connection, input| {
            Box::pin(resend::one(connection, input))
        });
        Ok(resent.await?)
    }
}

async fn total(
    connection: &mut SqliteConnection,
    company: CompanyId,
    filter: NoticeFilter,
) -> Result<u64, Fault> {
    let mut query = QueryBuilder::new("SELECT count(*) FROM notices ");
    restrict(&mut query, company, filter);
    let row = query.build().fetch_one(connection).await?;
    Ok(count(row.try_get(0)?))
}

fn restrict(query: &mut QueryBuilder<Sqlite>, company: CompanyId, filter: NoticeFilter) {
    query.push("WHERE head_office_id = ");
    query.push_bind(company.as_uuid().as_bytes().as_slice());
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
    connection: &mut SqliteConnection,
    mut query: QueryBuilder<Sqlite>,
    decode: impl FnOnce(&[SqliteRow]) -> Result<Vec<Notice>, Corrupt>,
) -> Result<Vec<Notice>, Fault> {
    let rows = query.build().fetch_all(connection).await?;
    Ok(decode(&rows)?)
}

fn notice(row: &SqliteRow) -> Result<Notice, Corrupt> {
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
