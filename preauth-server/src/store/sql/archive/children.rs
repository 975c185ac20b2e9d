//! The children of a page's records: one statement per kind.

use crate::store::archive::{Gathering, Owner, Range};
use crate::store::error::Fault;

use super::super::{Query, Row, Session, query};

/// One statement per owner: finds its events within a range by their index.
macro_rules! within_range {
    ($owner:expr, $select:literal, $order:literal) => {
        match $owner {
            Owner::Operation => concat!(
                $select,
                " WHERE v.operation_id IS NOT NULL
                    AND (v.head_office_id, v.operation_id) > ($1, $2)
                    AND (v.head_office_id, v.operation_id) <= ($3, $4) ",
                $order
            ),
            Owner::Order => concat!(
                $select,
                " WHERE v.payment_order_id IS NOT NULL
                    AND (v.head_office_id, v.payment_order_id) > ($1, $2)
                    AND (v.head_office_id, v.payment_order_id) <= ($3, $4) ",
                $order
            ),
            Owner::Nothing => concat!(
                $select,
                " WHERE v.operation_id IS NULL AND v.payment_order_id IS NULL
                    AND (v.id, 0) > ($1, $2) AND (v.id, 0) <= ($3, $4) ",
                $order
            ),
        }
    };
}

/// Reads the events of every record within `range`.
pub(super) async fn events_of(
    session: &mut dyn Session,
    owner: Owner,
    range: Range,
) -> Result<Gathering, Fault> {
    let mut gathering = Gathering::default();
    let attempts = within_range!(
        owner,
        "SELECT a.delivery_id, a.number, a.http_status, a.error IS NOT NULL AS has_error, a.trigger
         FROM events v
         JOIN deliveries d ON d.event_id = v.id
         JOIN attempts a ON a.delivery_id = d.id",
        "ORDER BY a.delivery_id, a.number"
    );
    gathering.attempts(&within(attempts, range).fetch_all(session).await?)?;
    let deliveries = within_range!(
        owner,
        "SELECT d.id, d.head_office_id, d.endpoint_id, d.event_id, d.event_type, d.status,
                d.attempts_made, d.next_trigger, d.leased_until,
                e.head_office_id AS endpoint_head_office_id,
                e.paused_at IS NOT NULL AS is_paused, e.deleted_at IS NOT NULL AS is_removed
         FROM events v
         JOIN deliveries d ON d.event_id = v.id
         JOIN endpoints e ON e.id = d.endpoint_id",
        "ORDER BY d.event_id, d.id"
    );
    gathering.deliveries(&within(deliveries, range).fetch_all(session).await?)?;
    let events = within_range!(
        owner,
        "SELECT v.id, coalesce(v.operation_id, v.payment_order_id, 0) AS owner, v.version, v.type,
                v.at, v.body
         FROM events v",
        "ORDER BY v.head_office_id, owner, v.version, v.id"
    );
    gathering.events(&within(events, range).fetch_all(session).await?)?;
    Ok(gathering)
}

/// The extensions of the operations within `range`.
pub(super) async fn extensions_of(
    session: &mut dyn Session,
    range: Range,
) -> Result<Vec<Row>, Fault> {
    let rows = query(
        "SELECT x.operation_id, x.id, x.new_due_date, x.total_amount_cents, x.status
         FROM operations o
         JOIN extensions x ON x.operation_id = o.id
         WHERE (o.head_office_id, o.id) > ($1, $2) AND (o.head_office_id, o.id) <= ($3, $4)
         ORDER BY x.operation_id, x.id",
    )
    .bind(range.after.0)
    .bind(range.after.1)
    .bind(range.upto.0)
    .bind(range.upto.1)
    .fetch_all(session)
    .await?;
    Ok(rows)
}

fn within(statement: &'static str, range: Range) -> Query<'static> {
    query(statement)
        .bind(range.after.0)
        .bind(range.after.1)
        .bind(range.upto.0)
        .bind(range.upto.1)
}
