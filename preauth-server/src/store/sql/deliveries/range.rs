//! Deliveries of a range of time that ended become due again.

use preauth_core::port::DeliveryStatus as Stored;
use preauth_core::value::{CompanyId, DeliveryId, EnumSet, EventType, Timestamp};
use uuid::Uuid;

use crate::directory::{EndedStatus, ResendPlace, ResendRange, Resendable};
use crate::store::error::{Fault, WriteError};
use crate::store::rows::{Columns, Corrupt};

use super::super::planner::read_in_index_order;
use super::super::{Row, Session, query, sql};
use super::resend::lock_endpoints;

/// The next deliveries of a head office, and which of them can be resent. A range of an index by the whole key and
/// without further conditions, so that it reads no more rows than it returns, whatever the statistics.
pub(super) async fn resendable(
    session: &mut dyn Session,
    range: &ResendRange,
    after: Option<ResendPlace>,
    limit: u32,
) -> Result<Resendable, Fault> {
    read_in_index_order(session).await?;
    let after = after.unwrap_or(ResendPlace::beginning_at(range.since));
    let rows = query(
        "SELECT d.id, d.created_at, d.status, d.event_type, d.ended_at,
                (SELECT CASE WHEN e.deleted_at IS NULL THEN e.paused_at IS NOT NULL END
                 FROM endpoints e WHERE e.id = d.endpoint_id) AS is_paused
         FROM deliveries d
         WHERE (d.head_office_id, d.created_at, d.id) > ($1, $2, $3)
           AND (d.head_office_id, d.created_at) < ($1, $4)
         ORDER BY d.head_office_id, d.created_at, d.id LIMIT $5",
    )
    .bind(range.company.as_uuid())
    .bind(after.created_at.unix_millis())
    .bind(after.delivery.as_uuid())
    .bind(range.until.unix_millis())
    .bind(limit)
    .fetch_all(session)
    .await?;
    Ok(sorted(range, &rows, limit)?)
}

fn sorted(range: &ResendRange, rows: &[Row], limit: u32) -> Result<Resendable, Corrupt> {
    let mut found = Resendable::default();
    for row in rows {
        let columns = Columns::of("deliveries", row);
        let delivery = DeliveryId::new(columns.uuid("id")?);
        found.next = Some(ResendPlace {
            created_at: columns.timestamp("created_at")?,
            delivery,
        });
        // One that this build cannot read keeps nobody from those after it.
        if !is_meant(range, columns).unwrap_or(false) {
            continue;
        }
        match columns.raw::<Option<bool>>("is_paused")? {
            None => found.endpoint_removed = found.endpoint_removed.saturating_add(1),
            Some(is_paused) => {
                found.deliveries.push(delivery);
                found.paused = found.paused.saturating_add(u64::from(is_paused));
            }
        }
    }
    // The index ended.
    if u32::try_from(rows.len()).is_ok_and(|read| read < limit) {
        found.next = None;
    }
    Ok(found)
}

fn is_meant(range: &ResendRange, columns: Columns<'_>) -> Result<bool, Corrupt> {
    let status = match columns.parsed("status")? {
        Stored::Pending => return Ok(false),
        Stored::Delivered => EndedStatus::Delivered,
        Stored::Failed => EndedStatus::Failed,
    };
    let event_type = EventType::parse(columns.raw("event_type")?).ok();
    let is_of_type = |types: EnumSet<EventType>| event_type.is_some_and(|it| types.contains(it));
    let ended_at = columns.optional_timestamp("ended_at")?;
    Ok(range.statuses.contains(status)
        && range.event_types.is_none_or(is_of_type)
        && ended_at.is_some_and(|at| at <= range.began_at))
}

/// Deliveries to queue.
pub(super) struct These {
    pub(super) company: CompanyId,
    pub(super) began_at: Timestamp,
    pub(super) deliveries: Vec<DeliveryId>,
    pub(super) at: Timestamp,
}

/// Queues these deliveries again; returns their number. Their rows are locked in the order of their ids, so that two
/// requests wait for each other in turn. The condition on their end is one that no index of it serves: of few rows such a
/// walk costs no more than their ids do.
pub(super) async fn resend(session: &mut dyn Session, these: &These) -> Result<u64, WriteError> {
    lock_endpoints(session, these.company).await?;
    let ids: Vec<Uuid> = these.deliveries.iter().map(|it| *it.as_uuid()).collect();
    let done = query(sql!(
        "UPDATE deliveries
         SET status = 'PENDING', next_attempt_at = $2, ended_at = NULL, attempts_made = 0,
             next_trigger = 'RESEND', leased_until = NULL
         WHERE id" AMONG "
             SELECT d.id FROM deliveries d
             WHERE d.id" (is_one_of "$1") " AND d.status || '' <> 'PENDING' AND coalesce(d.ended_at <= $3, FALSE)
               AND (SELECT e.deleted_at IS NULL FROM endpoints e WHERE e.id = d.endpoint_id)
             ORDER BY d.id"
        { sqlite: "", postgres: " FOR NO KEY UPDATE OF d" } THESE
    ))
    .bind(ids)
    .bind(these.at.unix_millis())
    .bind(these.began_at.unix_millis())
    .execute(session)
    .await?;
    Ok(done)
}
