//! A received invoice as answers show it.

use preauth_core::ReceivedInvoice;
use preauth_core::wire::EventInvoice;
use serde::Serialize;

use crate::http::convert;
use crate::http::platform::party::PartyShape;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InvoiceShape {
    id: i64,
    payer: PartyShape,
    supplier: PartyShape,
    invoice: EventInvoice,
    created_at: String,
}

impl From<&ReceivedInvoice> for InvoiceShape {
    fn from(received: &ReceivedInvoice) -> Self {
        Self {
            id: received.id.get(),
            payer: (&received.payer).into(),
            supplier: (&received.supplier).into(),
            invoice: convert::received_invoice(received).invoice,
            created_at: received.received_at.to_string(),
        }
    }
}
