//! The attempts of deliveries.

use std::collections::HashMap;

use preauth_core::value::DeliveryId;
use uuid::Uuid;

use crate::directory::{AttemptRecord, Delivery};
use crate::store::error::Fault;
use crate::store::rows::attempt;
use crate::store::set_aside::SetAside;

use super::super::{Session, query, sql};

/// Attaches the attempts of each delivery, oldest first, by one statement for all. Those that cannot
/// be read are recorded.
pub(super) async fn attach(
    session: &mut dyn Session,
    deliveries: &mut [Delivery],
    set_aside: &SetAside,
) -> Result<(), Fault> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = deliveries.iter().map(|it| *it.id.as_uuid()).collect();
    let rows = query(sql!(
        "SELECT delivery_id AS id, delivery_id, number, at, duration_ms, http_status, error, response_body, trigger
         FROM attempts WHERE delivery_id" (is_one_of "$1")
        " ORDER BY delivery_id, number"
    ))
    .bind(ids)
    .fetch_all(session)
    .await?;
    let mut by_delivery: HashMap<DeliveryId, Vec<AttemptRecord>> = HashMap::new();
    for (delivery, attempt) in set_aside.readable(&rows, attempt) {
        by_delivery.entry(delivery).or_default().push(attempt);
    }
    for delivery in deliveries {
        delivery.attempts = by_delivery.remove(&delivery.id).unwrap_or_default();
    }
    Ok(())
}
