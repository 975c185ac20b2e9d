//! The payment orders of a group of commits.

use preauth_core::payment_order::PaymentOrder;
use preauth_core::value::{OperationId, PaymentOrderId, Reason, Version};
use uuid::Uuid;

use super::super::statement::{Statement, rows};

rows! {
    /// A new payment order.
    NewOrder, NewOrders as "new_order" {
        n: i32,
        id: i64,
        head_office_id: Uuid,
        payer_id: Uuid,
        supplier_id: Uuid,
        operation_id: Option<i64>,
        instead_of: Option<i64>,
        version: i64,
        status: &'a str,
        amount_cents: i64,
        scheduled_for: Option<String>,
        reason: Option<&'a str>,
        created_at: i64,
    }
}

rows! {
    /// A payment order's next version: only the columns that may change.
    OrderChange, OrderChanges as "order_change" {
        n: i32,
        id: i64,
        expected: Option<i64>,
        version: i64,
        status: &'a str,
        scheduled_for: Option<String>,
        reason: Option<&'a str>,
    }
}

impl<'a> NewOrders<'a> {
    pub(super) fn add(
        &mut self,
        n: i32,
        order: &'a PaymentOrder,
        instead_of: Option<PaymentOrderId>,
    ) {
        self.push(NewOrder {
            n,
            id: order.id.get(),
            head_office_id: *order.payer.head_office.as_uuid(),
            payer_id: *order.payer.company.as_uuid(),
            supplier_id: *order.supplier.company.as_uuid(),
            operation_id: order.operation.map(OperationId::get),
            instead_of: instead_of.map(PaymentOrderId::get),
            version: order.version.get(),
            status: order.status.as_str(),
            amount_cents: order.amount.cents(),
            scheduled_for: order.scheduled_for.map(|day| day.to_string()),
            reason: order.reason.as_ref().map(Reason::as_str),
            created_at: order.created_at.unix_millis(),
        });
    }

    /// Inserts them. The whole statement fails with a conflict when an id is taken, or when the
    /// operation has got another order: then `instead_of` is no longer current, and the operation
    /// has an order.
    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "begun_order AS MATERIALIZED (
                 SELECT n FROM new_order WHERE n NOT IN (SELECT n FROM waiting))",
        );
        statement.part(
            "inserted_order AS (
                 INSERT INTO payment_orders (id, head_office_id, payer_id, supplier_id,
                     operation_id, version, status, amount_cents, scheduled_for, reason,
                     created_at)
                 SELECT id, head_office_id, payer_id, supplier_id, operation_id, version, status,
                     amount_cents, scheduled_for, reason, created_at
                 FROM new_order WHERE n IN (SELECT n FROM begun_order))",
        );
        statement.part(
            "taken_over AS (
                 UPDATE current_payment_orders c SET payment_order_id = o.id
                 FROM new_order o
                 WHERE c.operation_id = ANY (ARRAY[o.operation_id]) AND c.payment_order_id = o.instead_of
                   AND o.n IN (SELECT n FROM begun_order)
                 RETURNING c.operation_id)",
        );
        statement.part(
            "taken_up AS (
                 INSERT INTO current_payment_orders (operation_id, payment_order_id)
                 SELECT operation_id, id FROM new_order
                 WHERE operation_id IS NOT NULL AND n IN (SELECT n FROM begun_order)
                   AND operation_id NOT IN (SELECT operation_id FROM taken_over))",
        );
    }
}

impl<'a> OrderChanges<'a> {
    pub(super) fn add(&mut self, n: i32, order: &'a PaymentOrder, expected: Option<Version>) {
        self.push(OrderChange {
            n,
            id: order.id.get(),
            expected: expected.map(Version::get),
            version: order.version.get(),
            status: order.status.as_str(),
            scheduled_for: order.scheduled_for.map(|day| day.to_string()),
            reason: order.reason.as_ref().map(Reason::as_str),
        });
    }

    /// Updates each from the version before it; an order that is stored in another version is left
    /// out.
    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "changed_order AS (
                 UPDATE payment_orders o
                 SET version = c.version, status = c.status, scheduled_for = c.scheduled_for,
                     reason = c.reason
                 FROM order_change c
                 WHERE o.id = c.id AND o.version = c.expected
                   AND c.n NOT IN (SELECT n FROM waiting)
                 RETURNING c.n)",
        );
    }
}
