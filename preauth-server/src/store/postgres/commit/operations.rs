//! The operations of a group of commits, and their extensions.

use preauth_core::operation::Operation;
use preauth_core::port::ExtensionRecord;
use preauth_core::value::{ExternalReference, InvoiceNumber, Money, Timestamp, Version};
use uuid::Uuid;

use crate::store::rows::{StateColumns, compared_number};

use super::super::statement::{Statement, rows};

rows! {
    /// A new operation.
    NewOperation, NewOperations as "new_operation" {
        n: i32,
        id: i64,
        head_office_id: Uuid,
        payer_id: Uuid,
        supplier_id: Uuid,
        supplier_cnpj: &'a str,
        version: i64,
        origin: &'a str,
        status: &'a str,
        amount_cents: i64,
        withheld_tax_cents: i64,
        net_amount_cents: Option<i64>,
        due_date: String,
        invoice_number: Option<&'a str>,
        invoice_number_nfc: Option<String>,
        external_reference: Option<&'a str>,
        expires_at: Option<i64>,
        created_at: i64,
        closing_action: Option<&'a str>,
        closing_reason: Option<&'a str>,
        boleto_due_date: Option<String>,
    }
}

rows! {
    /// An operation's next version: only the columns that may change.
    Change, Changes as "change" {
        n: i32,
        id: i64,
        expected: Option<i64>,
        version: i64,
        status: &'a str,
        net_amount_cents: Option<i64>,
        closing_action: Option<&'a str>,
        closing_reason: Option<&'a str>,
        boleto_due_date: Option<String>,
    }
}

rows! {
    /// An extension in its state after the commit.
    Extension, Extensions as "extension" {
        n: i32,
        id: i64,
        head_office_id: Uuid,
        operation_id: i64,
        new_due_date: String,
        total_amount_cents: i64,
        status: &'a str,
    }
}

impl<'a> NewOperations<'a> {
    pub(super) fn add(&mut self, n: i32, operation: &'a Operation) {
        let invoice = &operation.invoice;
        let state = StateColumns::of(&operation.state);
        self.push(NewOperation {
            n,
            id: operation.id.get(),
            head_office_id: *operation.payer.head_office.as_uuid(),
            payer_id: *operation.payer.company.as_uuid(),
            supplier_id: *operation.supplier.company.as_uuid(),
            supplier_cnpj: operation.supplier.cnpj.as_str(),
            version: operation.version.get(),
            origin: operation.origin.as_str(),
            status: operation.status().as_str(),
            amount_cents: invoice.amounts.amount().cents(),
            withheld_tax_cents: invoice.amounts.withheld_tax().cents(),
            net_amount_cents: operation.net_amount.map(Money::cents),
            due_date: invoice.due_date.to_string(),
            invoice_number: invoice.number.as_ref().map(InvoiceNumber::as_str),
            invoice_number_nfc: compared_number(invoice),
            external_reference: operation
                .external_reference
                .as_ref()
                .map(ExternalReference::as_str),
            expires_at: operation.expires_at.map(Timestamp::unix_millis),
            created_at: operation.created_at.unix_millis(),
            closing_action: state.closing_action(),
            closing_reason: state.closing_reason(),
            boleto_due_date: state.boleto_due_date(),
        });
    }

    /// Inserts those in `begun`: the operations whose idempotency key has no answer yet. The whole
    /// statement fails with a conflict when an id is taken, or another operation holds the invoice.
    pub(super) fn write(statement: &mut Statement, have_replies: bool) {
        statement.part(if have_replies {
            "begun AS MATERIALIZED (
                 SELECT * FROM new_operation
                 WHERE n NOT IN (SELECT n FROM waiting)
                   AND (id NOT IN (SELECT operation_id FROM reply)
                        OR id IN (SELECT operation_id FROM remembered)))"
        } else {
            "begun AS MATERIALIZED (
                 SELECT * FROM new_operation WHERE n NOT IN (SELECT n FROM waiting))"
        });
        statement.part(
            "inserted AS (
                 INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj,
                     version, origin, status, amount_cents, withheld_tax_cents, net_amount_cents,
                     due_date, invoice_number, invoice_number_nfc, external_reference, expires_at,
                     created_at,
                     closing_action, closing_reason, boleto_due_date)
                 SELECT id, head_office_id, payer_id, supplier_id, supplier_cnpj, version, origin,
                     status, amount_cents, withheld_tax_cents, net_amount_cents, due_date,
                     invoice_number, invoice_number_nfc, external_reference, expires_at, created_at,
                     closing_action, closing_reason, boleto_due_date
                 FROM begun)",
        );
    }
}

impl<'a> Changes<'a> {
    pub(super) fn add(&mut self, n: i32, operation: &'a Operation, expected: Option<Version>) {
        let state = StateColumns::of(&operation.state);
        self.push(Change {
            n,
            id: operation.id.get(),
            expected: expected.map(Version::get),
            version: operation.version.get(),
            status: operation.status().as_str(),
            net_amount_cents: operation.net_amount.map(Money::cents),
            closing_action: state.closing_action(),
            closing_reason: state.closing_reason(),
            boleto_due_date: state.boleto_due_date(),
        });
    }

    /// Updates each from the version before it. An operation that is stored in another version is
    /// left out. The whole statement fails with a conflict when another operation holds an invoice
    /// that one of these takes.
    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "changed AS (
                 UPDATE operations o
                 SET version = c.version, status = c.status, net_amount_cents = c.net_amount_cents,
                     closing_action = c.closing_action, closing_reason = c.closing_reason,
                     boleto_due_date = c.boleto_due_date
                 FROM change c
                 WHERE o.id = ANY (ARRAY[c.id]) AND o.version = c.expected
                   AND c.n NOT IN (SELECT n FROM waiting)
                 RETURNING c.n)",
        );
    }
}

impl<'a> Extensions<'a> {
    pub(super) fn add(&mut self, n: i32, operation: &'a Operation, record: &ExtensionRecord) {
        self.push(Extension {
            n,
            id: record.extension.id.get(),
            head_office_id: *operation.payer.head_office.as_uuid(),
            operation_id: operation.id.get(),
            new_due_date: record.extension.new_due_date.to_string(),
            total_amount_cents: record.extension.total_amount.cents(),
            status: record.status.as_str(),
        });
    }

    /// Inserts an extension that opens, or else updates its status. The version of the operation,
    /// which every change of its extensions raises, was compared before.
    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "opened AS (
                 INSERT INTO extensions (id, head_office_id, operation_id, new_due_date,
                     total_amount_cents, status)
                 SELECT id, head_office_id, operation_id, new_due_date, total_amount_cents, status
                 FROM extension WHERE status = 'OPEN' AND n IN (SELECT n FROM written))",
        );
        statement.part(
            "ended AS (
                 UPDATE extensions x SET status = e.status
                 FROM extension e
                 WHERE x.id = ANY (ARRAY[e.id]) AND x.operation_id = e.operation_id AND x.status = 'OPEN'
                   AND e.status <> 'OPEN' AND e.n IN (SELECT n FROM written))",
        );
    }
}
