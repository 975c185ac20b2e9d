//! What needs attention over all companies.
//!
//! Everything is found by an index: what waits and what failed by partial ones.

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, CompanyId, Timestamp};

use crate::directory::{
    Attention, CompanyAttention, EndingKey, KEYS_ENDING_WITHIN, OVERDUE_AFTER, Overview,
};
use crate::store::error::Fault;
use crate::store::rows::{Columns, Corrupt};

use super::{Database, Query, Row, Session, query, sql};

/// Counting stops here.
const COUNT_LIMIT: u32 = 10_000;
/// Length of each list.
const LIST_LIMIT: u32 = 20;
const A_DAY: TimeDelta = TimeDelta::days(1);

#[async_trait]
impl<D: Database> Overview for D {
    async fn attention(&self, now: Timestamp) -> Result<Attention, Unavailable> {
        let found = self.read_snapshot(&now, |session, now| Box::pin(attention(session, *now)));
        Ok(found.await?)
    }
}

async fn attention(session: &mut dyn Session, now: Timestamp) -> Result<Attention, Fault> {
    let yesterday = now.saturating_sub(A_DAY).unix_millis();
    let retried_deliveries = query(
        "SELECT count(*) AS total FROM (
             SELECT 1 FROM deliveries WHERE status = 'PENDING' AND attempts_made > 0 LIMIT $1) AS c",
    )
    .bind(COUNT_LIMIT)
    .total(session)
    .await?;
    let overdue_deliveries = query(sql!(
        "SELECT count(*) AS total FROM (
             SELECT 1 FROM endpoints e JOIN deliveries d ON d.endpoint_id = e.id
             WHERE e.paused_at IS NULL AND " IS_NOT_REMOVED " AND d.status = 'PENDING'
               AND d.next_attempt_at < $1 LIMIT $2) AS c"
    ))
    .bind(now.saturating_sub(OVERDUE_AFTER).unix_millis())
    .bind(COUNT_LIMIT)
    .total(session)
    .await?;
    let failed_deliveries = query(
        "SELECT count(*) AS total FROM (
             SELECT 1 FROM deliveries WHERE status = 'FAILED' AND ended_at >= $1 LIMIT $2) AS c",
    )
    .bind(yesterday)
    .bind(COUNT_LIMIT)
    .total(session)
    .await?;
    let held_mails = query(
        "SELECT count(*) AS total FROM (
             SELECT 1 FROM notices WHERE status = 'PENDING' AND is_held LIMIT $1) AS c",
    )
    .bind(COUNT_LIMIT)
    .total(session)
    .await?;
    let failed_mails = query(
        "SELECT count(*) AS total FROM (
             SELECT 1 FROM notices WHERE ended_at IS NOT NULL AND ended_at >= $1
               AND status = 'FAILED' LIMIT $2) AS c",
    )
    .bind(yesterday)
    .bind(COUNT_LIMIT)
    .total(session)
    .await?;
    Ok(Attention {
        retried_deliveries,
        overdue_deliveries,
        failed_deliveries,
        held_mails,
        failed_mails,
        failing_endpoints: companies(session, failing()).await?,
        paused_endpoints: companies(session, paused()).await?,
        ending_keys: ending_keys(session, now).await?,
    })
}

/// The endpoints with the oldest delivery that waits after a failed attempt.
fn failing() -> Query<'static> {
    query(sql!(
        RETRIED_ENDPOINTS ", first_ones AS (
             SELECT f.endpoint_id,
                    (SELECT d.created_at FROM deliveries d
                     WHERE d.status = 'PENDING' AND d.attempts_made > 0
                       AND d.endpoint_id = f.endpoint_id
                     ORDER BY d.endpoint_id, d.created_at LIMIT 1) AS since
             FROM (SELECT endpoint_id FROM retried LIMIT $1) AS f
         )
         SELECT c.id, c.name, r.since
         FROM first_ones r
         JOIN endpoints e ON e.id = r.endpoint_id
         JOIN companies c ON c.id = e.head_office_id
         WHERE " IS_NOT_REMOVED " AND r.since IS NOT NULL
         ORDER BY r.since, c.id LIMIT $2"
    ))
    .bind(COUNT_LIMIT)
    .bind(LIST_LIMIT)
}

fn paused() -> Query<'static> {
    query(
        "SELECT c.id, c.name, e.paused_at AS since
         FROM endpoints e JOIN companies c ON c.id = e.head_office_id
         WHERE e.paused_at IS NOT NULL AND e.deleted_at IS NULL
         ORDER BY e.paused_at, c.id LIMIT $1",
    )
    .bind(LIST_LIMIT)
}

async fn companies(
    session: &mut dyn Session,
    query: Query<'_>,
) -> Result<Vec<CompanyAttention>, Fault> {
    let rows = query.fetch_all(session).await?;
    let company = |row: &Row| -> Result<_, Corrupt> {
        let columns = Columns::of("companies", row);
        Ok(CompanyAttention {
            company: CompanyId::new(columns.uuid("id")?),
            name: columns.raw("name")?,
            since: columns.timestamp("since")?,
        })
    };
    Ok(rows.iter().map(company).collect::<Result<_, _>>()?)
}

async fn ending_keys(session: &mut dyn Session, now: Timestamp) -> Result<Vec<EndingKey>, Fault> {
    let rows = query(
        "SELECT id, name, company_id, expires_at FROM api_keys
         WHERE revoked_at IS NULL AND expires_at > $1 AND expires_at <= $2
         ORDER BY expires_at, id LIMIT $3",
    )
    .bind(now.unix_millis())
    .bind(now.saturating_add(KEYS_ENDING_WITHIN).unix_millis())
    .bind(LIST_LIMIT)
    .fetch_all(session)
    .await?;
    let key = |row: &Row| -> Result<_, Corrupt> {
        let columns = Columns::of("api_keys", row);
        Ok(EndingKey {
            id: ApiKeyId::new(columns.uuid("id")?),
            name: columns.raw("name")?,
            company: CompanyId::new(columns.uuid("company_id")?),
            expires_at: columns.timestamp("expires_at")?,
        })
    };
    Ok(rows.iter().map(key).collect::<Result<_, _>>()?)
}
