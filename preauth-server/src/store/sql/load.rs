//! The input of decisions on existing records, read in one snapshot.

use preauth_core::operation::{Operation, State};
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{LoadedNewOrder, LoadedOperation, LoadedOrder, OrderTarget};
use preauth_core::value::PaymentOrderId;

use crate::store::error::Fault;

use super::{Session, history, parties, payment_orders};

/// An operation, and the input of a command on it; `holder` is another one that holds its invoice.
pub(in crate::store) async fn operation(
    session: &mut dyn Session,
    operation: Operation,
    holder: Option<Operation>,
) -> Result<LoadedOperation, Fault> {
    let subscriptions =
        parties::subscriptions(session, &operation.payer, Some(&operation.supplier)).await?;
    let mut reached = None;
    if operation.closing().is_some() {
        reached = history::reached(session, &operation).await?;
    }
    let mut extended_to = None;
    if operation.state == State::ToBill {
        extended_to = history::extended_to(session, operation.id).await?;
    }
    let mut released_by = None;
    if operation.state == State::ToPay {
        released_by = history::released_by(session, &operation).await?;
    }
    Ok(LoadedOperation {
        operation,
        holder,
        reached,
        extended_to,
        released_by,
        subscriptions,
    })
}

/// The input of a new payment order without its id, which is reserved once the rest is found.
pub(in crate::store) async fn new_order(
    session: &mut dyn Session,
    target: &OrderTarget,
) -> Result<Option<impl FnOnce(PaymentOrderId) -> LoadedNewOrder + use<>>, Fault> {
    let Some(payer) = parties::by_id(session, target.payer).await? else {
        return Ok(None);
    };
    let Some(supplier) = parties::by_cnpj(session, target.supplier).await? else {
        return Ok(None);
    };
    let subscriptions = parties::subscriptions(session, &payer, None).await?;
    let (others, current) = match target.operation {
        Some(operation) => (
            payment_orders::of_operation(session, operation).await?,
            payment_orders::current(session, operation).await?,
        ),
        None => (Vec::new(), None),
    };
    Ok(Some(move |order| LoadedNewOrder {
        order,
        payer,
        supplier,
        subscriptions,
        others,
        current,
    }))
}

/// A payment order.
pub(in crate::store) async fn order(
    session: &mut dyn Session,
    id: PaymentOrderId,
) -> Result<Option<LoadedOrder<PaymentOrder>>, Fault> {
    let Some(order) = payment_orders::by_id(session, id).await? else {
        return Ok(None);
    };
    let subscriptions = parties::subscriptions(session, &order.payer, None).await?;
    Ok(Some(LoadedOrder {
        payer: order.payer.clone(),
        supplier: order.supplier.clone(),
        order,
        subscriptions,
    }))
}
