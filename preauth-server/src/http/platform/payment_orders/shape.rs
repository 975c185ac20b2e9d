//! A payment order as answers show it.

use preauth_core::payment_order::PaymentOrder;
use preauth_core::value::OperationId;
use preauth_core::wire::Amount;
use serde::Serialize;

use crate::http::platform::party::PartyShape;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentOrderShape {
    id: i64,
    version: i64,
    status: &'static str,
    payer: PartyShape,
    supplier: PartyShape,
    amount: Amount,
    scheduled_for: Option<String>,
    operation_id: Option<i64>,
    reason: Option<String>,
    created_at: String,
}

impl From<&PaymentOrder> for PaymentOrderShape {
    fn from(order: &PaymentOrder) -> Self {
        Self {
            id: order.id.get(),
            version: order.version.get(),
            status: order.status.as_str(),
            payer: (&order.payer).into(),
            supplier: (&order.supplier).into(),
            amount: order.amount.into(),
            scheduled_for: order.scheduled_for.map(|day| day.to_string()),
            operation_id: order.operation.map(OperationId::get),
            reason: order.reason.as_ref().map(ToString::to_string),
            created_at: order.created_at.to_string(),
        }
    }
}
