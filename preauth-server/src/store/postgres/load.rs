//! The input of decisions, read in one snapshot.

use std::collections::HashMap;

use preauth_core::port::{LoadedNewOrder, LoadedOperation, OrderTarget, Subscription};
use preauth_core::value::{CompanyId, OperationId};
use sqlx::PgConnection;

use crate::store::error::Fault;
use crate::store::rows::Corrupt;
pub(super) use crate::store::sql::load::order;
use crate::store::sql::operations::by_id;
use crate::store::sql::{load, parties};

use super::{operations, sequences};

/// An operation and the input of a command on it; the connection must be in a snapshot.
pub(super) async fn operation(
    connection: &mut PgConnection,
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

/// Overdue offers, by two statements for any number of them; the connection must be in a snapshot.
pub(super) async fn overdue(
    connection: &mut PgConnection,
    search: &operations::OverdueSearch,
) -> Result<(Vec<LoadedOperation>, Vec<(OperationId, Corrupt)>), Fault> {
    let (operations, unreadable) = operations::overdue(connection, search).await?;
    let mut head_offices: Vec<CompanyId> = operations
        .iter()
        .flat_map(|operation| [operation.payer.head_office, operation.supplier.head_office])
        .collect();
    head_offices.sort_unstable();
    head_offices.dedup();
    let mut endpoints: HashMap<CompanyId, Subscription> = HashMap::new();
    for endpoint in parties::endpoints_of(connection, &head_offices).await? {
        endpoints.insert(endpoint.head_office, endpoint);
    }
    let loaded = operations.into_iter().map(|operation| {
        let payer = operation.payer.head_office;
        let supplier = Some(operation.supplier.head_office).filter(|supplier| *supplier != payer);
        let hearing = [payer].into_iter().chain(supplier);
        LoadedOperation {
            subscriptions: hearing
                .filter_map(|head_office| endpoints.get(&head_office).cloned())
                .collect(),
            // An offer itself holds its invoice, and has no history.
            holder: None,
            reached: None,
            extended_to: None,
            released_by: None,
            operation,
        }
    });
    Ok((loaded.collect(), unreadable))
}

/// The input of a new payment order; the connection must be in a snapshot.
pub(super) async fn new_order(
    connection: &mut PgConnection,
    target: &OrderTarget,
) -> Result<Option<LoadedNewOrder>, Fault> {
    let Some(loaded) = load::new_order(connection, target).await? else {
        return Ok(None);
    };
    let id = sequences::next_payment_order(connection).await?;
    Ok(Some(loaded(id)))
}
