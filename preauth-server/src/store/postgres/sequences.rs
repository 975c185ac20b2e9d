//! Ids that are reserved before they are used; each is given out once, to one instance.

use preauth_core::value::{ExtensionId, InvoiceId, PaymentOrderId};
use sqlx::PgConnection;

use super::error::Fault;

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
