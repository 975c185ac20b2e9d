//! The children of a page's records: one statement per kind.
//!
//! `CROSS JOIN` makes SQLite begin with the page's own rows, which it finds by their ids. Otherwise it
//! might search an index by the head office of a row alone and read all rows of the head office, or read
//! the whole table of the children in its order. `+` makes it find the events of each row by that row's
//! id; otherwise it would read the events of the whole range for each row.

use crate::store::archive::{Gathering, Range};
use crate::store::error::Fault;

use super::super::{Query, Row, Session, query};

/// Finds the events of the rows of a table within a range of ids.
macro_rules! of_subjects {
    ($table:literal, $column:literal, $select:literal, $children:literal, $rest:literal) => {
        query(concat!(
            $select,
            " FROM ",
            $table,
            " s CROSS JOIN events v",
            $children,
            " WHERE s.id > $1 AND s.id <= $2 AND v.head_office_id = s.head_office_id
                AND v.",
            $column,
            " = +s.id AND v.",
            $column,
            " IS NOT NULL ",
            $rest
        ))
    };
}

/// One statement per kind of subject: finds their events within a range of ids.
macro_rules! within_range {
    ($range:expr, $select:literal, $children:literal, $rest:literal) => {
        match $range {
            Range::Operations(after, upto) => {
                of_subjects!("operations", "operation_id", $select, $children, $rest)
                    .bind(after)
                    .bind(upto)
            }
            Range::Orders(after, upto) => of_subjects!(
                "payment_orders",
                "payment_order_id",
                $select,
                $children,
                $rest
            )
            .bind(after)
            .bind(upto),
            Range::Nothing(after, upto) => query(concat!(
                $select,
                " FROM events v",
                $children,
                " WHERE v.id > $1 AND v.id <= $2
                    AND v.operation_id IS NULL AND v.payment_order_id IS NULL ",
                $rest
            ))
            .bind(after)
            .bind(upto),
        }
    };
}

/// Reads the events of every record within `range`.
pub(super) async fn events_of(session: &mut dyn Session, range: Range) -> Result<Gathering, Fault> {
    let mut gathering = Gathering::default();
    let attempts: Query<'_> = within_range!(
        range,
        "SELECT a.delivery_id, a.number, a.http_status, a.error IS NOT NULL AS has_error, a.trigger",
        " CROSS JOIN deliveries d CROSS JOIN attempts a",
        "AND d.event_id = v.id AND a.delivery_id = d.id"
    );
    gathering.attempts(&attempts.fetch_all(session).await?);
    let deliveries: Query<'_> = within_range!(
        range,
        "SELECT d.id, d.head_office_id, d.endpoint_id, d.event_id, d.event_type, d.status,
                d.attempts_made, d.next_trigger, d.leased_until,
                e.head_office_id AS endpoint_head_office_id,
                e.paused_at IS NOT NULL AS is_paused, e.deleted_at IS NOT NULL AS is_removed",
        " CROSS JOIN deliveries d CROSS JOIN endpoints e",
        "AND d.event_id = v.id AND e.id = d.endpoint_id"
    );
    gathering.deliveries(&deliveries.fetch_all(session).await?);
    let events: Query<'_> = within_range!(
        range,
        "SELECT v.id, coalesce(v.operation_id, v.payment_order_id, 0) AS owner, v.version, v.type,
                v.at, v.body",
        "",
        ""
    );
    gathering.events(&events.fetch_all(session).await?);
    Ok(gathering)
}

/// The extensions of the operations after one, up to another.
pub(super) async fn extensions_of(
    session: &mut dyn Session,
    after: i64,
    upto: i64,
) -> Result<Vec<Row>, Fault> {
    let rows = query(
        "SELECT x.operation_id, x.id, x.new_due_date, x.total_amount_cents, x.status
         FROM operations o CROSS JOIN extensions x
         WHERE o.id > $1 AND o.id <= $2 AND x.operation_id = o.id
         ORDER BY o.id, x.id",
    )
    .bind(after)
    .bind(upto)
    .fetch_all(session)
    .await?;
    Ok(rows)
}
