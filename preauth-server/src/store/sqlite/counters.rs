//! Reserves ids in memory: the lock file excludes other processes that could assign them.

use std::sync::atomic::{AtomicI64, Ordering};

use preauth_core::value::{ExtensionId, InvoiceId, OperationId, PaymentOrderId};
use sqlx::{Row, SqliteConnection};

use crate::store::error::Fault;

/// The largest assigned id of each kind.
#[derive(Debug)]
pub(super) struct Counters {
    operations: AtomicI64,
    extensions: AtomicI64,
    payment_orders: AtomicI64,
    invoices: AtomicI64,
}

impl Counters {
    /// Continues after the largest stored ids. An id that was reserved and never stored may be
    /// assigned again after a restart: no caller has seen it.
    pub(super) async fn seeded(connection: &mut SqliteConnection) -> Result<Self, sqlx::Error> {
        let row = sqlx::query(
            "SELECT coalesce((SELECT max(id) FROM operations), 0),
                    coalesce((SELECT max(id) FROM extensions), 0),
                    coalesce((SELECT max(id) FROM payment_orders), 0),
                    coalesce((SELECT max(id) FROM invoices), 0)",
        )
        .fetch_one(connection)
        .await?;
        Ok(Self {
            operations: AtomicI64::new(row.try_get(0)?),
            extensions: AtomicI64::new(row.try_get(1)?),
            payment_orders: AtomicI64::new(row.try_get(2)?),
            invoices: AtomicI64::new(row.try_get(3)?),
        })
    }

    pub(super) fn next_operation(&self) -> Result<OperationId, Fault> {
        next(&self.operations)
            .and_then(OperationId::new)
            .ok_or(Fault::NoIdsLeft)
    }

    pub(super) fn next_extension(&self) -> Result<ExtensionId, Fault> {
        next(&self.extensions)
            .and_then(ExtensionId::new)
            .ok_or(Fault::NoIdsLeft)
    }

    pub(super) fn next_payment_order(&self) -> Result<PaymentOrderId, Fault> {
        next(&self.payment_orders)
            .and_then(PaymentOrderId::new)
            .ok_or(Fault::NoIdsLeft)
    }

    pub(super) fn next_invoice(&self) -> Result<InvoiceId, Fault> {
        next(&self.invoices)
            .and_then(InvoiceId::new)
            .ok_or(Fault::NoIdsLeft)
    }
}

fn next(counter: &AtomicI64) -> Option<i64> {
    let previous = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
        last.checked_add(1)
    });
    previous.ok()?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use super::next;

    #[test]
    fn numbers_go_up_by_one() {
        let counter = AtomicI64::new(41);
        assert_eq!((next(&counter), next(&counter)), (Some(42), Some(43)));
    }

    #[test]
    fn the_last_number_is_not_followed_by_a_negative_one() {
        let counter = AtomicI64::new(i64::MAX - 1);
        assert_eq!(next(&counter), Some(i64::MAX));
        assert_eq!(next(&counter), None);
        assert_eq!(next(&counter), None);
    }
}
