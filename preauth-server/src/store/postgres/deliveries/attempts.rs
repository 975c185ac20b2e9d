//! The attempts of deliveries.

use std::collections::HashMap;

use preauth_core::value::DeliveryId;
use sqlx::PgConnection;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::directory::{AttemptRecord, Delivery};

use super::super::error::Fault;
use super::super::rows::Columns;

/// Gives each delivery its attempts, oldest first, by one statement for all of them.
pub(super) async fn attach(
    connection: &mut PgConnection,
    deliveries: &mut [Delivery],
) -> Result<(), Fault> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = deliveries.iter().map(|it| *it.id.as_uuid()).collect();
    let rows = sqlx::query(
        "SELECT delivery_id, number, at, duration_ms, http_status, error, response_body, trigger
         FROM attempts WHERE delivery_id = ANY($1)
         ORDER BY delivery_id, number",
    )
    .bind(ids)
    .fetch_all(connection)
    .await?;
    let mut by_delivery: HashMap<DeliveryId, Vec<AttemptRecord>> = HashMap::new();
    for row in &rows {
        let (delivery, attempt) = attempt(row)?;
        by_delivery.entry(delivery).or_default().push(attempt);
    }
    for delivery in deliveries {
        delivery.attempts = by_delivery.remove(&delivery.id).unwrap_or_default();
    }
    Ok(())
}

fn attempt(row: &PgRow) -> Result<(DeliveryId, AttemptRecord), Fault> {
    let columns = Columns::of("attempts", row);
    let http_status: Option<u16> = columns.optional_whole("http_status")?;
    let response_body: &[u8] = columns.raw("response_body")?;
    // Without an answer there is no body; an empty one is still an answer's.
    let response_body = http_status.map(|_| String::from_utf8_lossy(response_body).into_owned());
    let record = AttemptRecord {
        number: columns.whole("number")?,
        at: columns.timestamp("at")?,
        duration_ms: columns.whole("duration_ms")?,
        http_status,
        error: columns.raw("error")?,
        response_body,
        trigger: columns.raw("trigger")?,
    };
    Ok((DeliveryId::new(columns.uuid("delivery_id")?), record))
}
