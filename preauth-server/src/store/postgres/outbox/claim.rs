//! Leases due deliveries, so that one endpoint's backlog does not delay another's.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use preauth_core::port::{Claim, Claimed, Leased};
use preauth_core::value::{DeliveryId, EndpointId, EventId, Timestamp};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use tokio::time::Instant;
use uuid::Uuid;

use crate::store::error::WriteError;
use crate::store::rows::Corrupt;
use crate::store::set_aside::{LOOK_AGAIN, Unreadable};

use super::super::rows::Columns;
use super::cursors::{Cursor, Look, queues};

/// Maximum number of rounds in which one claim replaces unreadable deliveries.
const MAX_ROUNDS: u32 = 8;

/// Begins a transaction in which leases are taken. They are durable before anything is sent: their holder
/// outlives a crash of the database, and nobody else may send meanwhile.
///
/// Instances take turns, so that together they keep to the limit of each endpoint. The lock's
/// number is arbitrary but the same in every instance. The lock is held briefly: nothing is sent
/// before the transaction has ended. It is not part of the statement that leases, because that
/// statement must see the leases of the instance before.
///
/// An instance that freezes or is disconnected within the transaction would keep the lock from all
/// others, so the database soon ends the transaction.
pub(super) const BEGIN: &str = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '2s';
     SELECT pg_advisory_xact_lock(8102650148849739777)";

/// Parameters: now, the limit in all, the limit per endpoint, the duration, the limit for slow
/// endpoints, and the limit per slow endpoint; then the queues to read (see `cursors`), the answering
/// endpoints, and the limit of each of these.
///
/// `waiting` goes from one endpoint with pending deliveries to the next by the index, so that the
/// work depends on the number of such endpoints and not on that of their deliveries; the limit in
/// `rooms` keeps the planner to that order. Rows that others have locked, to settle or resend them,
/// are left for the next poll. The last rows, without a delivery, are the endpoints that have due
/// deliveries but no room.
const LEASE: &str = concat!(
    "WITH RECURSIVE
     clock (now) AS MATERIALIZED (
         SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT
     ),",
    queues!("$7", "$8", "$9", "$10", "$11"),
    ",
     rooms (endpoint_id, is_slow, room, due_from, leased_from) AS MATERIALIZED (
         SELECT q.endpoint_id, e.is_slow,
                CASE WHEN e.is_slow THEN $6 WHEN q.endpoint_id = ANY ($12) THEN $13 ELSE $3 END
                    - l.leases,
                q.due_from, l.leased_from
         FROM queues q
         CROSS JOIN LATERAL (
             SELECT e.is_slow, e.paused_at, e.deleted_at FROM endpoints e
             WHERE e.id = q.endpoint_id LIMIT 1
         ) AS e
         CROSS JOIN LATERAL (
             SELECT count(*) AS leases, min(d.leased_until) AS leased_from FROM deliveries d
             WHERE d.endpoint_id = q.endpoint_id AND d.leased_until IS NOT NULL
               AND d.leased_until > greatest((SELECT now FROM clock), q.leased_from - 1)
         ) AS l
         WHERE e.paused_at IS NULL AND e.deleted_at IS NULL
     ),
     -- Among those that are as slow as they are.
     turns (id, is_slow, room, leased_from, turn) AS (
         SELECT n.id, r.is_slow, r.room, r.leased_from,
                row_number() OVER (PARTITION BY r.is_slow
                                   ORDER BY n.place - r.room, n.next_attempt_at, n.id)
         FROM rooms r
         CROSS JOIN LATERAL (
             SELECT d.id, d.next_attempt_at,
                    row_number() OVER (ORDER BY d.next_attempt_at, d.id) AS place
             FROM deliveries d
             WHERE d.status = 'PENDING' AND d.endpoint_id = r.endpoint_id
               AND d.next_attempt_at >= r.due_from AND d.next_attempt_at <= $1
               AND (d.leased_until IS NULL OR d.leased_until <= (SELECT now FROM clock))
             ORDER BY d.next_attempt_at, d.id LIMIT greatest(r.room, 0)
         ) AS n
     ),
     chosen (id, is_slow, room, leased_from, turn) AS MATERIALIZED (
         SELECT t.id, t.is_slow, t.room, t.leased_from, t.turn FROM turns t
         WHERE NOT t.is_slow OR t.turn <= $5
         ORDER BY t.is_slow, t.turn LIMIT $2
     ),
     -- Only what is pending has a next attempt. Asked for its status, the planner might read the
     -- index of what is pending from end to end.
     locked (id, is_slow, room, leased_from, turn) AS MATERIALIZED (
         SELECT d.id, c.is_slow, c.room, c.leased_from, c.turn
         FROM chosen c JOIN deliveries d ON d.id = ANY (ARRAY[c.id])
         WHERE d.next_attempt_at <= $1
           AND (d.leased_until IS NULL OR d.leased_until <= (SELECT now FROM clock))
         FOR UPDATE OF d SKIP LOCKED
     ),
     numbered (id, room, leased_from, token) AS MATERIALIZED (
         SELECT o.id, o.room, o.leased_from, nextval('lease_tokens')
         FROM (SELECT id, room, leased_from FROM locked ORDER BY is_slow, turn) AS o
     ),
     leased AS (
         UPDATE deliveries d
         SET lease_token = n.token, leased_until = (SELECT now FROM clock) + $4
         FROM numbered n WHERE d.id = ANY (ARRAY[n.id])
         RETURNING d.id, d.event_id, d.endpoint_id, d.lease_token, d.attempts_made,
                   d.next_trigger, d.next_attempt_at, n.room,
                   coalesce(n.leased_from, d.leased_until) AS leased_from
     )
     SELECT l.id, l.event_id, l.endpoint_id, l.lease_token, l.attempts_made, l.next_trigger,
            l.next_attempt_at, l.leased_from, l.taken >= l.room AS is_full,
            v.type, v.body, e.url, e.last_success_at, e.created_at, e.is_slow,
            ARRAY(SELECT s.sealed FROM endpoint_secrets s
                  WHERE s.endpoint_id = e.id AND (s.valid_until IS NULL OR s.valid_until > $1)
                  ORDER BY s.number DESC) AS sealed_secrets
     FROM (SELECT *, count(*) OVER (PARTITION BY endpoint_id) AS taken FROM leased) AS l
     JOIN events v ON v.id = ANY (ARRAY[l.event_id])
     JOIN endpoints e ON e.id = ANY (ARRAY[l.endpoint_id])
     UNION ALL
     SELECT NULL, NULL, r.endpoint_id, NULL, NULL, NULL, NULL, NULL, TRUE,
            NULL, NULL, NULL, NULL, NULL, NULL, NULL
     FROM rooms r
     CROSS JOIN LATERAL (
         SELECT d.id FROM deliveries d
         WHERE d.status = 'PENDING' AND d.endpoint_id = r.endpoint_id
           AND d.next_attempt_at >= r.due_from AND d.next_attempt_at <= $1
           AND (d.leased_until IS NULL OR d.leased_until <= (SELECT now FROM clock))
         ORDER BY d.next_attempt_at, d.id LIMIT 1
     ) AS n
     WHERE r.room <= 0
     ORDER BY lease_token"
);

/// The leased deliveries, and the queue fronts of the endpoints that had any.
pub(super) struct Found {
    pub(super) claimed: Claimed,
    pub(super) unreadable: Vec<Unreadable>,
    pub(super) cursors: Vec<(Uuid, Cursor)>,
    pub(super) took: Duration,
}

/// Leases due deliveries, within the limits in all, per endpoint and for slow endpoints; in the
/// order of their tokens. The transaction must have begun with [`BEGIN`].
///
/// Unreadable deliveries are skipped and replaced by others.
pub(super) async fn claim(
    connection: &mut PgConnection,
    (claim, look): &(Claim, Look),
) -> Result<Found, WriteError> {
    let (mut claimed, mut unreadable) = (Claimed::default(), Vec::new());
    let (mut cursors, mut took) = (BTreeMap::new(), Duration::ZERO);
    let mut rest = claim.clone();
    for _ in 0..MAX_ROUNDS {
        let began = Instant::now();
        let mut rows = lease(connection, &rest, look).await?;
        took = took.saturating_add(began.elapsed());
        claimed.full = full(&rows)?;
        rows.retain(is_leased);
        note_cursors(&rows, &mut cursors)?;
        let mut aside = Vec::new();
        for row in &rows {
            match leased(row) {
                Ok(delivery) => {
                    rest.limit = rest.limit.saturating_sub(1);
                    if delivery.endpoint_is_slow {
                        rest.slow_limit = rest.slow_limit.saturating_sub(1);
                    }
                    claimed.leased.push(delivery);
                }
                Err(cause) => {
                    let id: Uuid = row.try_get("id")?;
                    unreadable.push(Unreadable::new(id, cause));
                    aside.push(id);
                }
            }
        }
        if aside.is_empty() {
            break;
        }
        put_aside(connection, &aside, claim.now).await?;
        if rest.limit == 0 {
            break;
        }
    }
    Ok(Found {
        claimed,
        unreadable,
        cursors: cursors.into_iter().collect(),
        took,
    })
}

/// Ends the leases of unreadable deliveries, and delays them until a build may be able to read
/// them.
async fn put_aside(
    connection: &mut PgConnection,
    deliveries: &[Uuid],
    now: Timestamp,
) -> Result<(), WriteError> {
    sqlx::query(
        "UPDATE deliveries SET leased_until = NULL, next_attempt_at = $2 WHERE id = ANY($1)",
    )
    .bind(deliveries)
    .bind(now.saturating_add(LOOK_AGAIN).unix_millis())
    .execute(connection)
    .await?;
    Ok(())
}

async fn lease(
    connection: &mut PgConnection,
    claim: &Claim,
    look: &Look,
) -> Result<Vec<PgRow>, WriteError> {
    let answering: Vec<Uuid> = claim.answering.iter().map(|it| *it.as_uuid()).collect();
    let rows = sqlx::query(LEASE)
        .bind(claim.now.unix_millis())
        .bind(i64::from(claim.limit))
        .bind(i64::from(claim.per_endpoint.get()))
        .bind(claim.lease.num_milliseconds())
        .bind(i64::from(claim.slow_limit))
        .bind(i64::from(claim.per_slow_endpoint.get()))
        .bind(&look.after)
        .bind(&look.before)
        .bind(&look.endpoints)
        .bind(&look.due_from)
        .bind(&look.leased_from)
        .bind(answering)
        .bind(i64::from(claim.per_answering_endpoint.get()))
        .fetch_all(connection)
        .await?;
    Ok(rows)
}

/// The endpoints that have no room for further deliveries.
fn full(rows: &[PgRow]) -> Result<Vec<EndpointId>, WriteError> {
    let mut ids = BTreeSet::new();
    for row in rows {
        if row.try_get("is_full")? {
            ids.insert(row.try_get("endpoint_id")?);
        }
    }
    Ok(ids.into_iter().map(EndpointId::new).collect())
}

fn is_leased(row: &PgRow) -> bool {
    row.try_get::<Option<Uuid>, _>("id")
        .is_ok_and(|id| id.is_some())
}

/// Records the earliest delivery that was found for each endpoint.
fn note_cursors(rows: &[PgRow], cursors: &mut BTreeMap<Uuid, Cursor>) -> Result<(), WriteError> {
    for row in rows {
        let found = Cursor {
            due_from: row.try_get("next_attempt_at")?,
            leased_from: row.try_get("leased_from")?,
        };
        let cursor = cursors.entry(row.try_get("endpoint_id")?).or_insert(found);
        cursor.due_from = cursor.due_from.min(found.due_from);
        cursor.leased_from = cursor.leased_from.min(found.leased_from);
    }
    Ok(())
}

fn leased(row: &PgRow) -> Result<Leased, Corrupt> {
    let columns = Columns::of("deliveries", row);
    let registered_at = columns.timestamp("created_at")?;
    Ok(Leased {
        delivery: DeliveryId::new(columns.uuid("id")?),
        token: columns.raw("lease_token")?,
        event: EventId::new(columns.uuid("event_id")?),
        event_type: columns.raw("type")?,
        body: columns.raw("body")?,
        endpoint: EndpointId::new(columns.uuid("endpoint_id")?),
        url: columns.raw("url")?,
        sealed_secrets: row
            .try_get("sealed_secrets")
            .map_err(|_| columns.corrupt("sealed_secrets"))?,
        attempts_made: columns.raw("attempts_made")?,
        endpoint_healthy_at: columns
            .optional_timestamp("last_success_at")?
            .unwrap_or(registered_at),
        endpoint_is_slow: columns.raw("is_slow")?,
        trigger: columns.parsed("next_trigger")?,
    })
}
