//! Endpoints that begin to fail, or accept deliveries again: they are noted, and their companies mailed.

use chrono::TimeDelta;
use preauth_core::port::MailKind;
use preauth_core::value::{EndpointId, Timestamp};

use super::super::{Row, Session, query, sql};
use super::pause;
use crate::mail::FailingEndpoint;
use crate::store::error::WriteError;
use crate::store::rows::Columns;

/// An endpoint's last success is written down up to 10 s late.
const NOTED_WITHIN: TimeDelta = TimeDelta::seconds(15);
/// Minimum time between two mails about an endpoint that fails, however often it recovers.
const MIN_MAIL_INTERVAL: TimeDelta = TimeDelta::hours(6);
/// Maximum number of endpoints that are looked at.
const MAX_ENDPOINTS: u32 = 10_000;
/// Maximum number of an endpoint's deliveries that are looked at, the oldest first.
const MAX_DELIVERIES: u32 = 100;

/// Begins the episode of a resumed endpoint anew, if its company was mailed about it: as one whose mail is of the moment
/// at which it began, which that of no other is. Its end is mailed in any case, and failures again once two mails are
/// apart: from the resume on, or, if that came soon after the mail, from [`MIN_MAIL_INTERVAL`] after the mail on. The
/// moment that is noted is so long before these failures, so that a success in between ends the episode.
pub(in crate::store) async fn begin_anew(
    session: &mut dyn Session,
    endpoint: EndpointId,
    resumed_at: Timestamp,
) -> Result<(), WriteError> {
    query(
        "UPDATE endpoints
         SET failing_since = CASE WHEN failing_mailed_at > $3 THEN failing_mailed_at ELSE $3 END,
             failing_mailed_at = CASE WHEN failing_mailed_at > $3 THEN failing_mailed_at ELSE $3 END
         WHERE id = $1 AND failing_mailed_at >= failing_since AND failing_mailed_at <= $2
           AND coalesce(last_success_at, 0) < failing_since",
    )
    .bind(endpoint.as_uuid())
    .bind(resumed_at.unix_millis())
    .bind(resumed_at.saturating_sub(MIN_MAIL_INTERVAL).unix_millis())
    .execute(session)
    .await?;
    Ok(())
}

/// Ends, begins and mails episodes, `limit` of each at most, and returns the number of changes. Endpoints that
/// others have locked are left for the next call.
pub(in crate::store) async fn notify_of_failing(
    session: &mut dyn Session,
    (now, limit): &(Timestamp, u32),
) -> Result<u64, WriteError> {
    let ended = end(session, *now, *limit).await?;
    let begun = begin(session, *now, *limit).await?;
    let mailed = notify(session, *now, *limit).await?;
    Ok(ended.saturating_add(begun).saturating_add(mailed))
}

/// A pause ends only an episode that no mail was about: a company that was mailed about its beginning is mailed about its
/// end, after the resume. One that began in the future is of a clock that was ahead.
async fn end(session: &mut dyn Session, now: Timestamp, limit: u32) -> Result<u64, WriteError> {
    let rows = query(sql!(
        "SELECT id, failing_since, last_success_at AS recovered_at,
                paused_at IS NULL AND deleted_at IS NULL AND failing_since <= $1
                    AND failing_mailed_at >= failing_since AS is_mailed,
                failing_mailed_at = failing_since AS is_anew
         FROM endpoints
         WHERE failing_since IS NOT NULL
           AND (last_success_at >= failing_since AND paused_at IS NULL
                OR coalesce(failing_mailed_at, 0) < failing_since AND paused_at IS NOT NULL
                OR deleted_at IS NOT NULL OR failing_since > $1)
         ORDER BY id LIMIT $2" { sqlite: "", postgres: " FOR NO KEY UPDATE SKIP LOCKED" }
    ))
    .bind(now.unix_millis())
    .bind(limit)
    .fetch_all(session)
    .await?;
    for row in &rows {
        let columns = Columns::of("endpoints", row);
        let endpoint = endpoint(row)?;
        query("UPDATE endpoints SET failing_since = NULL WHERE id = $1")
            .bind(endpoint.as_uuid())
            .execute(session)
            .await?;
        let is_mailed: Option<bool> = columns.raw("is_mailed")?;
        let recovered_at = columns.optional_timestamp("recovered_at")?;
        if let (Some(true), Some(at)) = (is_mailed, recovered_at) {
            let noted = columns.timestamp("failing_since")?;
            let since = mailed_from(noted, &columns)?;
            // It recovered before its failures would have been mailed again.
            let since = if since > at { noted } else { since };
            let content = content(session, endpoint, since, Some(at)).await?;
            let kind = MailKind::EndpointRecovered;
            pause::stage_for_each(session, endpoint, kind, &content, now).await?;
        }
    }
    Ok(count(&rows))
}

/// An attempt that could not be signed is no failure of the endpoint: nothing was sent to it.
///
/// An episode begins after the last mail about one: thus it is known whether its company was notified.
async fn begin(session: &mut dyn Session, now: Timestamp, limit: u32) -> Result<u64, WriteError> {
    let found = query(sql!(
        RETRIED_ENDPOINTS ", healthy AS (
             SELECT e.id, coalesce(e.last_success_at, 0) AS success_at
             FROM (SELECT endpoint_id FROM retried LIMIT $3) AS r
             JOIN endpoints e ON e.id" (found_by "r.endpoint_id") "
             WHERE e.failing_since IS NULL AND e.paused_at IS NULL AND " IS_NOT_REMOVED "
         ), failing AS (
             SELECT h.id, h.success_at,
                    (SELECT max(o.at) FROM (
                         SELECT (SELECT a.at FROM attempts a WHERE a.delivery_id = d.id
                                     AND coalesce(a.error, '') <> 'SECRET'
                                 ORDER BY a.number DESC LIMIT 1 OFFSET 1) AS at
                         FROM (SELECT d.id, d.attempts_made FROM deliveries d
                               WHERE d.status = 'PENDING' AND d.attempts_made > 0
                                 AND d.endpoint_id = h.id
                               ORDER BY d.endpoint_id, d.created_at LIMIT $4) AS d
                         WHERE d.attempts_made >= 2) AS o
                     WHERE o.at <= $1) AS since
             FROM healthy h
         )
         SELECT id, since FROM failing WHERE since > success_at ORDER BY id LIMIT $2"
    ))
    .bind(now.saturating_sub(NOTED_WITHIN).unix_millis())
    .bind(limit)
    .bind(MAX_ENDPOINTS)
    .bind(MAX_DELIVERIES)
    .fetch_all(session)
    .await?;
    let mut begun: u64 = 0;
    for row in &found {
        let since = Columns::of("endpoints", row).timestamp("since")?;
        let done = query(sql!(
            "UPDATE endpoints
             SET failing_since = CASE WHEN failing_mailed_at >= $2 AND failing_mailed_at < $3
                                      THEN failing_mailed_at + 1 ELSE $2 END,
                 failing_mailed_at = CASE WHEN failing_mailed_at < $3 THEN failing_mailed_at END
             WHERE id" AMONG "
                 SELECT id FROM endpoints
                 WHERE id = $1 AND failing_since IS NULL AND paused_at IS NULL
                   AND +deleted_at IS NULL AND coalesce(last_success_at, 0) < $2"
             { sqlite: ")", postgres: " FOR NO KEY UPDATE SKIP LOCKED))" }
        ))
        .bind(endpoint(row)?.as_uuid())
        .bind(since.unix_millis())
        .bind(now.unix_millis())
        .execute(session)
        .await?;
        begun = begun.saturating_add(done);
    }
    Ok(begun)
}

/// Mails about the episodes that no mail was about yet; about those that began too soon after another later, if they last,
/// and about those that began anew at a resume, once a delivery has failed twice since the resume and since another mail may
/// be sent.
async fn notify(session: &mut dyn Session, now: Timestamp, limit: u32) -> Result<u64, WriteError> {
    let rows = query(sql!(
        "SELECT id, failing_since, failing_mailed_at = failing_since AS is_anew FROM endpoints
         WHERE failing_since IS NOT NULL AND paused_at IS NULL AND deleted_at IS NULL
           AND (failing_mailed_at IS NULL
                OR failing_mailed_at < failing_since AND failing_mailed_at <= $1
                OR failing_mailed_at = failing_since
                   AND (SELECT max(o.at) FROM (
                            SELECT (SELECT a.at FROM attempts a WHERE a.delivery_id = d.id
                                        AND coalesce(a.error, '') <> 'SECRET'
                                    ORDER BY a.number DESC LIMIT 1 OFFSET 1) AS at
                            FROM (SELECT d.id, d.attempts_made FROM deliveries d
                                  WHERE d.status = 'PENDING' AND d.attempts_made > 0
                                    AND d.endpoint_id = endpoints.id
                                  ORDER BY d.endpoint_id, d.created_at LIMIT $4) AS d
                            WHERE d.attempts_made >= 2) AS o
                        WHERE o.at <= $3) >= failing_since + $5)
           AND coalesce(last_success_at, 0) < failing_since
         ORDER BY id LIMIT $2" { sqlite: "", postgres: " FOR NO KEY UPDATE SKIP LOCKED" }
    ))
    .bind(now.saturating_sub(MIN_MAIL_INTERVAL).unix_millis())
    .bind(limit)
    .bind(now.saturating_sub(NOTED_WITHIN).unix_millis())
    .bind(MAX_DELIVERIES)
    .bind(MIN_MAIL_INTERVAL.num_milliseconds())
    .fetch_all(session)
    .await?;
    for row in &rows {
        let columns = Columns::of("endpoints", row);
        let endpoint = endpoint(row)?;
        let since = mailed_from(columns.timestamp("failing_since")?, &columns)?;
        query("UPDATE endpoints SET failing_since = $2, failing_mailed_at = $3 WHERE id = $1")
            .bind(endpoint.as_uuid())
            .bind(since.unix_millis())
            .bind(now.unix_millis())
            .execute(session)
            .await?;
        let content = content(session, endpoint, since, None).await?;
        let kind = MailKind::EndpointFailing;
        pause::stage_for_each(session, endpoint, kind, &content, now).await?;
    }
    Ok(count(&rows))
}

/// Since when the failures of an episode are those that are mailed: see [`begin_anew`].
fn mailed_from(noted: Timestamp, columns: &Columns<'_>) -> Result<Timestamp, WriteError> {
    let is_anew: Option<bool> = columns.raw("is_anew")?;
    Ok(match is_anew {
        Some(true) => noted.saturating_add(MIN_MAIL_INTERVAL),
        Some(false) | None => noted,
    })
}

async fn content(
    session: &mut dyn Session,
    endpoint: EndpointId,
    since: Timestamp,
    recovered_at: Option<Timestamp>,
) -> Result<String, WriteError> {
    let row = query(
        "SELECT c.name, e.url FROM endpoints e JOIN companies c ON c.id = e.head_office_id
         WHERE e.id = $1",
    )
    .bind(endpoint.as_uuid())
    .fetch_one(session)
    .await?;
    let columns = Columns::of("endpoints", &row);
    let (company, url) = (columns.raw("name")?, columns.raw("url")?);
    Ok(FailingEndpoint::new(company, url, since, recovered_at).content())
}

fn endpoint(row: &Row) -> Result<EndpointId, WriteError> {
    Ok(EndpointId::new(Columns::of("endpoints", row).uuid("id")?))
}

fn count(rows: &[Row]) -> u64 {
    u64::try_from(rows.len()).unwrap_or(u64::MAX)
}
