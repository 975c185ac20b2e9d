//! Ids that are reserved before they are used; each is assigned once, to one instance.
//!
//! A promoted standby may not have received the latest values, although they were already used. A
//! database therefore records the lineages on which its sequences have been advanced; on any other
//! lineage no connection of the store is used before (see `primary`).

use preauth_core::value::{ExtensionId, InvoiceId, PaymentOrderId};
use sqlx::{Connection, PgConnection};

use super::primary::Lineage;
use crate::store::COPY_MARGIN;
use crate::store::error::Fault;

/// Starts from the largest stored number: a copy made row by row, for another version of
/// PostgreSQL, lacks the state of the sequences. For lease tokens only their own state matters:
/// leases taken elsewhere end by their time.
const MOVE_ON: &str = "SELECT
         setval('operation_ids', $1 + greatest((SELECT last_value FROM operation_ids),
                                               (SELECT max(id) FROM operations))),
         setval('extension_ids', $1 + greatest((SELECT last_value FROM extension_ids),
                                               (SELECT max(id) FROM extensions))),
         setval('payment_order_ids', $1 + greatest((SELECT last_value FROM payment_order_ids),
                                                   (SELECT max(id) FROM payment_orders))),
         setval('invoice_ids', $1 + greatest((SELECT last_value FROM invoice_ids),
                                             (SELECT max(id) FROM invoices))),
         setval('audit_log_id_seq', $1 + greatest((SELECT last_value FROM audit_log_id_seq),
                                                  (SELECT max(id) FROM audit_log))),
         setval('lease_tokens', $1 + (SELECT last_value FROM lease_tokens))";

/// Advances all sequences and records that, unless another instance has done it; one that is doing
/// it now is waited for.
pub(super) async fn move_on(
    connection: &mut PgConnection,
    lineage: Lineage,
) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    let recorded = record(&mut transaction, lineage).await?;
    let margin = COPY_MARGIN.saturating_mul(lineage.timeline);
    if recorded {
        sqlx::query(MOVE_ON)
            .bind(margin)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    if recorded {
        tracing::warn!(
            system = lineage.system,
            timeline = lineage.timeline,
            "the database was promoted or restored; ids go on {margin} later"
        );
    }
    Ok(())
}

/// Advances all sequences of a copy that is adopted: made on the same server, it has no other lineage, and does not know
/// which ids its original assigned since. In an empty database none was assigned.
pub(super) async fn move_on_in_copy(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let has_ids: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM operations)")
        .fetch_one(&mut *connection)
        .await?;
    if has_ids {
        sqlx::query(MOVE_ON)
            .bind(COPY_MARGIN)
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Records the lineage of a database without one: its sequences are correct.
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

/// `false` when it was already recorded.
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
