//! Received invoices.

use preauth_core::ReceivedInvoice;
use preauth_core::value::InvoiceId;

use super::columns::{Columns, Corrupt};
use super::party::{PAYER, SUPPLIER, party};
use super::raw::RawRow;

/// Every column of an invoice with its parties, before `$rest`.
macro_rules! select_invoices {
    ($rest:literal) => {
        concat!(
            "SELECT i.id, i.amount_cents, i.due_date, i.number, i.received_at,
                    p.id AS payer_id, p.head_office_id AS payer_head_office_id,
                    p.cnpj AS payer_cnpj, p.name AS payer_name, ",
            $crate::store::rows::supplier_columns!(),
            " FROM invoices i
             JOIN companies p ON p.id = i.payer_id",
            $crate::store::rows::join_supplier!("i"),
            $rest
        )
    };
}
pub(in crate::store) use select_invoices;

pub(in crate::store) fn invoice(row: &impl RawRow) -> Result<ReceivedInvoice, Corrupt> {
    let columns = Columns::of("invoices", row);
    Ok(ReceivedInvoice {
        id: columns.number("id", InvoiceId::new)?,
        payer: party(columns, &PAYER)?,
        supplier: party(columns, &SUPPLIER)?,
        amount: columns.money("amount_cents")?,
        due_date: columns.parsed("due_date")?,
        number: columns.parsed("number")?,
        received_at: columns.timestamp("received_at")?,
    })
}
