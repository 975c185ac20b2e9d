//! Records the attempts of many deliveries by one statement.

use std::sync::Arc;

use preauth_core::port::AttemptError;
use preauth_core::value::Timestamp;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::super::held::Recorded;
use super::super::statement::{Rows, Statement, rows};
use crate::store::finished::Finished;

rows! {
    /// One attempt under its lease, and its consequences.
    Outcome, Outcomes as "outcome" {
        n: i32,
        delivery_id: Uuid,
        token: i64,
        endpoint_id: Uuid,
        status: &'a str,
        retry_at: Option<i64>,
        pauses: bool,
        is_slow: Option<bool>,
        at: i64,
        duration_ms: i64,
        http_status: Option<i64>,
        error: Option<&'a str>,
        response_body: &'a [u8],
        trigger: &'a str,
    }
}

/// Records each attempt of `group` whose lease is still the delivery's newest; returns the outcomes
/// in their order. Waits for rows that others have locked, unless they are to be skipped.
pub(super) async fn record(
    connection: &mut PgConnection,
    group: &[Arc<Finished>],
    leave_out: bool,
) -> Result<Vec<Recorded>, sqlx::Error> {
    let mut outcomes = Outcomes::default();
    for (n, finished) in (0_i32..).zip(group) {
        outcomes.add(n, finished);
    }
    execute(connection, outcomes, group.len(), leave_out).await
}

/// Records the attempts of `callers` deliveries that do not exist, so nothing is written.
pub(in super::super) async fn warm_up(
    connection: &mut PgConnection,
    callers: usize,
) -> Result<(), sqlx::Error> {
    let mut outcomes = Outcomes::default();
    for n in (0..).take(callers) {
        outcomes.add_blank(n);
    }
    execute(connection, outcomes, callers, false)
        .await
        .map(drop)
}

async fn execute(
    connection: &mut PgConnection,
    outcomes: Outcomes<'_>,
    callers: usize,
    leave_out: bool,
) -> Result<Vec<Recorded>, sqlx::Error> {
    let mut statement = Statement::of(callers);
    outcomes.write(&mut statement, leave_out);
    let rows = statement.answer("SELECT n, FALSE FROM done UNION ALL SELECT n, TRUE FROM held");
    let mut recorded = vec![Recorded::LeaseLost; callers];
    for row in rows.fetch_all(connection).await? {
        let n: i32 = row.try_get(0)?;
        let place = usize::try_from(n).ok().and_then(|n| recorded.get_mut(n));
        if let Some(recorded) = place {
            *recorded = if row.try_get(1)? {
                Recorded::Held
            } else {
                Recorded::Done
            };
        }
    }
    Ok(recorded)
}

impl<'a> Outcomes<'a> {
    fn add(&mut self, n: i32, finished: &'a Finished) {
        let attempt = &finished.attempt;
        let (status, retry_at) = finished.status();
        self.push(Outcome {
            n,
            delivery_id: *finished.delivery.as_uuid(),
            token: finished.token,
            endpoint_id: *finished.endpoint.as_uuid(),
            status,
            retry_at: retry_at.map(Timestamp::unix_millis),
            pauses: finished.pauses(),
            is_slow: finished.pace(),
            at: attempt.at.unix_millis(),
            duration_ms: attempt.duration.num_milliseconds().max(0),
            http_status: attempt.http_status.map(i64::from),
            error: attempt.error.map(AttemptError::code),
            response_body: &attempt.response_body,
            trigger: finished.trigger.as_str(),
        });
    }

    /// Endpoints are always locked before deliveries, and in the order of their ids, to avoid
    /// deadlocks. Deliveries are found by their ids (see `open`): the condition on the lease is
    /// written so that no index matches it, because that index would be read from end to end.
    fn write(self, statement: &mut Statement, leave_out: bool) {
        if !self.source(statement) {
            return;
        }
        if leave_out {
            find_held(statement);
        } else {
            statement.part("held AS (SELECT n FROM outcome WHERE FALSE)");
        }
        statement.part(
            "endpoint_locks AS MATERIALIZED (
                 SELECT e.id
                 FROM (SELECT DISTINCT endpoint_id FROM outcome
                       WHERE (pauses OR is_slow IS NOT NULL)
                         AND n NOT IN (SELECT n FROM held)) AS o
                 JOIN endpoints e ON e.id = ANY (ARRAY[o.endpoint_id])
                 ORDER BY e.id FOR NO KEY UPDATE OF e)",
        );
        statement.part(
            "done AS (
                 UPDATE deliveries d
                 SET status = o.status, next_attempt_at = o.retry_at,
                     ended_at = CASE WHEN o.retry_at IS NULL THEN o.at END,
                     attempts_made = d.attempts_made + 1, next_trigger = 'SCHEDULE',
                     leased_until = NULL
                 FROM outcome o
                 WHERE d.id = ANY (ARRAY[o.delivery_id]) AND d.lease_token = o.token
                   AND coalesce(d.leased_until, 0) > 0
                   AND (SELECT count(*) FROM endpoint_locks) >= 0
                   AND o.n NOT IN (SELECT n FROM held)
                 RETURNING o.n, o.delivery_id, o.endpoint_id, o.status, o.is_slow, o.at,
                     o.duration_ms, o.http_status, o.error, o.response_body, o.trigger)",
        );
        statement.part(
            "recorded AS (
                 INSERT INTO attempts (delivery_id, number, at, duration_ms, http_status, error,
                     response_body, trigger)
                 SELECT d.delivery_id,
                        1 + coalesce((SELECT max(a.number) FROM attempts a
                                      WHERE a.delivery_id = d.delivery_id), 0),
                        d.at, d.duration_ms, d.http_status, d.error, d.response_body, d.trigger
                 FROM done d)",
        );
        // Of several attempts at one endpoint only the last sets its pace. Rewriting a row for each
        // would leave a chain of versions behind every open snapshot, and commits read it as well.
        statement.part(
            "noted AS (
                 UPDATE endpoints e
                 SET last_success_at = greatest(e.last_success_at, t.success_at),
                     is_slow = coalesce(t.is_slow, e.is_slow)
                 FROM (SELECT endpoint_id, max(at) FILTER (WHERE status = 'DELIVERED')
                                               AS success_at,
                              (array_agg(is_slow ORDER BY n DESC)
                                  FILTER (WHERE is_slow IS NOT NULL))[1] AS is_slow
                       FROM done GROUP BY endpoint_id) AS t
                 WHERE e.id = ANY (ARRAY[t.endpoint_id])
                   AND (e.last_success_at IS NULL AND t.success_at IS NOT NULL
                        OR t.success_at >= e.last_success_at + 10000
                        OR t.is_slow <> e.is_slow))",
        );
    }
}

/// Locks the free rows, and finds the locked ones.
fn find_held(statement: &mut Statement) {
    statement.part(
        "free_endpoint AS MATERIALIZED (
             SELECT e.id
             FROM (SELECT DISTINCT endpoint_id FROM outcome
                   WHERE pauses OR is_slow IS NOT NULL) AS o
             CROSS JOIN LATERAL (
                 SELECT e.id FROM endpoints e WHERE e.id = o.endpoint_id
                 FOR NO KEY UPDATE SKIP LOCKED) AS e)",
    );
    statement.part(
        "free_delivery AS MATERIALIZED (
             SELECT o.n
             FROM outcome o CROSS JOIN LATERAL (
                 SELECT d.id FROM deliveries d WHERE d.id = o.delivery_id
                 FOR NO KEY UPDATE SKIP LOCKED) AS d)",
    );
    statement.part(
        "held AS MATERIALIZED (
             SELECT o.n FROM outcome o
             WHERE (pauses OR is_slow IS NOT NULL)
               AND o.endpoint_id NOT IN (SELECT id FROM free_endpoint)
                OR o.n NOT IN (SELECT n FROM free_delivery)
               AND EXISTS (SELECT 1 FROM deliveries d WHERE d.id = o.delivery_id))",
    );
}
