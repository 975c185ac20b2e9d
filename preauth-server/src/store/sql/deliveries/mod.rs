//! The history of deliveries.

mod attempts;
pub(in crate::store) mod lease;
mod list;
mod range;
mod resend;

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{CompanyId, DeliveryId, Timestamp};

use crate::directory::{
    Deliveries, Delivery, DeliveryFilter, DirectoryError, Page, ResendPlace, ResendRange,
    Resendable,
};
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::rows::{Corrupt, delivery};
use crate::store::set_aside::SetAside;

use super::{Builder, Database, Row, Session};

/// A delivery with its event and whether its endpoint is paused, before the conditions. A pending
/// delivery of a removed endpoint counts as failed: it is about to be settled.
const SELECT: &str = "SELECT d.id, d.head_office_id, d.event_id, d.event_type,
        CASE WHEN d.status = 'PENDING' AND e.deleted_at IS NOT NULL THEN 'FAILED'
             ELSE d.status END AS status,
        d.next_attempt_at, d.created_at, v.body, v.operation_id,
        e.paused_at IS NOT NULL AND e.deleted_at IS NULL AS is_paused
 FROM deliveries d
 JOIN events v ON v.id = d.event_id
 JOIN endpoints e ON e.id = d.endpoint_id ";

#[async_trait]
impl<D: Database> Deliveries for D {
    async fn delivery(&self, id: DeliveryId) -> Result<Option<Delivery>, Unavailable> {
        let input = (id, Arc::clone(self.set_aside()));
        let found = self.read_snapshot(&input, |session, (id, set_aside)| {
            Box::pin(by_id(session, *id, set_aside))
        });
        Ok(found.await?)
    }

    async fn deliveries(
        &self,
        company: Option<CompanyId>,
        filter: DeliveryFilter,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<Delivery>, Unavailable> {
        let which = list::Which {
            company,
            filter,
            now,
        };
        let input = (which, page, Arc::clone(self.set_aside()));
        let listed = self.read_snapshot(&input, |session, (which, page, set_aside)| {
            Box::pin(list::list(session, *which, *page, set_aside))
        });
        Ok(listed.await?)
    }

    async fn resend(&self, id: DeliveryId, at: Timestamp) -> Result<(), DirectoryError> {
        let resent = self.write_and_wake((id, at), |session, input| {
            Box::pin(resend::one(session, input))
        });
        Ok(resent.await?)
    }

    async fn hasten(&self, id: DeliveryId, at: Timestamp) -> Result<(), DirectoryError> {
        let hastened = self.write_and_wake((id, at), |session, input| {
            Box::pin(resend::pending(session, input))
        });
        Ok(hastened.await?)
    }

    async fn resend_failed(
        &self,
        company: CompanyId,
        since: Timestamp,
        at: Timestamp,
        limit: u32,
    ) -> Result<u64, DirectoryError> {
        let batch = resend::Batch {
            company,
            since,
            at,
            limit,
        };
        let resent = self.write_and_wake(batch, |session, batch| {
            Box::pin(resend::failed(session, batch))
        });
        resent.await.map_err(of_many)
    }

    async fn resendable(
        &self,
        range: &ResendRange,
        after: Option<ResendPlace>,
        limit: u32,
    ) -> Result<Resendable, Unavailable> {
        let input = (*range, after, limit);
        let found = self.read_snapshot(&input, |session, (range, after, limit)| {
            Box::pin(range::resendable(session, range, *after, *limit))
        });
        Ok(found.await?)
    }

    async fn resend_ended(
        &self,
        range: &ResendRange,
        deliveries: Vec<DeliveryId>,
        at: Timestamp,
    ) -> Result<u64, DirectoryError> {
        let these = range::These {
            company: range.company,
            began_at: range.began_at,
            deliveries,
            at,
        };
        let resent = self.write_and_wake(these, |session, these| {
            Box::pin(range::resend(session, these))
        });
        resent.await.map_err(of_many)
    }
}

/// Why several deliveries were not resent. None of them conflicts with another record: what was repeated in vain was
/// not done.
fn of_many(error: WriteError) -> DirectoryError {
    match error {
        WriteError::Conflict | WriteError::RolledBack => unavailable(error).into(),
        other => other.into(),
    }
}

async fn by_id(
    session: &mut dyn Session,
    id: DeliveryId,
    set_aside: &SetAside,
) -> Result<Option<Delivery>, Fault> {
    let mut query = Builder::new(SELECT);
    query.push("WHERE d.id = ");
    query.bind(id.as_uuid());
    let one = |rows: &[Row]| rows.iter().map(delivery).collect();
    let found = read(session, query, set_aside, one).await?;
    Ok(found.into_iter().next())
}

async fn read(
    session: &mut dyn Session,
    query: Builder<'_>,
    set_aside: &SetAside,
    decode: impl FnOnce(&[Row]) -> Result<Vec<Delivery>, Corrupt>,
) -> Result<Vec<Delivery>, Fault> {
    let rows = query.build().fetch_all(session).await?;
    let mut deliveries = decode(&rows)?;
    attempts::attach(session, &mut deliveries, set_aside).await?;
    Ok(deliveries)
}
