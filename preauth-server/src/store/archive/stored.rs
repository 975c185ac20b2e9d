//! Converts rows into the values that an audit compares.

use preauth_core::operation::Operation;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    EndpointState, Holder, Miscount, StoredAttempt, StoredDelivery, StoredEndpoint, StoredEvent,
    StoredReply,
};
use preauth_core::value::{
    Cnpj, CompanyId, DeliveryId, EndpointId, EventId, InvoiceNumber, OperationId, Version,
};

use crate::store::rows::{self, Columns, Corrupt, RawRow};

pub(super) fn attempt(row: &impl RawRow) -> Result<StoredAttempt, Corrupt> {
    let columns = Columns::of("attempts", row);
    Ok(StoredAttempt {
        number: columns.raw("number")?,
        http_status: columns.raw("http_status")?,
        has_error: columns.raw("has_error")?,
        trigger: columns.parsed("trigger")?,
    })
}

pub(super) fn delivery(row: &impl RawRow) -> Result<StoredDelivery, Corrupt> {
    let columns = Columns::of("deliveries", row);
    let state = match (columns.raw("is_removed")?, columns.raw("is_paused")?) {
        (true, _) => EndpointState::Removed,
        (false, true) => EndpointState::Paused,
        (false, false) => EndpointState::Active,
    };
    Ok(StoredDelivery {
        id: DeliveryId::new(columns.uuid("id")?),
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        endpoint: StoredEndpoint {
            id: EndpointId::new(columns.uuid("endpoint_id")?),
            head_office: CompanyId::new(columns.uuid("endpoint_head_office_id")?),
            state,
        },
        event_type: columns.parsed("event_type")?,
        status: columns.parsed("status")?,
        attempts_made: columns.raw("attempts_made")?,
        next_trigger: columns.parsed("next_trigger")?,
        leased_until: columns.optional_timestamp("leased_until")?,
        attempts: Vec::new(),
    })
}

pub(super) fn event(row: &impl RawRow) -> Result<StoredEvent, Corrupt> {
    let columns = Columns::of("events", row);
    let version: Option<i64> = columns.raw("version")?;
    Ok(StoredEvent {
        id: EventId::new(columns.uuid("id")?),
        version: version.and_then(Version::new),
        event_type: columns.parsed("type")?,
        at: columns.timestamp("at")?,
        body: columns.raw("body")?,
        deliveries: Vec::new(),
    })
}

/// An operation with the other columns of its row.
pub(super) struct OwnOperation {
    pub(super) operation: Operation,
    pub(super) head_office: CompanyId,
    pub(super) supplier_cnpj: Cnpj,
    pub(super) supplier_is_known: bool,
}

pub(super) fn operation(row: &impl RawRow) -> Result<OwnOperation, Corrupt> {
    let columns = Columns::of("operations", row);
    Ok(OwnOperation {
        operation: rows::operation(row)?,
        head_office: CompanyId::new(columns.uuid("listed_head_office_id")?),
        supplier_cnpj: columns.parsed("listed_supplier_cnpj")?,
        supplier_is_known: columns.raw("supplier_is_known")?,
    })
}

pub(super) fn order(row: &impl RawRow) -> Result<(PaymentOrder, CompanyId), Corrupt> {
    let columns = Columns::of("payment_orders", row);
    let head_office = columns.uuid("listed_head_office_id")?;
    Ok((rows::order(row)?, CompanyId::new(head_office)))
}

pub(super) fn reply(row: &impl RawRow) -> Result<StoredReply, Corrupt> {
    let columns = Columns::of("idempotency_replies", row);
    Ok(StoredReply {
        head_office: CompanyId::new(columns.uuid("reply_head_office_id")?),
        key: columns.parsed("key")?,
        body: columns.raw("body")?,
        operation: rows::operation(row)?,
    })
}

pub(super) fn holder(row: &impl RawRow) -> Result<Holder, Corrupt> {
    let columns = Columns::of("operations", row);
    let number: InvoiceNumber = columns.parsed("invoice_number")?;
    let compared: String = columns.raw("compared_number")?;
    // Earlier builds stored the number in other normalized forms.
    if !number.held_as().iter().any(|form| *form == compared) {
        return Err(columns.corrupt("invoice_number_nfc"));
    }
    Ok(Holder {
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        supplier: columns.parsed("supplier_cnpj")?,
        number: compared,
        operation: columns.number("id", OperationId::new)?,
    })
}

pub(super) fn miscount(row: &impl RawRow) -> Result<Miscount, Corrupt> {
    let columns = Columns::of("operation_counts", row);
    Ok(Miscount {
        payer: CompanyId::new(columns.uuid("payer_id")?),
        status: columns.parsed("status")?,
        counted: columns.raw("counted")?,
        there: columns.raw("there")?,
    })
}
