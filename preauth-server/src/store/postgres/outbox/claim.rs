//! Leasing what is due, without one endpoint's backlog standing before another's.

use std::collections::HashMap;

use preauth_core::port::{Claim, Leased};
use preauth_core::value::{DeliveryId, EndpointId, EventId, Timestamp};
use sqlx::PgConnection;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::super::error::{Fault, WriteError};
use super::super::rows::Columns;

type Secrets = HashMap<EndpointId, Vec<Vec<u8>>>;

/// The advisory lock under which leases are taken: any number, the same in every instance.
const CLAIMING: i64 = 0x7072_6561_7574_6801;

/// Leases what is due, at most so many in all, to each endpoint and to slow ones.
///
/// Instances take turns, so that together they keep to the limit of each endpoint. That is short:
/// nothing is sent before the transaction has ended.
pub(super) async fn claim(
    connection: &mut PgConnection,
    claim: &Claim,
) -> Result<Vec<Leased>, WriteError> {
    // In a statement of its own: the next one sees the leases that the instance before took.
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(CLAIMING)
        .execute(&mut *connection)
        .await?;
    let rows = lease(connection, claim).await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut endpoints = Vec::with_capacity(rows.len());
    for row in &rows {
        endpoints.push(Columns::of("deliveries", row).uuid("endpoint_id")?);
    }
    let secrets = secrets(connection, claim.now, &endpoints).await?;
    let leased: Result<Vec<Leased>, Fault> = rows.iter().map(|row| leased(row, &secrets)).collect();
    Ok(leased?)
}

/// Takes: now, how many, how many to one endpoint, for how long, how many to slow ones.
///
/// `waiting` goes from one endpoint with pending deliveries to the next by the index, so that the
/// work depends on how many endpoints wait and not on how much waits for them. What somebody else
/// has locked at this moment, to end it or to send it again, is left for the next time.
const LEASE: &str = "WITH RECURSIVE
     clock (now) AS MATERIALIZED (
         SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT
     ),
     waiting (endpoint_id) AS (
         (SELECT endpoint_id FROM deliveries WHERE status = 'PENDING'
          ORDER BY endpoint_id LIMIT 1)
         UNION ALL
         SELECT (SELECT d.endpoint_id FROM deliveries d
                 WHERE d.status = 'PENDING' AND d.endpoint_id > w.endpoint_id
                 ORDER BY d.endpoint_id LIMIT 1)
         FROM waiting w WHERE w.endpoint_id IS NOT NULL
     ),
     rooms (endpoint_id, is_slow, room) AS (
         SELECT e.id, e.is_slow, $3 - (SELECT count(*) FROM deliveries d
                            WHERE d.endpoint_id = e.id AND d.leased_until IS NOT NULL
                              AND d.leased_until > (SELECT now FROM clock))
         FROM waiting w JOIN endpoints e ON e.id = w.endpoint_id
         WHERE e.paused_at IS NULL AND e.deleted_at IS NULL
     ),
     -- Among those that are as slow as they are.
     turns (id, is_slow, turn) AS (
         SELECT n.id, r.is_slow,
                row_number() OVER (PARTITION BY r.is_slow
                                   ORDER BY n.place - r.room, n.next_attempt_at, n.id)
         FROM rooms r
         CROSS JOIN LATERAL (
             SELECT d.id, d.next_attempt_at,
                    row_number() OVER (ORDER BY d.next_attempt_at, d.id) AS place
             FROM deliveries d
             WHERE d.status = 'PENDING' AND d.endpoint_id = r.endpoint_id
               AND d.next_attempt_at <= $1
               AND (d.leased_until IS NULL OR d.leased_until <= (SELECT now FROM clock))
             ORDER BY d.next_attempt_at, d.id LIMIT greatest(r.room, 0)
         ) AS n
     ),
     chosen (id, is_slow, turn) AS MATERIALIZED (
         SELECT t.id, t.is_slow, t.turn FROM turns t
         WHERE NOT t.is_slow OR t.turn <= $5
         ORDER BY t.is_slow, t.turn LIMIT $2
     ),
     locked (id) AS MATERIALIZED (
         SELECT d.id FROM deliveries d
         WHERE d.id IN (SELECT id FROM chosen) AND d.status = 'PENDING'
           AND d.next_attempt_at <= $1
           AND (d.leased_until IS NULL OR d.leased_until <= (SELECT now FROM clock))
         FOR UPDATE SKIP LOCKED
     ),
     numbered (id, token) AS MATERIALIZED (
         SELECT o.id, nextval('lease_tokens')
         FROM (SELECT l.id FROM locked l JOIN chosen c ON c.id = l.id
               ORDER BY c.is_slow, c.turn) AS o
     ),
     leased AS (
         UPDATE deliveries d
         SET lease_token = n.token, leased_until = (SELECT now FROM clock) + $4
         FROM numbered n WHERE d.id = n.id
         RETURNING d.id, d.event_id, d.endpoint_id, d.lease_token, d.attempts_made,
                   d.next_trigger
     )
     SELECT l.id, l.event_id, l.endpoint_id, l.lease_token, l.attempts_made, l.next_trigger,
            v.type, v.body, e.url, e.last_success_at, e.created_at, e.is_slow
     FROM leased l
     JOIN events v ON v.id = l.event_id
     JOIN endpoints e ON e.id = l.endpoint_id
     ORDER BY l.lease_token";

/// Marks the oldest due deliveries of each endpoint that has room, and reads them, in the order of
/// their tokens.
async fn lease(connection: &mut PgConnection, claim: &Claim) -> Result<Vec<PgRow>, WriteError> {
    let rows = sqlx::query(LEASE)
        .bind(claim.now.unix_millis())
        .bind(i64::from(claim.limit))
        .bind(i64::from(claim.per_endpoint.get()))
        .bind(claim.lease.num_milliseconds())
        .bind(i64::from(claim.slow_limit))
        .fetch_all(connection)
        .await?;
    Ok(rows)
}

/// The secrets in force of every endpoint that a lease was taken on, newest first.
async fn secrets(
    connection: &mut PgConnection,
    now: Timestamp,
    endpoints: &[Uuid],
) -> Result<Secrets, WriteError> {
    let rows = sqlx::query(
        "SELECT endpoint_id, sealed FROM endpoint_secrets
         WHERE endpoint_id = ANY($1) AND (valid_until IS NULL OR valid_until > $2)
         ORDER BY endpoint_id, number DESC",
    )
    .bind(endpoints)
    .bind(now.unix_millis())
    .fetch_all(connection)
    .await?;
    let mut secrets = Secrets::new();
    for row in &rows {
        let columns = Columns::of("endpoint_secrets", row);
        let endpoint = EndpointId::new(columns.uuid("endpoint_id")?);
        let sealed = columns.raw("sealed")?;
        secrets.entry(endpoint).or_default().push(sealed);
    }
    Ok(secrets)
}

fn leased(row: &PgRow, secrets: &Secrets) -> Result<Leased, Fault> {
    let columns = Columns::of("deliveries", row);
    let endpoint = EndpointId::new(columns.uuid("endpoint_id")?);
    let registered_at = columns.timestamp("created_at")?;
    Ok(Leased {
        delivery: DeliveryId::new(columns.uuid("id")?),
        token: columns.raw("lease_token")?,
        event: EventId::new(columns.uuid("event_id")?),
        event_type: columns.parsed("type")?,
        body: columns.raw("body")?,
        endpoint,
        url: columns.raw("url")?,
        sealed_secrets: secrets.get(&endpoint).cloned().unwrap_or_default(),
        attempts_made: columns.raw("attempts_made")?,
        endpoint_healthy_at: columns
            .optional_timestamp("last_success_at")?
            .unwrap_or(registered_at),
        endpoint_is_slow: columns.raw("is_slow")?,
        trigger: columns.trigger("next_trigger")?,
    })
}
