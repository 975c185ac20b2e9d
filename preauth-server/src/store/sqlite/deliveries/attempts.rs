//! The attempts of deliveries.

use std::collections::HashMap;

use preauth_core::value::DeliveryId;
use sqlx::SqliteConnection;

use crate::directory::{AttemptRecord, Delivery};
use crate::store::rows::attempt;

use super::super::rows::id_list;
use crate::store::error::Fault;

/// Attaches the attempts of each delivery, oldest first, by one statement for all.
pub(super) async fn attach(
    connection: &mut SqliteConnection,
    deliveries: &mut [Delivery],
) -> Result<(), Fault> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let rows = sqlx::query(
        "SELECT delivery_id, number, at, duration_ms, http_status, error, response_body, trigger
         FROM attempts WHERE delivery_id IN (SELECT unhex(value) FROM json_each(?1))
         ORDER BY delivery_id, number",
    )
    .bind(id_list(deliveries.iter().map(|it| it.id.as_uuid())))
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
