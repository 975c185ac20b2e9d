//! Leases due deliveries, so that one endpoint's backlog does not delay another's.

use std::collections::HashMap;

use preauth_core::port::{Claim, Claimed, Leased};
use preauth_core::value::{DeliveryId, EndpointId, EventId, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};
use uuid::Uuid;

use super::super::waiting::waiting;
use crate::store::error::{WriteError, one_row_or};
use crate::store::rows::Corrupt;
use crate::store::set_aside::{LOOK_AGAIN, Unreadable};

use super::super::rows::Columns;

/// Maximum number of rounds in which one claim replaces unreadable deliveries.
const MAX_ROUNDS: u32 = 8;

type Secrets = HashMap<EndpointId, Vec<Vec<u8>>>;

/// Leases due deliveries, within the limits in all, per endpoint and for slow endpoints.
///
/// Unreadable deliveries are skipped and replaced by others.
pub(super) async fn claim(
    connection: &mut SqliteConnection,
    claim: &Claim,
) -> Result<(Claimed, Vec<Unreadable>), WriteError> {
    let (mut leased, mut unreadable) = (Vec::new(), Vec::new());
    let mut rest = claim.clone();
    for _ in 0..MAX_ROUNDS {
        let last_token = last_token(connection).await?;
        let taken = lease(connection, &rest, last_token).await?;
        if taken == 0 {
            // Without due deliveries nothing is written.
            break;
        }
        spend_tokens(connection, taken).await?;
        let secrets = secrets(connection, claim.now, last_token).await?;
        let rows = leases_after(connection, last_token).await?;
        let mut aside = Vec::new();
        for row in &rows {
            match self::leased(row, &secrets) {
                Ok(delivery) => {
                    rest.limit = rest.limit.saturating_sub(1);
                    if delivery.endpoint_is_slow {
                        rest.slow_limit = rest.slow_limit.saturating_sub(1);
                    }
                    leased.push(delivery);
                }
                Err(cause) => {
                    let id: Vec<u8> = row.try_get("id")?;
                    unreadable.push(Unreadable::new(hex::encode(&id), cause));
                    aside.push(id);
                }
            }
        }
        for id in &aside {
            put_aside(connection, id, claim.now).await?;
        }
        if aside.is_empty() || rest.limit == 0 {
            break;
        }
    }
    let full = full(connection, claim).await?;
    Ok((Claimed { leased, full }, unreadable))
}

/// Ends the lease of an unreadable delivery, and delays it until a build may be able to read it.
async fn put_aside(
    connection: &mut SqliteConnection,
    delivery: &[u8],
    now: Timestamp,
) -> Result<(), WriteError> {
    sqlx::query("UPDATE deliveries SET leased_until = NULL, next_attempt_at = ?2 WHERE id = ?1")
        .bind(delivery)
        .bind(now.saturating_add(LOOK_AGAIN).unix_millis())
        .execute(connection)
        .await?;
    Ok(())
}

/// The deliveries with leases after a token, with the data to send.
async fn leases_after(
    connection: &mut SqliteConnection,
    last_token: i64,
) -> Result<Vec<SqliteRow>, WriteError> {
    let rows = sqlx::query(
        "SELECT d.id, d.event_id, d.endpoint_id, d.lease_token, d.attempts_made, d.next_trigger,
                v.type, v.body, e.url, e.last_success_at, e.created_at, e.is_slow
         FROM deliveries d
         JOIN events v ON v.id = d.event_id
         JOIN endpoints e ON e.id = d.endpoint_id
         WHERE d.lease_token > ?1 AND d.leased_until IS NOT NULL
         ORDER BY d.lease_token",
    )
    .bind(last_token)
    .fetch_all(connection)
    .await?;
    Ok(rows)
}

/// The endpoints that have due deliveries but no room.
async fn full(
    connection: &mut SqliteConnection,
    claim: &Claim,
) -> Result<Vec<EndpointId>, WriteError> {
    let ids: Vec<Uuid> = sqlx::query_scalar(
        "WITH clock (now) AS MATERIALIZED (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)),
         under_way (endpoint_id, leases) AS MATERIALIZED (
             SELECT d.endpoint_id, count(*) FROM deliveries d
             WHERE d.leased_until IS NOT NULL AND d.leased_until > (SELECT now FROM clock)
             GROUP BY d.endpoint_id
         )
         SELECT e.id FROM under_way u CROSS JOIN endpoints e ON e.id = u.endpoint_id
         WHERE u.leases >= CASE WHEN e.is_slow THEN ?3
                                WHEN e.id IN (SELECT unhex(value) FROM json_each(?4)) THEN ?5
                                ELSE ?2 END
           AND e.paused_at IS NULL AND e.deleted_at IS NULL
           AND EXISTS (SELECT 1 FROM deliveries n
                       WHERE n.status = 'PENDING' AND n.endpoint_id = e.id
                         AND n.next_attempt_at <= ?1
                         AND (n.leased_until IS NULL
                              OR n.leased_until <= (SELECT now FROM clock)))",
    )
    .bind(claim.now.unix_millis())
    .bind(claim.per_endpoint.get())
    .bind(claim.per_slow_endpoint.get())
    .bind(answering(claim))
    .bind(claim.per_answering_endpoint.get())
    .fetch_all(connection)
    .await?;
    Ok(ids.into_iter().map(EndpointId::new).collect())
}

/// Leases the oldest due deliveries of each endpoint that has room, and returns their number;
/// tokens continue after `last_token`.
///
/// `waiting` goes from one endpoint with pending deliveries to the next by the index, so that the
/// work depends on the number of such endpoints and not on that of their deliveries.
async fn lease(
    connection: &mut SqliteConnection,
    claim: &Claim,
    last_token: i64,
) -> Result<u64, WriteError> {
    let done = sqlx::query(concat!(
        "WITH RECURSIVE
         clock (now) AS MATERIALIZED (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)), ",
        waiting!(),
        ",
         under_way (endpoint_id, leases) AS MATERIALIZED (
             SELECT d.endpoint_id, count(*) FROM deliveries d
             WHERE d.leased_until IS NOT NULL AND d.leased_until > (SELECT now FROM clock)
             GROUP BY d.endpoint_id
         ),
         candidates (id, next_attempt_at, is_slow, place, room) AS (
             SELECT d.id, d.next_attempt_at, e.is_slow,
                    row_number() OVER (PARTITION BY d.endpoint_id
                                       ORDER BY d.next_attempt_at, d.id),
                    CASE WHEN e.is_slow THEN ?7
                         WHEN e.id IN (SELECT unhex(value) FROM json_each(?8)) THEN ?9
                         ELSE ?3 END - coalesce((SELECT u.leases FROM under_way u
                                   WHERE u.endpoint_id = d.endpoint_id), 0)
             FROM waiting w
             JOIN endpoints e ON e.id = w.endpoint_id
             JOIN deliveries d ON d.id IN (
                 SELECT n.id FROM deliveries n
                 WHERE n.status = 'PENDING' AND n.endpoint_id = w.endpoint_id
                   AND n.next_attempt_at <= ?1
                   AND (n.leased_until IS NULL OR n.leased_until <= (SELECT now FROM clock))
                 ORDER BY n.next_attempt_at, n.id LIMIT iif(?8 = '[]', ?3, max(?3, ?9)))
             WHERE e.paused_at IS NULL AND e.deleted_at IS NULL
         ),
         -- Among those that are as slow as they are.
         turns (id, is_slow, turn) AS (
             SELECT id, is_slow,
                    row_number() OVER (PARTITION BY is_slow
                                       ORDER BY place - room, next_attempt_at, id)
             FROM candidates WHERE place <= room
         ),
         chosen (id, place) AS MATERIALIZED (
             SELECT id, row_number() OVER (ORDER BY is_slow, turn)
             FROM turns WHERE NOT is_slow OR turn <= ?6
             ORDER BY is_slow, turn LIMIT ?2
         )
         -- With FROM the planner may walk through the ids of all deliveries.
         UPDATE deliveries
         SET lease_token = ?4 + (SELECT c.place FROM chosen c WHERE c.id = deliveries.id),
             leased_until = (SELECT now FROM clock) + ?5
         WHERE id IN (SELECT id FROM chosen)"
    ))
    .bind(claim.now.unix_millis())
    .bind(claim.limit)
    .bind(claim.per_endpoint.get())
    .bind(last_token)
    .bind(claim.lease.num_milliseconds())
    .bind(claim.slow_limit)
    .bind(claim.per_slow_endpoint.get())
    .bind(answering(claim))
    .bind(claim.per_answering_endpoint.get())
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// The answering endpoints, as a JSON list.
fn answering(claim: &Claim) -> String {
    let ids = claim.answering.iter();
    let ids: Vec<_> = ids.map(|it| it.as_uuid().simple().to_string()).collect();
    serde_json::to_string(&ids).unwrap_or_default()
}

/// The last token is stored separately, because the janitor removes deliveries.
async fn last_token(connection: &mut SqliteConnection) -> Result<i64, WriteError> {
    let row = sqlx::query("SELECT last FROM sequences WHERE name = 'lease'")
        .fetch_one(connection)
        .await?;
    Ok(row.try_get(0)?)
}

async fn spend_tokens(connection: &mut SqliteConnection, taken: u64) -> Result<(), WriteError> {
    let done = sqlx::query("UPDATE sequences SET last = last + ?1 WHERE name = 'lease'")
        .bind(i64::try_from(taken).unwrap_or(i64::MAX))
        .execute(connection)
        .await?;
    one_row_or(done.rows_affected(), WriteError::Conflict)
}

/// The secrets in force of every endpoint with a new lease, newest first.
async fn secrets(
    connection: &mut SqliteConnection,
    now: Timestamp,
    last_token: i64,
) -> Result<Secrets, WriteError> {
    let rows = sqlx::query(
        "SELECT endpoint_id, sealed FROM endpoint_secrets
         WHERE endpoint_id IN (SELECT endpoint_id FROM deliveries
                               WHERE lease_token > ?1 AND leased_until IS NOT NULL)
           AND (valid_until IS NULL OR valid_until > ?2)
         ORDER BY endpoint_id, number DESC",
    )
    .bind(last_token)
    .bind(now.unix_millis())
    .fetch_all(connection)
    .await?;
    let mut secrets = Secrets::new();
    for row in &rows {
        let columns = Columns::of("endpoint_secrets", row);
        // Without its endpoint it cannot be assigned. A value that is not bytes will fail to
        // decrypt, so that nothing is sent with a signature missing.
        if let Ok(endpoint) = columns.uuid("endpoint_id") {
            let sealed = columns.raw("sealed").unwrap_or_default();
            let secrets = secrets.entry(EndpointId::new(endpoint)).or_default();
            secrets.push(sealed);
        }
    }
    Ok(secrets)
}

fn leased(row: &SqliteRow, secrets: &Secrets) -> Result<Leased, Corrupt> {
    let columns = Columns::of("deliveries", row);
    let endpoint = EndpointId::new(columns.uuid("endpoint_id")?);
    let registered_at = columns.timestamp("created_at")?;
    Ok(Leased {
        delivery: DeliveryId::new(columns.uuid("id")?),
        token: columns.raw("lease_token")?,
        event: EventId::new(columns.uuid("event_id")?),
        event_type: columns.raw("type")?,
        body: columns.raw("body")?,
        endpoint,
        url: columns.raw("url")?,
        sealed_secrets: secrets.get(&endpoint).cloned().unwrap_or_default(),
        attempts_made: columns.raw("attempts_made")?,
        endpoint_healthy_at: columns
            .optional_timestamp("last_success_at")?
            .unwrap_or(registered_at),
        endpoint_is_slow: columns.raw("is_slow")?,
        trigger: columns.parsed("next_trigger")?,
    })
}
