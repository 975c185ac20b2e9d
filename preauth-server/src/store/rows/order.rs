//! Payment orders.

use preauth_core::payment_order::{OtherOrder, PaymentOrder};
use preauth_core::value::{OperationId, PaymentOrderId, Version};

use super::columns::{Columns, Corrupt};
use super::party::{PAYER, SUPPLIER, party};
use super::raw::RawRow;

/// Every column of an order with its parties, before `$rest`.
macro_rules! select_orders {
    ($rest:literal) => {
        concat!(
            "SELECT o.id, o.version, o.operation_id, o.status, o.amount_cents, o.scheduled_for,
                    o.reason, o.created_at,
                    o.head_office_id AS listed_head_office_id,
                    p.id AS payer_id, p.head_office_id AS payer_head_office_id,
                    p.cnpj AS payer_cnpj, p.name AS payer_name, ",
            $crate::store::rows::supplier_columns!(),
            " FROM payment_orders o
             JOIN companies p ON p.id = o.payer_id",
            $crate::store::rows::join_supplier!("o"),
            $rest
        )
    };
}
pub(in crate::store) use select_orders;

/// Reads a row of `select_orders!`.
pub(in crate::store) fn order(row: &impl RawRow) -> Result<PaymentOrder, Corrupt> {
    let columns = Columns::of("payment_orders", row);
    let operation: Option<i64> = columns.raw("operation_id")?;
    Ok(PaymentOrder {
        id: columns.number("id", PaymentOrderId::new)?,
        version: columns.number("version", Version::new)?,
        payer: party(columns, &PAYER)?,
        supplier: party(columns, &SUPPLIER)?,
        amount: columns.money("amount_cents")?,
        scheduled_for: columns.optional_parsed("scheduled_for")?,
        operation: operation.and_then(OperationId::new),
        status: columns.parsed("status")?,
        reason: columns.optional_parsed("reason")?,
        created_at: columns.timestamp("created_at")?,
    })
}

/// Maximum number of an operation's newest orders that are read. The active one is among them: it
/// is the newest, except for data older than this rule.
pub(in crate::store) const MAX_OTHER_ORDERS: i64 = 100;

/// The columns of orders that other orders of the same operation depend on: `$columns` more, before
/// `$rest`. A return each is needed for the orders that were paid before: after a clock was set back their returns,
/// too, lie after the payment.
macro_rules! select_other_orders {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " o.id,
                    CASE WHEN (SELECT count(*) FROM events r
                               WHERE r.head_office_id = o.head_office_id AND r.operation_id = o.operation_id
                                 AND r.type = 'anticipation.payout_returned')
                           >= (SELECT count(*) FROM payment_orders e
                               WHERE e.operation_id = o.operation_id AND e.status = 'PAID' AND e.id <= o.id)
                         THEN (SELECT min(r.at) FROM events r
                               WHERE r.head_office_id = o.head_office_id AND r.operation_id = o.operation_id
                                 AND r.type = 'anticipation.payout_returned'
                                 AND r.at >= (SELECT min(p.at) FROM events p
                                              WHERE p.head_office_id = o.head_office_id
                                                AND p.payment_order_id = o.id
                                                AND p.type = 'payment_order.paid'))
                    END AS returned_at
             FROM payment_orders o ",
            $rest
        )
    };
}
pub(in crate::store) use select_other_orders;

/// Reads a row of `select_other_orders!`.
pub(in crate::store) fn other_order(row: &impl RawRow) -> Result<OtherOrder, Corrupt> {
    let columns = Columns::of("payment_orders", row);
    Ok(OtherOrder {
        id: columns.number("id", PaymentOrderId::new)?,
        returned_at: columns.optional_timestamp("returned_at")?,
    })
}
