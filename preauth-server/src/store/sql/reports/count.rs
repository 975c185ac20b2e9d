//! Counts the events that were numbered since the step before.

use preauth_core::value::{EventType, Origin};
use preauth_core::wire::Amount;
use serde::Deserialize;
use uuid::Uuid;

use crate::directory::Volume;
use crate::store::error::{Fault, WriteError};
use crate::store::rows::{Columns, Corrupt, count};

use super::super::{Row, Session, query, sql};
use super::counts::{Counts, DELIVERY};

/// Counts the next events; returns their number, or 1 when another instance counts them at this moment.
pub(super) async fn next(session: &mut dyn Session) -> Result<u64, WriteError> {
    let (before, after) = place(session).await?;
    let Some(upto) = end(session, after).await? else {
        return Ok(0);
    };
    // Of two instances that begin at the same place, one goes on; the other looks again.
    let step = query(
        "INSERT INTO activity_steps (after_number, upto) VALUES ($1, $2)
         ON CONFLICT (after_number) DO NOTHING",
    );
    let taken = step.bind(after).bind(upto).execute(session).await?;
    if taken == 0 {
        return Ok(1);
    }
    let mut counts = Counts::default();
    let mut events = Vec::new();
    for row in of_events(session, after, upto).await? {
        // What this build cannot read would keep it from everything after it.
        let Ok(event) = Event::read(&row) else {
            continue;
        };
        events.push(event.id);
        let columns = Columns::of("events", &row);
        if let (Some(added), Ok(at)) = (event.added(), columns.timestamp("at")) {
            counts.add(event.head_office, at, event.kind, added);
        }
    }
    let counted = u64::try_from(events.len()).unwrap_or_default();
    for row in of_deliveries(session, events).await? {
        let columns = Columns::of("deliveries", &row);
        if let (Ok(office), Ok(at)) = (columns.uuid("head_office_id"), columns.timestamp("at")) {
            counts.add_one(office, at, DELIVERY);
        }
    }
    counts.write(session).await?;
    query("DELETE FROM activity_steps WHERE after_number = $1")
        .bind(before)
        .execute(session)
        .await?;
    // A batch may consist of events that nobody reads.
    Ok(counted.max(1))
}

/// Whether something was numbered since the last step.
pub(super) async fn is_due(session: &mut dyn Session) -> Result<bool, Fault> {
    let (_, after) = place(session).await?;
    Ok(end(session, after).await?.is_some())
}

/// Where the last step began and ended.
async fn place(session: &mut dyn Session) -> Result<(i64, i64), Fault> {
    let row =
        query("SELECT after_number, upto FROM activity_steps ORDER BY after_number DESC LIMIT 1");
    let row = row.fetch_one(session).await?;
    let columns = Columns::of("activity_steps", &row);
    Ok((columns.raw("after_number")?, columns.raw("upto")?))
}

/// Where the next step ends, if something was numbered since: after 2,000 events or a few more.
async fn end(session: &mut dyn Session, after: i64) -> Result<Option<i64>, Fault> {
    let row = query(sql!({
        sqlite: "SELECT max(number) AS upto FROM (
                     SELECT number FROM event_feed WHERE number > $1 ORDER BY number LIMIT 2000)",
        postgres: "SELECT max(b.number) AS upto
                   FROM (SELECT number, after_event FROM event_batches
                         WHERE number > $1 ORDER BY number LIMIT 2000) AS b
                   WHERE b.after_event < 2000 + (
                       SELECT f.after_event FROM event_batches f
                       WHERE f.number > $1 ORDER BY f.number LIMIT 1)"
    }));
    let row = row.bind(after).fetch_one(session).await?;
    Ok(Columns::of("event_feed", &row).raw("upto")?)
}

/// The events between two places. One that the supplier's head office reads as well has a number there, too.
async fn of_events(
    session: &mut dyn Session,
    after: i64,
    upto: i64,
) -> Result<Vec<Row>, sqlx::Error> {
    query(sql!(
        "SELECT e.id, e.head_office_id, e.type, e.at, o.origin,
             coalesce(o.amount_cents, p.amount_cents) AS amount_cents,
             CASE WHEN e.type IN ('anticipation.paid', 'anticipation.payout_returned')
                 THEN e.body END AS body "
        {
            sqlite: "FROM event_feed f
                     JOIN events e ON e.id = f.event_id AND e.head_office_id = f.head_office_id
                     LEFT JOIN operations o ON o.id = e.operation_id
                     LEFT JOIN payment_orders p ON p.id = e.payment_order_id
                     WHERE f.number > $1 AND f.number <= $2",
            postgres: "FROM (SELECT after_event, last_event, head_offices FROM event_batches
                             WHERE number > $1 AND number <= $2 ORDER BY number OFFSET 0) AS b
                       CROSS JOIN LATERAL unnest(b.head_offices) AS h (id)
                       CROSS JOIN LATERAL (
                           SELECT f.event_id FROM event_feed f
                           WHERE f.head_office_id = h.id
                             AND f.number > b.after_event AND f.number <= b.last_event
                           ORDER BY f.number OFFSET 0) AS f
                       CROSS JOIN LATERAL (
                           SELECT * FROM events e WHERE e.id = f.event_id LIMIT 1) AS e
                       LEFT JOIN LATERAL (
                           SELECT o.origin, o.amount_cents FROM operations o
                           WHERE o.id = e.operation_id LIMIT 1) AS o ON TRUE
                       LEFT JOIN LATERAL (
                           SELECT p.amount_cents FROM payment_orders p
                           WHERE p.id = e.payment_order_id LIMIT 1) AS p ON TRUE
                       WHERE e.head_office_id = h.id"
        }
    ))
    .bind(after)
    .bind(upto)
    .fetch_all(session)
    .await
}

/// The deliveries of events, each with the time of its event.
async fn of_deliveries(
    session: &mut dyn Session,
    events: Vec<Uuid>,
) -> Result<Vec<Row>, sqlx::Error> {
    query(sql!(
        "SELECT d.head_office_id, d.created_at AS at "
        {
            sqlite: "FROM deliveries d
                     WHERE d.event_id IN (SELECT unhex(value) FROM json_each($1))",
            postgres: "FROM unnest($1) AS e (id)
                       CROSS JOIN LATERAL (
                           SELECT * FROM deliveries d WHERE d.event_id = e.id
                           ORDER BY d.event_id, d.endpoint_id OFFSET 0) AS d"
        }
    ))
    .bind(events)
    .fetch_all(session)
    .await
}

/// An event, as far as it is counted.
struct Event<'r> {
    id: Uuid,
    head_office: Uuid,
    kind: &'r str,
    is_direct: bool,
    volume: Volume,
}

impl<'r> Event<'r> {
    fn read(row: &'r Row) -> Result<Self, Corrupt> {
        let columns = Columns::of("events", row);
        let origin: Option<&str> = columns.raw("origin")?;
        let cents: Option<i64> = columns.raw("amount_cents")?;
        let body: Option<&str> = columns.raw("body")?;
        Ok(Self {
            id: columns.uuid("id")?,
            head_office: columns.uuid("head_office_id")?,
            kind: columns.raw("type")?,
            is_direct: origin == Some(Origin::Direct.as_str()),
            volume: Volume {
                count: 1,
                cents: cents.map_or(0, count),
                net_cents: body.map_or(0, net_amount),
            },
        })
    }

    /// What it adds; nothing when it is no step of its own: a direct advance is requested as it begins, and verified
    /// afterwards.
    fn added(&self) -> Option<Volume> {
        let is_verification =
            self.is_direct && self.kind == EventType::AnticipationRequested.as_str();
        (!is_verification).then_some(self.volume)
    }
}

/// What the supplier got by a payout, as the event reported it: the operation may have another amount by now.
fn net_amount(body: &str) -> u64 {
    #[derive(Deserialize)]
    struct Body {
        data: Data,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Data {
        net_amount: Option<Amount>,
    }
    let body = serde_json::from_str::<Body>(body).ok();
    let amount = body.and_then(|body| body.data.net_amount);
    amount.map_or(0, |amount| count(amount.money().cents()))
}

#[cfg(test)]
mod tests {
    use super::net_amount;

    #[test]
    fn the_net_amount_is_that_of_the_event() {
        assert_eq!(net_amount(r#"{"data":{"netAmount":487.65}}"#), 48_765);
        for other in [r#"{"data":{"netAmount":null}}"#, r#"{"data":{}}"#, "{"] {
            assert_eq!(net_amount(other), 0, "{other}");
        }
    }
}
