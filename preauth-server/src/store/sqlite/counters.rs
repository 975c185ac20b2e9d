//! Reserves ids in memory: the lock file excludes other processes that could assign them.
//!
//! A copy does not know which ids its original assigned since. Its ids go on beyond a floor, which is stored where
//! SQLite keeps those of its own (`sqlite_sequence`, which the schema's `AUTOINCREMENT` brings).

use std::sync::atomic::{AtomicI64, Ordering};

use preauth_core::value::{ExtensionId, InvoiceId, OperationId, PaymentOrderId};
use sqlx::{Row, SqliteConnection};

use crate::store::COPY_MARGIN;
use crate::store::error::Fault;

/// The floors of the ids of operations, extensions, payment orders and invoices; named as PostgreSQL's sequences are.
const KINDS: [&str; 4] = [
    "operation_ids",
    "extension_ids",
    "payment_order_ids",
    "invoice_ids",
];

/// The largest assigned id of each kind.
#[derive(Debug)]
pub(super) struct Counters {
    operations: AtomicI64,
    extensions: AtomicI64,
    payment_orders: AtomicI64,
    invoices: AtomicI64,
}

impl Counters {
    /// Continues after the largest stored ids, and after the floor of a copy. An id that was reserved and
    /// never stored may be assigned again after a restart: no caller has seen it.
    pub(super) async fn seeded(connection: &mut SqliteConnection) -> Result<Self, sqlx::Error> {
        let [operations, extensions, payment_orders, invoices] = largest(connection).await?;
        Ok(Self {
            operations: AtomicI64::new(operations),
            extensions: AtomicI64::new(extensions),
            payment_orders: AtomicI64::new(payment_orders),
            invoices: AtomicI64::new(invoices),
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

/// The largest id of each of [`KINDS`] that may have been assigned.
async fn largest(connection: &mut SqliteConnection) -> Result<[i64; KINDS.len()], sqlx::Error> {
    let row = sqlx::query(
        "SELECT max(coalesce((SELECT max(id) FROM operations), 0),
                    coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'operation_ids'), 0)),
                max(coalesce((SELECT max(id) FROM extensions), 0),
                    coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'extension_ids'), 0)),
                max(coalesce((SELECT max(id) FROM payment_orders), 0),
                    coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'payment_order_ids'), 0)),
                max(coalesce((SELECT max(id) FROM invoices), 0),
                    coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'invoice_ids'), 0))",
    )
    .fetch_one(connection)
    .await?;
    Ok([
        row.try_get(0)?,
        row.try_get(1)?,
        row.try_get(2)?,
        row.try_get(3)?,
    ])
}

/// Advances all ids of a copy: its original may have assigned those that follow, and answered them. A store that is
/// open does not see it.
pub(super) async fn move_on(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let largest = largest(connection).await?;
    for (kind, largest) in KINDS.iter().zip(largest) {
        sqlx::query("DELETE FROM sqlite_sequence WHERE name = ?1")
            .bind(kind)
            .execute(&mut *connection)
            .await?;
        sqlx::query("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)")
            .bind(kind)
            .bind(largest.saturating_add(COPY_MARGIN))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// The same of a copy that is adopted, unless it has no records: then it is no copy, but a database that was just made.
pub(super) async fn move_on_in_copy(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    if largest(connection).await? != [0; KINDS.len()] {
        move_on(connection).await?;
    }
    Ok(())
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

    use sqlx::{Connection, SqliteConnection};

    use super::super::migrations;
    use super::{COPY_MARGIN, Counters, move_on_in_copy, next};

    #[tokio::test]
    async fn ids_of_every_kind_go_on_beyond_those_of_the_original() {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        migrations::run(&mut connection).await.unwrap();
        move_on_in_copy(&mut connection).await.unwrap();
        let counters = Counters::seeded(&mut connection).await.unwrap();
        assert_eq!(
            counters.next_operation().unwrap().get(),
            1,
            "none was assigned"
        );
        sqlx::query("INSERT INTO sqlite_sequence (name, seq) VALUES ('invoice_ids', 7)")
            .execute(&mut connection)
            .await
            .unwrap();
        for copies in 1..=2 {
            move_on_in_copy(&mut connection).await.unwrap();
            let counters = Counters::seeded(&mut connection).await.unwrap();
            let moved = copies * COPY_MARGIN;
            assert_eq!(counters.next_operation().unwrap().get(), moved + 1);
            assert_eq!(counters.next_extension().unwrap().get(), moved + 1);
            assert_eq!(counters.next_payment_order().unwrap().get(), moved + 1);
            assert_eq!(counters.next_invoice().unwrap().get(), moved + 8);
        }
    }

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
