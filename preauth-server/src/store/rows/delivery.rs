//! The history of deliveries.

use preauth_core::value::{CompanyId, DeliveryId, EventId, OperationId};

use crate::directory::{AttemptRecord, Delivery, DeliveryStatus};

use super::columns::{Columns, Corrupt};
use super::raw::RawRow;

pub(in crate::store) fn delivery(row: &impl RawRow) -> Result<Delivery, Corrupt> {
    let columns = Columns::of("deliveries", row);
    let is_paused: bool = columns.raw("is_paused")?;
    let status = DeliveryStatus::of(columns.parsed("status")?, is_paused);
    let operation: Option<i64> = columns.raw("operation_id")?;
    let next_attempt_at = columns.optional_timestamp("next_attempt_at")?;
    Ok(Delivery {
        id: DeliveryId::new(columns.uuid("id")?),
        company: CompanyId::new(columns.uuid("head_office_id")?),
        event: EventId::new(columns.uuid("event_id")?),
        operation: operation.and_then(OperationId::new),
        event_type: columns.raw("event_type")?,
        status,
        next_attempt_at: next_attempt_at.filter(|_| status == DeliveryStatus::Pending),
        created_at: columns.timestamp("created_at")?,
        attempts: Vec::new(),
        body: columns.raw("body")?,
    })
}

pub(in crate::store) fn attempt(row: &impl RawRow) -> Result<(DeliveryId, AttemptRecord), Corrupt> {
    let columns = Columns::of("attempts", row);
    let http_status: Option<u16> = columns.raw("http_status")?;
    let response_body: &[u8] = columns.raw("response_body")?;
    // Without an answer there is no body; an answer may have an empty body.
    let response_body = http_status.map(|_| String::from_utf8_lossy(response_body).into_owned());
    let record = AttemptRecord {
        number: columns.raw("number")?,
        at: columns.timestamp("at")?,
        duration_ms: columns.number("duration_ms", |millis| millis.try_into().ok())?,
        http_status,
        error: columns.raw("error")?,
        response_body,
        trigger: columns.raw("trigger")?,
    };
    Ok((DeliveryId::new(columns.uuid("delivery_id")?), record))
}
