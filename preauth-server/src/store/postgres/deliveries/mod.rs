//! The history of deliveries.

mod attempts;
mod resend;

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{CompanyId, DeliveryId, Timestamp};
use sqlx::postgres::{PgRow, Postgres};
use sqlx::{PgConnection, QueryBuilder, Row};

use crate::directory::{
    Deliveries, Delivery, DeliveryFilter, DeliveryStatus, DirectoryError, Page,
};
use crate::store::rows::{Corrupt, delivery};
use crate::store::set_aside::SetAside;

use super::PostgresStore;
use super::rows::{clamped, count};
use crate::store::error::{Fault, unavailable};

/// A delivery with its event and whether its endpoint is paused, before the conditions. A pending
/// delivery of a removed endpoint counts as failed: it is about to be settled.
const SELECT: &str = "SELECT d.id, d.head_office_id, d.event_id, d.event_type,
        CASE WHEN d.status = 'PENDING' AND e.deleted_at IS NOT NULL THEN 'FAILED'
             ELSE d.status END AS status,
        d.next_attempt_at, d.created_at, v.body,
        e.paused_at IS NOT NULL AND e.deleted_at IS NULL AS is_paused
 FROM deliveries d
 JOIN events v ON v.id = d.event_id
 JOIN endpoints e ON e.id = d.endpoint_id ";

#[async_trait]
impl Deliveries for PostgresStore {
    async fn delivery(&self, id: DeliveryId) -> Result<Option<Delivery>, Unavailable> {
        let found = self.read_snapshot(&id, |connection, id| Box::pin(by_id(connection, *id)));
        Ok(found.await?)
    }

    async fn deliveries(
        &self,
        company: CompanyId,
        filter: DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<Delivery>, Unavailable> {
        let input = (company, filter, page, Arc::clone(&self.set_aside));
        let listed =
            self.read_snapshot(&input, |connection, (company, filter, page, set_aside)| {
                Box::pin(list(connection, *company, *filter, *page, set_aside))
            });
        Ok(listed.await?)
    }

    async fn resend(&self, id: DeliveryId, at: Timestamp) -> Result<(), DirectoryError> {
        let resent = self.write_and_wake((id, at), |connection, input| {
            Box::pin(resend::one(connection, input))
        });
        Ok(resent.await?)
    }

    async fn resend_failed(
        &self,
        company: CompanyId,
        since: Timestamp,
        at: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        let batch = resend::Batch {
            company,
            since,
            at,
            limit,
        };
        let resent = self.write_and_wake(batch, |connection, batch| {
            Box::pin(resend::failed(connection, batch))
        });
        resent.await.map_err(unavailable)
    }
}

async fn by_id(connection: &mut PgConnection, id: DeliveryId) -> Result<Option<Delivery>, Fault> {
    let mut query = QueryBuilder::new(SELECT);
    query.push("WHERE d.id = ");
    query.push_bind(id.as_uuid());
    let found = read(connection, query, |rows| {
        rows.iter().map(delivery).collect()
    })
    .await?;
    Ok(found.into_iter().next())
}

async fn list(
    connection: &mut PgConnection,
    company: CompanyId,
    filter: DeliveryFilter,
    page: PageRequest,
    set_aside: &SetAside,
) -> Result<Page<Delivery>, Fault> {
    let total = total(connection, company, filter).await?;
    let mut query = QueryBuilder::new(SELECT);
    restrict(&mut query, company, filter);
    query.push(" ORDER BY d.created_at DESC, d.id DESC LIMIT ");
    query.push_bind(i64::from(page.limit)).push(" OFFSET ");
    query.push_bind(clamped(page.offset()));
    let items = read(connection, query, |rows| {
        Ok(set_aside.readable(rows, delivery))
    })
    .await?;
    Ok(Page { items, total })
}

async fn total(
    connection: &mut PgConnection,
    company: CompanyId,
    filter: DeliveryFilter,
) -> Result<u64, Fault> {
    let mut query = QueryBuilder::new(
        "SELECT count(*) FROM deliveries d JOIN endpoints e ON e.id = d.endpoint_id ",
    );
    restrict(&mut query, company, filter);
    let row = query.build().fetch_one(connection).await?;
    Ok(count(row.try_get(0)?))
}

fn restrict(query: &mut QueryBuilder<Postgres>, company: CompanyId, filter: DeliveryFilter) {
    query.push("WHERE d.head_office_id = ");
    query.push_bind(company.as_uuid());
    if let Some(event_type) = filter.event_type {
        query
            .push(" AND d.event_type = ")
            .push_bind(event_type.as_str());
    }
    match filter.status {
        None => {}
        Some(DeliveryStatus::Pending) => {
            query
                .push(" AND d.status = 'PENDING' AND e.paused_at IS NULL AND e.deleted_at IS NULL");
        }
        Some(DeliveryStatus::Paused) => {
            query.push(
                " AND d.status = 'PENDING' AND e.paused_at IS NOT NULL AND e.deleted_at IS NULL",
            );
        }
        Some(DeliveryStatus::Delivered) => {
            query.push(" AND d.status = 'DELIVERED'");
        }
        Some(DeliveryStatus::Failed) => {
            query.push(
                " AND (d.status = 'FAILED' OR d.status = 'PENDING' AND e.deleted_at IS NOT NULL)",
            );
        }
    }
}

async fn read(
    connection: &mut PgConnection,
    mut query: QueryBuilder<Postgres>,
    decode: impl FnOnce(&[PgRow]) -> Result<Vec<Delivery>, Corrupt>,
) -> Result<Vec<Delivery>, Fault> {
    let rows = query.build().fetch_all(&mut *connection).await?;
    let mut deliveries = decode(&rows)?;
    attempts::attach(connection, &mut deliveries).await?;
    Ok(deliveries)
}
