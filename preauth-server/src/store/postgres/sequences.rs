//! Ids that are reserved before they are used; each is given out once, to one instance.
//!
//! A standby that is promoted may not have heard of the latest numbers, although they were answered. A
//! database therefore records the lineages on which its sequences have been moved on; on any other
//! no connection of the store is used before (see `primary`).

use preauth_core::value::{ExtensionId, InvoiceId, PaymentOrderId};
use sqlx::{Connection, PgConnection};

use super::error::Fault;
use super::primary::Lineage;

/// How far each sequence is moved on. It must exceed what a primary can give out while its standby
/// does not hear of it: more than four minutes of the highest rate measured.
const MARGIN: i64 = 1_000_000;

/// From the largest number that the database knows of: a copy that was made row by row, for another
/// version of PostgreSQL, brings no state of sequences along. Of lease tokens only their own state
/// matters: what was leased elsewhere ends by its time.
const MOVE_ON: &str = "SELECT
         setval('operation_ids', $1 + greatest((SELECT last_value FROM operation_ids),
                                               (SELECT max(id) FROM operations))),
         setval('extension_ids', $1 + greatest((SELECT last_value FROM extension_ids),
                                               (SELECT max(id) FROM extensions))),
         setval('payment_order_ids', $1 + greatest((SELECT last_value FROM payment_order_ids),
                                                   (SELECT max(id) FROM payment_orders))),
         setval('invoice_ids', $1 + greatest((SELECT last_value FROM invoice_ids),
                                             (SELECT max(id) FROM invoices))),
         setval('lease_tokens', $1 + (SELECT last_value FROM lease_tokens))";

/// Moves all sequences on and records that, unless another instance has: one that is at it is
/// waited for.
pub(super) async fn move_on(
    connection: &mut PgConnection,
    lineage: Lineage,
) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    let recorded = record(&mut transaction, lineage).await?;
    if recorded {
        sqlx::query(MOVE_ON)
            .bind(MARGIN)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    if recorded {
        tracing::warn!(
            system = lineage.system,
            timeline = lineage.timeline,
            "the database was promoted or restored; ids go on {MARGIN} later"
        );
    }
    Ok(())
}

/// Records the lineage of a database that has recorded none: its sequences are as they should be.
pub(super) async fn record_first(
    connection: &mut PgConnection,
    lineage: Lineage,
) -> Result<(), sqlx::Error> {
    let known: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM id_lineages)")
        .fetch_one(&mut *connection)
        .await?;
    if !known {
        record(connection, lineage).await?;
    }
    Ok(())
}

/// False when it was recorded already.
async fn record(connection: &mut PgConnection, lineage: Lineage) -> Result<bool, sqlx::Error> {
    let recorded = sqlx::query(
        "INSERT INTO id_lineages (system_identifier, timeline) VALUES ($1, $2)
         ON CONFLICT DO NOTHING",
    )
    .bind(lineage.system)
    .bind(lineage.timeline)
    .execute(connection)
    .await?;
    Ok(recorded.rows_affected() == 1)
}

pub(super) async fn next_extension(connection: &mut PgConnection) -> Result<ExtensionId, Fault> {
    let id = sqlx::query_scalar("SELECT nextval('extension_ids')")
        .fetch_one(connection)
        .await?;
    ExtensionId::new(id).ok_or(Fault::NoIdsLeft)
}

pub(super) async fn next_payment_order(
    connection: &mut PgConnection,
) -> Result<PaymentOrderId, Fault> {
    let id = sqlx::query_scalar("SELECT nextval('payment_order_ids')")
        .fetch_one(connection)
        .await?;
    PaymentOrderId::new(id).ok_or(Fault::NoIdsLeft)
}

pub(super) async fn next_invoice(connection: &mut PgConnection) -> Result<InvoiceId, Fault> {
    let id = sqlx::query_scalar("SELECT nextval('invoice_ids')")
        .fetch_one(connection)
        .await?;
    InvoiceId::new(id).ok_or(Fault::NoIdsLeft)
}
