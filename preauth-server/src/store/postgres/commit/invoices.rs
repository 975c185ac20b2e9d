//! The received invoices of a group of commits.

use preauth_core::ReceivedInvoice;
use uuid::Uuid;

use super::super::statement::{Statement, rows};

rows! {
    /// A received invoice.
    NewInvoice, NewInvoices as "new_invoice" {
        n: i32,
        id: i64,
        head_office_id: Uuid,
        payer_id: Uuid,
        supplier_id: Uuid,
        amount_cents: i64,
        due_date: String,
        number: &'a str,
        received_at: i64,
    }
}

impl<'a> NewInvoices<'a> {
    pub(super) fn add(&mut self, n: i32, invoice: &'a ReceivedInvoice) {
        self.push(NewInvoice {
            n,
            id: invoice.id.get(),
            head_office_id: *invoice.payer.head_office.as_uuid(),
            payer_id: *invoice.payer.company.as_uuid(),
            supplier_id: *invoice.supplier.company.as_uuid(),
            amount_cents: invoice.amount.cents(),
            due_date: invoice.due_date.to_string(),
            number: invoice.number.as_str(),
            received_at: invoice.received_at.unix_millis(),
        });
    }

    /// Inserts them. The whole statement fails with a conflict when an id is taken.
    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "kept AS (
                 INSERT INTO invoices (id, head_office_id, payer_id, supplier_id, amount_cents,
                     due_date, number, received_at)
                 SELECT id, head_office_id, payer_id, supplier_id, amount_cents, due_date, number,
                     received_at
                 FROM new_invoice WHERE n IN (SELECT n FROM written))",
        );
    }
}
