//! The deliveries of a commit, and the leases of those whose endpoints have room.

use preauth_core::port::{Commit, Leased, NewDelivery, Room};
use preauth_core::value::{EndpointId, Timestamp};
use sqlx::{Row, SqliteConnection};

use crate::store::addressee::Addressee;
use crate::store::error::WriteError;

use super::super::rows::Columns;

/// The deliveries that a commit wrote.
#[derive(Default)]
pub(in super::super) struct InsertedDeliveries {
    handed: Vec<(Box<dyn Room>, Leased)>,
    /// Whether any of them waits for a claim.
    waits: bool,
}

impl InsertedDeliveries {
    /// Hands the leased deliveries over; returns whether any waits for a claim.
    pub(in super::super) fn hand_over(&mut self) -> bool {
        for (room, leased) in self.handed.drain(..) {
            room.take(leased);
        }
        self.waits
    }
}

/// Adds a delivery to each endpoint, due now; a deleted endpoint gets none.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    commit: &Commit,
) -> Result<InsertedDeliveries, WriteError> {
    let mut inserted = InsertedDeliveries::default();
    for delivery in &commit.deliveries {
        if let Some(room) = commit.intake.reserve(delivery.endpoint)
            && let Some(endpoint) = ready(
                connection,
                delivery.endpoint,
                commit.event.at.max(room.now()),
            )
            .await?
        {
            let token = next_token(connection).await?;
            let lease = (token, room.lease().num_milliseconds());
            add(connection, delivery, commit, Some(lease)).await?;
            let leased = endpoint.leased(commit, delivery, token);
            inserted.handed.push((room, leased));
        } else {
            add(connection, delivery, commit, None).await?;
            inserted.waits = true;
        }
    }
    Ok(inserted)
}

/// Adds a delivery, under a lease with this token and duration in milliseconds.
async fn add(
    connection: &mut SqliteConnection,
    delivery: &NewDelivery,
    commit: &Commit,
    lease: Option<(i64, i64)>,
) -> Result<(), WriteError> {
    let event = &commit.event;
    sqlx::query(
        "INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
             next_attempt_at, created_at, lease_token, leased_until)
         SELECT ?1, e.head_office_id, e.id, ?3, ?4, 'PENDING', ?5, ?5, coalesce(?6, 0),
             CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?7
         FROM endpoints e WHERE e.id = ?2 AND e.deleted_at IS NULL",
    )
    .bind(delivery.id.as_uuid().as_bytes().as_slice())
    .bind(delivery.endpoint.as_uuid().as_bytes().as_slice())
    .bind(event.id.as_uuid().as_bytes().as_slice())
    .bind(event.event_type.as_str())
    .bind(event.at.unix_millis())
    .bind(lease.map(|lease| lease.0))
    .bind(lease.map(|lease| lease.1))
    .execute(connection)
    .await?;
    Ok(())
}

/// The endpoint with its secrets in force `now`, unless it is deleted, paused, slow or unreadable: then the
/// delivery waits for a claim.
async fn ready(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
    now: Timestamp,
) -> Result<Option<Addressee>, WriteError> {
    let rows = sqlx::query(
        "SELECT e.url, coalesce(e.last_success_at, e.created_at) AS healthy_at, s.sealed
         FROM endpoints e LEFT JOIN endpoint_secrets s
             ON s.endpoint_id = e.id AND (s.valid_until IS NULL OR s.valid_until > ?2)
         WHERE e.id = ?1 AND e.deleted_at IS NULL AND e.paused_at IS NULL AND NOT e.is_slow
         ORDER BY s.number DESC",
    )
    .bind(endpoint.as_uuid().as_bytes().as_slice())
    .bind(now.unix_millis())
    .fetch_all(connection)
    .await?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let columns = Columns::of("endpoints", first);
    let secrets: Result<_, _> = rows.iter().map(|row| row.try_get("sealed")).collect();
    let (Ok(url), Ok(healthy_at), Ok(sealed_secrets)) =
        (columns.raw("url"), columns.timestamp("healthy_at"), secrets)
    else {
        return Ok(None);
    };
    Ok(Some(Addressee {
        url,
        sealed_secrets,
        healthy_at,
    }))
}

/// The last token is stored separately, because the janitor removes deliveries.
async fn next_token(connection: &mut SqliteConnection) -> Result<i64, WriteError> {
    let row =
        sqlx::query("UPDATE sequences SET last = last + 1 WHERE name = 'lease' RETURNING last")
            .fetch_one(connection)
            .await?;
    Ok(row.try_get(0)?)
}
