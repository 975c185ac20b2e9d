//! Lists of deliveries: of a head office, or over all of them.
//!
//! Only the ids are searched for; the rows of the page itself are read with what joins them.

use preauth_core::port::PageRequest;
use preauth_core::value::{CompanyId, EventType, Timestamp};

use crate::directory::{
    Delivery, DeliveryFilter, DeliveryStatus, DeliveryWait, OVERDUE_AFTER, Page,
};
use crate::store::error::Fault;
use crate::store::rows::clamped;
use crate::store::set_aside::SetAside;

use super::super::newest;
use super::super::planner::{plan_by_values, read_in_index_order};
use super::super::{Builder, Row, Session, sql};

/// The type that every offer has, which the index by types leaves out: an offer costs nothing there.
const COMMONEST: EventType = EventType::PreAuthorizationCreated;

/// In the same words on both databases.
const IS_NOT_REMOVED: &str = sql!(" AND " IS_NOT_REMOVED).sqlite;

/// Which deliveries a list has.
#[derive(Clone, Copy)]
pub(super) struct Which {
    pub(super) company: Option<CompanyId>,
    pub(super) filter: DeliveryFilter,
    pub(super) now: Timestamp,
}

/// How few rows are read beside those that are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The head office's index has their order.
    OfCompany,
    /// There are few about one operation.
    OfOperation,
    /// Most deliveries are listed, or more wait than a list has; and ids are in the order of their times.
    ById,
    /// A partial index has these alone, in the order of their times. The primary key has another order, so that it is not
    /// walked instead.
    ByTime,
    /// Those that wait are found by their endpoints, and sorted.
    ByEndpoint,
}

impl Which {
    fn way(self) -> Way {
        let DeliveryFilter {
            status,
            operation,
            wait,
            ..
        } = self.filter;
        if self.company.is_some() {
            return Way::OfCompany;
        }
        if operation.is_some() {
            return Way::OfOperation;
        }
        match (wait, status) {
            (Some(DeliveryWait::AfterFailure), _) | (None, Some(DeliveryStatus::Failed)) => {
                Way::ByTime
            }
            (Some(DeliveryWait::Overdue), _)
            | (None, Some(DeliveryStatus::Pending | DeliveryStatus::Paused)) => Way::ByEndpoint,
            (None, None | Some(DeliveryStatus::Delivered)) if self.is_by_type() => Way::ByTime,
            (None, None | Some(DeliveryStatus::Delivered)) => Way::ById,
        }
    }

    /// Whether nothing else leaves fewer deliveries than their type.
    fn is_by_type(self) -> bool {
        let DeliveryFilter {
            status,
            event_type,
            operation,
            wait,
        } = self.filter;
        let is_restricted = self.company.is_some()
            || operation.is_some()
            || wait.is_some()
            || status.is_some_and(|status| status != DeliveryStatus::Delivered);
        event_type.is_some_and(|event_type| event_type != COMMONEST) && !is_restricted
    }

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

impl Way {
    const fn order(self) -> &'static str {
        match self {
            Self::OfCompany | Self::ByTime => " ORDER BY d.created_at DESC, d.id DESC",
            Self::OfOperation | Self::ById | Self::ByEndpoint => " ORDER BY d.id DESC",
        }
    }
}

pub(super) async fn list(
    session: &mut dyn Session,
    which: Which,
    page: PageRequest,
    set_aside: &SetAside,
) -> Result<Page<Delivery>, Fault> {
    let mut way = which.way();
    plan_by_values(session).await?;
    if way == Way::ByTime {
        read_in_index_order(session).await?;
    }
    let counted = newest::count(session, which.company, |rows| from(rows, which, way)).await?;
    let Some((take, skip)) = newest::window(page, which.company) else {
        return Ok(counted.page(Vec::new()));
    };
    if way == Way::ByEndpoint && counted.is_cut {
        // Sorting all of them would cost the more the longer an outage lasts.
        way = Way::ById;
    }
    if way == Way::ById {
        read_in_index_order(session).await?;
    }
    let mut query = Builder::new("");
    if way == Way::ByEndpoint {
        // Apart from the order, for which the planner would walk through the ids of all deliveries.
        query.push("WITH waiting AS MATERIALIZED (SELECT d.id");
        from(&mut query, which, way);
        query.push(") ");
    }
    let select = format!("{}WHERE d.id", super::SELECT);
    newest::among(&mut query, session.dialect(), (&select, "d"), |ids| {
        if way == Way::ByEndpoint {
            ids.push("SELECT id FROM waiting ORDER BY id DESC");
        } else {
            ids.push("SELECT d.id");
            from(ids, which, way);
            ids.push(way.order());
        }
        ids.push(" LIMIT ").bind(take);
        ids.push(" OFFSET ").bind(clamped(skip));
    });
    query.push(way.order());
    let readable = |rows: &[Row]| Ok(set_aside.readable(rows, super::delivery));
    let items = super::read(session, query, set_aside, readable).await?;
    Ok(counted.page(items))
}

/// The deliveries of a list. Endpoints only where a condition needs them: one would be looked up for every delivery that
/// there is.
fn from(query: &mut Builder<'_>, which: Which, way: Way) {
    query.push(match way {
        Way::ByEndpoint => " FROM endpoints e JOIN deliveries d ON d.endpoint_id = e.id ",
        _ if which.names_endpoint() => {
            " FROM deliveries d JOIN endpoints e ON e.id = d.endpoint_id "
        }
        _ => " FROM deliveries d ",
    });
    restrict(query, which);
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
            query.push(" AND d.status = 'PENDING' AND d.attempts_made > 0");
            query.push(IS_NOT_REMOVED);
        }
        Some(DeliveryWait::Overdue) => {
            query.push(" AND d.status = 'PENDING' AND e.paused_at IS NULL");
            query.push(IS_NOT_REMOVED).push(" AND d.next_attempt_at < ");
            query.bind(now.saturating_sub(OVERDUE_AFTER).unix_millis());
        }
    }
    if let Some(event_type) = filter.event_type {
        if which.is_by_type() {
            // The words of the partial index, which would be read instead of one that leaves less.
            query.push(" AND d.event_type <> 'pre_authorization.created'");
        }
        query.push(" AND d.event_type = ").bind(event_type.as_str());
    }
    match filter.status {
        None => {}
        Some(DeliveryStatus::Pending) => {
            query.push(" AND d.status = 'PENDING' AND e.paused_at IS NULL");
            query.push(IS_NOT_REMOVED);
        }
        Some(DeliveryStatus::Paused) => {
            query.push(" AND d.status = 'PENDING' AND e.paused_at IS NOT NULL");
            query.push(IS_NOT_REMOVED);
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
