//! The input of decisions, read in one snapshot.

use std::collections::HashMap;

use preauth_core::operation::{Credit, KnownSupplier, OfferContext, Party};
use preauth_core::port::{
    LoadedNewOrder, LoadedOffer, LoadedOperation, OfferTarget, OrderTarget, Reply, Subscription,
};
use preauth_core::value::{CompanyId, Fingerprint, IdempotencyKey, OperationId, Timestamp};
use sqlx::SqliteConnection;

use crate::store::error::Fault;
use crate::store::rows::{Corrupt, PAYER, credit, known_supplier, party};
pub(super) use crate::store::sql::load::order;
use crate::store::sql::operations::by_id;
use crate::store::sql::{load, parties};

use super::counters::Counters;
use super::operations;
use super::rows::Columns;

/// The input of the decision on a new operation; the connection must be in a snapshot.
pub(super) async fn offer(
    connection: &mut SqliteConnection,
    counters: &Counters,
    target: &OfferTarget,
) -> Result<Option<LoadedOffer>, Fault> {
    let Some(known) = parties_of(connection, target).await? else {
        return Ok(None);
    };
    let Known {
        payer,
        supplier,
        supplier_is_of_group,
        supplier_is_blocked,
        credit,
    } = known;
    let number = target.invoice_number.as_ref();
    let holder =
        operations::holder(connection, payer.head_office, target.supplier, number, None).await?;
    let reply = match &target.idempotency_key {
        Some(key) => reply(connection, payer.head_office, key).await?,
        None => None,
    };
    let subscriptions = parties::subscriptions(connection, &payer, supplier.party()).await?;
    Ok(Some(LoadedOffer {
        context: OfferContext {
            payer,
            supplier,
            supplier_is_of_group,
            supplier_is_blocked,
            credit,
            holder,
            id: counters.next_operation()?,
        },
        reply,
        subscriptions,
    }))
}

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
        Some(id),
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

struct Known {
    payer: Party,
    supplier: KnownSupplier,
    supplier_is_of_group: bool,
    supplier_is_blocked: bool,
    credit: Option<Credit>,
}

async fn parties_of(
    connection: &mut SqliteConnection,
    target: &OfferTarget,
) -> Result<Option<Known>, Fault> {
    let row = sqlx::query(
        "SELECT p.id AS payer_id, p.head_office_id AS payer_head_office_id, p.cnpj AS payer_cnpj,
                p.name AS payer_name,
                s.id AS supplier_id, s.head_office_id AS supplier_head_office_id,
                s.cnpj AS supplier_cnpj, s.is_invited AS supplier_is_invited,
                CASE WHEN s.is_invited THEN si.name ELSE s.name END AS supplier_name,
                EXISTS (SELECT 1 FROM companies g
                        WHERE g.head_office_id = p.head_office_id
                          AND substr(g.cnpj, 1, 8) = ?3) AS supplier_is_of_group,
                EXISTS (SELECT 1 FROM blocked_suppliers b
                        WHERE b.head_office_id = p.head_office_id
                          AND substr(b.supplier_cnpj, 1, 8) = ?3) AS supplier_is_blocked,
                c.max_term_days, c.max_invoice_amount_cents
         FROM companies p
         LEFT JOIN companies s ON s.cnpj = ?2
         LEFT JOIN supplier_invitations si
             ON si.supplier_id = s.id AND si.head_office_id = p.head_office_id
         LEFT JOIN credit_analyses c ON c.head_office_id = p.head_office_id
         WHERE p.id = ?1",
    )
    .bind(target.payer.as_uuid().as_bytes().as_slice())
    .bind(target.supplier.as_str())
    .bind(target.supplier.root().as_str())
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let columns = Columns::of("companies", &row);
    let has_credit: Option<i64> = columns.raw("max_term_days")?;
    Ok(Some(Known {
        payer: party(columns, &PAYER)?,
        supplier: known_supplier(columns)?,
        supplier_is_of_group: columns.raw("supplier_is_of_group")?,
        supplier_is_blocked: columns.raw("supplier_is_blocked")?,
        credit: has_credit.map(|_| credit(columns)).transpose()?,
    }))
}

async fn reply(
    connection: &mut SqliteConnection,
    head_office: CompanyId,
    key: &IdempotencyKey,
) -> Result<Option<Reply>, Fault> {
    let row = sqlx::query(
        "SELECT fingerprint, operation_id, body, expires_at FROM idempotency_replies
         WHERE head_office_id = ?1 AND key = ?2",
    )
    .bind(head_office.as_uuid().as_bytes().as_slice())
    .bind(key.as_str())
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let columns = Columns::of("idempotency_replies", &row);
    Ok(Some(Reply {
        fingerprint: Fingerprint::from_bytes(columns.bytes("fingerprint")?),
        body: columns.raw("body")?,
        operation: columns.number("operation_id", OperationId::new)?,
        expires_at: columns.timestamp("expires_at")?,
    }))
}
