//! The history of deliveries.

mod attempts;
pub(in crate::store) mod lease;
mod range;
mod resend;

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{CompanyId, DeliveryId, Timestamp};

use crate::directory::{
    Deliveries, Delivery, DeliveryFilter, DeliveryStatus, DeliveryWait, DirectoryError, NEWEST,
    OVERDUE_AFTER, Page, ResendPlace, ResendRange, Resendable,
};
use crate::store::error::{Fault, unavailable};
use crate::store::rows::{Corrupt, clamped, delivery};
use crate::store::set_aside::SetAside;

use super::{Builder, Database, Row, Session, newest};

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
        let which = Which {
            company,
            filter,
            now,
        };
        let input = (which, page, Arc::clone(self.set_aside()));
        let listed = self.read_snapshot(&input, |session, (which, page, set_aside)| {
            Box::pin(list(session, *which, *page, set_aside))
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
    ) -> Result<u64, Unavailable> {
        let batch = resend::Batch {
            company,
            since,
            at,
            limit,
        };
        let resent = self.write_and_wake(batch, |session, batch| {
            Box::pin(resend::failed(session, batch))
        });
        resent.await.map_err(unavailable)
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
    ) -> Result<u64, Unavailable> {
        let these = range::These {
            company: range.company,
            began_at: range.began_at,
            deliveries,
            at,
        };
        let resent = self.write_and_wake(these, |session, these| {
            Box::pin(range::resend(session, these))
        });
        resent.await.map_err(unavailable)
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

async fn list(
    session: &mut dyn Session,
    which: Which,
    page: PageRequest,
    set_aside: &SetAside,
) -> Result<Page<Delivery>, Fault> {
    let total = total(session, which).await?;
    let Some((take, skip)) = newest::window(page, which.company) else {
        let items = Vec::new();
        return Ok(Page { items, total });
    };
    let mut query = Builder::new(SELECT);
    restrict(&mut query, which);
    // Ids are in the order of their times, and the primary key has that order over all companies.
    query.push(match which.company {
        Some(_) => " ORDER BY d.created_at DESC, d.id DESC LIMIT ",
        None => " ORDER BY d.id DESC LIMIT ",
    });
    query.bind(take).push(" OFFSET ");
    query.bind(clamped(skip));
    let readable = |rows: &[Row]| Ok(set_aside.readable(rows, delivery));
    let items = read(session, query, set_aside, readable).await?;
    Ok(Page { items, total })
}

/// How many deliveries a list has; over all companies counted up to [`NEWEST`].
async fn total(session: &mut dyn Session, which: Which) -> Result<u64, Fault> {
    let mut query = Builder::new("SELECT count(*) AS total FROM (SELECT 1 FROM deliveries d ");
    // Only where a condition needs it: it would be looked up for every delivery that there is.
    if which.names_endpoint() {
        query.push("JOIN endpoints e ON e.id = d.endpoint_id ");
    }
    restrict(&mut query, which);
    if which.company.is_none() {
        query.push(" LIMIT ");
        query.bind(NEWEST);
    }
    query.push(") AS found");
    Ok(query.build().total(session).await?)
}

/// Which deliveries a list has.
#[derive(Clone, Copy)]
struct Which {
    company: Option<CompanyId>,
    filter: DeliveryFilter,
    now: Timestamp,
}

impl Which {
    /// Whether a condition is about the endpoint.
    fn names_endpoint(self) -> bool {
        let Self {
            company, filter, ..
        } = self;
        filter.wait.is_some()
            || match filter.status {
                None | Some(DeliveryStatus::Delivered) => false,
                Some(DeliveryStatus::Failed) => company.is_some(),
                Some(DeliveryStatus::Pending | DeliveryStatus::Paused) => true,
            }
    }
}

fn restrict(query: &mut Builder<'_>, which: Which) {
    let Which {
        company,
        filter,
        now,
    } = which;
    query.push("WHERE 1 = 1");
    if let Some(company) = company {
        query.push(" AND d.head_office_id = ");
        query.bind(*company.as_uuid());
    }
    if let Some(operation) = filter.operation {
        query.push(
            " AND d.event_id IN (SELECT w.id FROM operations o
                 JOIN events w ON w.head_office_id = o.head_office_id AND w.operation_id = o.id
                 WHERE o.id = ",
        );
        query.bind(operation.get()).push(")");
    }
    match filter.wait {
        None => {}
        // The words of the partial index.
        Some(DeliveryWait::AfterFailure) => {
            query
                .push(" AND d.status = 'PENDING' AND d.attempts_made > 0 AND e.deleted_at IS NULL");
        }
        Some(DeliveryWait::Overdue) => {
            query.push(
                " AND d.status = 'PENDING' AND e.paused_at IS NULL AND e.deleted_at IS NULL
                  AND d.next_attempt_at < ",
            );
            query.bind(now.saturating_sub(OVERDUE_AFTER).unix_millis());
        }
    }
    if let Some(event_type) = filter.event_type {
        query.push(" AND d.event_type = ").bind(event_type.as_str());
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
        // Those of a removed endpoint are about to be settled, by the thousand; then they are found here.
        Some(DeliveryStatus::Failed) if company.is_none() => {
            query.push(" AND d.status = 'FAILED'");
        }
        Some(DeliveryStatus::Failed) => {
            query.push(
                " AND (d.status = 'FAILED' OR d.status = 'PENDING' AND e.deleted_at IS NOT NULL)",
            );
        }
    }
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
