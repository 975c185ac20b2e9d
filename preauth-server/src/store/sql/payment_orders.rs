//! Payment orders as rows: reading.

use async_trait::async_trait;
use preauth_core::payment_order::{OtherOrder, PaymentOrder};
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{OperationId, PaymentOrderId, PaymentOrderStatus};

use crate::directory::{Page, PaymentOrderFilter, PaymentOrders};
use crate::store::error::Fault;
use crate::store::page_window::Window;
use crate::store::rows::{
    Columns, MAX_OTHER_ORDERS, clamped, order, other_order, select_orders, select_other_orders,
};

use super::planner::plan_by_values;
use super::{Builder, Database, Listed, Session, newest, query};

#[async_trait]
impl<D: Database> PaymentOrders for D {
    async fn payment_order(&self, id: PaymentOrderId) -> Result<Option<PaymentOrder>, Unavailable> {
        let found = self.read(&id, |session, id| Box::pin(by_id(session, *id)));
        Ok(found.await?)
    }

    async fn payment_orders(
        &self,
        filter: PaymentOrderFilter,
        page: PageRequest,
    ) -> Result<Page<PaymentOrder>, Unavailable> {
        let input = (filter, page);
        let found = self.read_snapshot(&input, |session, (filter, page)| {
            Box::pin(list(session, *filter, *page))
        });
        Ok(found.await?.page(self.set_aside(), order))
    }
}

/// The payment order with an id, if there is one.
pub(in crate::store) async fn by_id(
    session: &mut dyn Session,
    id: PaymentOrderId,
) -> Result<Option<PaymentOrder>, Fault> {
    let row = query(select_orders!("WHERE o.id = $1"))
        .bind(id.get())
        .fetch_optional(session)
        .await?;
    Ok(row.as_ref().map(order).transpose()?)
}

/// The newest orders of an operation that were neither canceled nor reproved.
pub(in crate::store) async fn of_operation(
    session: &mut dyn Session,
    operation: OperationId,
) -> Result<Vec<OtherOrder>, Fault> {
    let rows = query(select_other_orders!(
        "",
        "WHERE o.operation_id = $1 AND o.status NOT IN ('CANCELED', 'REPROVED')
         ORDER BY o.id DESC LIMIT $2"
    ))
    .bind(operation.get())
    .bind(MAX_OTHER_ORDERS)
    .fetch_all(session)
    .await?;
    let others: Result<_, _> = rows.iter().map(other_order).collect();
    Ok(others?)
}

/// The current order of an operation, which the next one replaces.
pub(in crate::store) async fn current(
    session: &mut dyn Session,
    operation: OperationId,
) -> Result<Option<PaymentOrderId>, Fault> {
    let row = query("SELECT payment_order_id FROM current_payment_orders WHERE operation_id = $1")
        .bind(operation.get())
        .fetch_optional(session)
        .await?;
    let current = row.as_ref().map(|row| {
        let columns = Columns::of("current_payment_orders", row);
        columns.number("payment_order_id", PaymentOrderId::new)
    });
    Ok(current.transpose()?)
}

async fn list(
    session: &mut dyn Session,
    filter: PaymentOrderFilter,
    page: PageRequest,
) -> Result<Listed, Fault> {
    plan_by_values(session).await?;
    let mut count = Builder::new("SELECT count(*) AS total FROM payment_orders o ");
    restrict(&mut count, filter);
    let total = count.build().total(session).await?;
    let (order, skip, take) = match Window::of(page, total) {
        Window::Empty => return Ok(Listed::whole(Vec::new(), total)),
        Window::FromNewest { skip, take } => ("DESC", skip, take),
        Window::FromOldest { skip, take } => ("ASC", skip, take),
    };
    // Of the orders before the page only the ids are read.
    let mut query = Builder::new("");
    let orders = (select_orders!("WHERE o.id"), "o");
    newest::among(&mut query, session.dialect(), orders, |ids| {
        ids.push("SELECT o.id FROM payment_orders o ");
        restrict(ids, filter);
        // The sign keeps the databases from walking through all ids.
        ids.push(if is_rare(filter) {
            " ORDER BY +o.id "
        } else {
            " ORDER BY o.id "
        });
        ids.push(order).push(" LIMIT ").bind(clamped(take));
        ids.push(" OFFSET ").bind(clamped(skip));
    });
    query.push(" ORDER BY o.id DESC");
    let rows = query.build().fetch_all(session).await?;
    Ok(Listed::whole(rows, total))
}

/// Whether an index has these alone. Most orders are paid.
fn is_rare(filter: PaymentOrderFilter) -> bool {
    filter.operation.is_some()
        || filter
            .status
            .is_some_and(|status| status != PaymentOrderStatus::Paid)
}

fn restrict(query: &mut Builder<'_>, filter: PaymentOrderFilter) {
    query.push("WHERE 1 = 1");
    if let Some(status) = filter.status {
        if status != PaymentOrderStatus::Paid {
            // The words of the partial index.
            query.push(" AND o.status <> 'PAID'");
        }
        query.push(" AND o.status = ").bind(status.as_str());
    }
    if let Some(operation) = filter.operation {
        query.push(" AND o.operation_id = ").bind(operation.get());
    }
}
