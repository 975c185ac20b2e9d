//! The events of a page with their deliveries and attempts: three statements for all of them.

use preauth_core::port::{
    DeliveryStatus, EndpointState, StoredAttempt, StoredDelivery, StoredEndpoint, StoredEvent,
};
use preauth_core::value::{CompanyId, DeliveryId, EndpointId, EventId, Version};
use sqlx::PgConnection;
use sqlx::postgres::{PgArguments, PgRow};

use crate::store::archive::Gathering;

use super::super::error::Fault;
use super::super::rows::Columns;
use super::pages::{Place, readable};

/// What events tell of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Operation,
    Order,
    Nothing,
}

/// A page in the order of head offices and numbers; of events that tell of nothing, in that of
/// their own ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) after: Place,
    pub(super) upto: Place,
}

/// A statement for each owner: what the index on its events finds within a range.
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

/// Reads the events of everything within `range`.
pub(super) async fn events_of(
    connection: &mut PgConnection,
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
    for row in &within(attempts, range).fetch_all(&mut *connection).await? {
        let delivery = Columns::of("attempts", row).uuid("delivery_id")?;
        gathering.attempt(DeliveryId::new(delivery), readable(attempt(row))?);
    }
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
    for row in &within(deliveries, range)
        .fetch_all(&mut *connection)
        .await?
    {
        let columns = Columns::of("deliveries", row);
        let event = EventId::new(columns.uuid("event_id")?);
        let id = DeliveryId::new(columns.uuid("id")?);
        gathering.delivery(event, id, readable(delivery(row))?);
    }
    let events = within_range!(
        owner,
        "SELECT v.id, coalesce(v.operation_id, v.payment_order_id, 0) AS owner, v.version, v.type,
                v.at, v.body
         FROM events v",
        "ORDER BY v.head_office_id, owner, v.version, v.id"
    );
    for row in &within(events, range).fetch_all(&mut *connection).await? {
        let columns = Columns::of("events", row);
        let id = EventId::new(columns.uuid("id")?);
        gathering.event(columns.raw("owner")?, id, readable(event(row))?);
    }
    Ok(gathering)
}

fn within(
    statement: &'static str,
    range: Range,
) -> sqlx::query::Query<'static, sqlx::Postgres, PgArguments> {
    sqlx::query(statement)
        .bind(range.after.0)
        .bind(range.after.1)
        .bind(range.upto.0)
        .bind(range.upto.1)
}

fn attempt(row: &PgRow) -> Result<StoredAttempt, Fault> {
    let columns = Columns::of("attempts", row);
    Ok(StoredAttempt {
        number: columns.raw("number")?,
        http_status: columns.optional_whole("http_status")?,
        has_error: columns.raw("has_error")?,
        trigger: columns.trigger("trigger")?,
    })
}

fn delivery(row: &PgRow) -> Result<StoredDelivery, Fault> {
    let columns = Columns::of("deliveries", row);
    let state = match (columns.raw("is_removed")?, columns.raw("is_paused")?) {
        (true, _) => EndpointState::Removed,
        (false, true) => EndpointState::Paused,
        (false, false) => EndpointState::Active,
    };
    Ok(StoredDelivery {
        id: DeliveryId::new(columns.uuid("id")?),
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        endpoint: StoredEndpoint {
            id: EndpointId::new(columns.uuid("endpoint_id")?),
            head_office: CompanyId::new(columns.uuid("endpoint_head_office_id")?),
            state,
        },
        event_type: columns.parsed("event_type")?,
        status: match columns.raw("status")? {
            "PENDING" => DeliveryStatus::Pending,
            "DELIVERED" => DeliveryStatus::Delivered,
            "FAILED" => DeliveryStatus::Failed,
            _ => return Err(columns.corrupt("status")),
        },
        attempts_made: columns.whole("attempts_made")?,
        next_trigger: columns.trigger("next_trigger")?,
        leased_until: columns.optional_timestamp("leased_until")?,
        attempts: Vec::new(),
    })
}

fn event(row: &PgRow) -> Result<StoredEvent, Fault> {
    let columns = Columns::of("events", row);
    let version: Option<i64> = columns.raw("version")?;
    Ok(StoredEvent {
        id: EventId::new(columns.uuid("id")?),
        version: version.and_then(Version::new),
        event_type: columns.parsed("type")?,
        at: columns.timestamp("at")?,
        body: columns.raw("body")?,
        deliveries: Vec::new(),
    })
}
