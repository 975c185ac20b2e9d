//! The input of decisions, read in one snapshot.

use std::collections::HashMap;

use preauth_core::port::{LoadedNewOrder, LoadedOperation, OrderTarget, Subscription};
use preauth_core::value::{CompanyId, OperationId, Timestamp};
use sqlx::SqliteConnection;

use crate::store::error::Fault;
use crate::store::rows::Corrupt;
pub(super) use crate::store::sql::load::order;
use crate::store::sql::operations::by_id;
use crate::store::sql::{load, parties};

use super::counters::Counters;
use super::operations;

/// An operation and the input of a command on it; the connection must be in a snapshot.
pub(super) async fn operation(
    connection: &mut SqliteConnection,
    id: OperationId,
) -> Result<Option<LoadedOperation>, Fault> {
    let Some(operation) = by_id(connection, id).await? else {
        return Ok(None);
    };
    let holder = operations::holder(
        connection,
        operation.payer.head_office,
        operation.supplier.cnpj,
        operation.invoice.number.as_ref(),
        id,
    )
    .await?;
    Ok(Some(load::operation(connection, operation, holder).await?))
}

/// Overdue offers; the connection must be in a snapshot.
pub(super) async fn overdue(
    connection: &mut SqliteConnection,
    now: Timestamp,
    limit: u32,
    left_out: &[i64],
) -> Result<(Vec<LoadedOperation>, Vec<(OperationId, Corrupt)>), Fault> {
    let (operations, mut unreadable) =
        operations::overdue(connection, now, limit, left_out).await?;
    let mut known: HashMap<(CompanyId, CompanyId), Vec<Subscription>> = HashMap::new();
    let mut loaded = Vec::with_capacity(operations.len());
    for operation in operations {
        let (payer, supplier) = (&operation.payer, &operation.supplier);
        let parties = (payer.head_office, supplier.head_office);
        let subscriptions = if let Some(subscriptions) = known.get(&parties) {
            subscriptions.clone()
        } else {
            match parties::subscriptions(connection, payer, Some(supplier)).await {
                Ok(found) => known.entry(parties).or_insert(found).clone(),
                // Its subscribers are unknown.
                Err(Fault::Corrupt(cause)) => {
                    unreadable.push((operation.id, cause));
                    continue;
                }
                Err(fault) => return Err(fault),
            }
        };
        loaded.push(LoadedOperation {
            operation,
            // An offer itself holds its invoice, and has no history.
            holder: None,
            reached: None,
            extended_to: None,
            released_by: None,
            subscriptions,
        });
    }
    Ok((loaded, unreadable))
}

/// The input of a new payment order; the connection must be in a snapshot.
pub(super) async fn new_order(
    connection: &mut SqliteConnection,
    counters: &Counters,
    target: &OrderTarget,
) -> Result<Option<LoadedNewOrder>, Fault> {
    let Some(loaded) = load::new_order(connection, target).await? else {
        return Ok(None);
    };
    Ok(Some(loaded(counters.next_payment_order()?)))
}
