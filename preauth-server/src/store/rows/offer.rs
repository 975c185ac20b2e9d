//! The input of the decision on a new operation.

use preauth_core::operation::{Credit, OfferContext, Party};
use preauth_core::port::{LoadedOffer, Reply, Subscription};
use preauth_core::value::{CompanyId, EndpointId, Fingerprint, OperationId};
use uuid::Uuid;

use super::columns::{Columns, Corrupt};
use super::company::credit;
use super::party::{PAYER, known_supplier, party};

/// The result of one statement, and which operation in progress holds the invoice.
#[derive(Debug)]
pub(in crate::store) struct FoundOffer {
    pub(in crate::store) loaded: LoadedOffer,
    pub(in crate::store) holder: Option<OperationId>,
}

/// Reads a row with the columns of both databases' statements.
pub(in crate::store) fn found_offer(columns: Columns<'_>) -> Result<FoundOffer, Corrupt> {
    let has_credit: Option<i64> = columns.raw("max_term_days")?;
    let payer = party(columns, &PAYER)?;
    let supplier = known_supplier(columns)?;
    let credit: Option<Credit> = has_credit.map(|_| credit(columns)).transpose()?;
    Ok(FoundOffer {
        holder: columns
            .raw::<Option<i64>>("holder")?
            .and_then(OperationId::new),
        loaded: LoadedOffer {
            reply: reply(columns)?,
            subscriptions: subscriptions(columns, &payer, supplier.party())?,
            context: OfferContext {
                payer,
                supplier,
                supplier_is_of_group: columns.raw("supplier_is_of_group")?,
                supplier_is_blocked: columns.raw("supplier_is_blocked")?,
                credit,
                holder: None,
                id: columns.number("reserved", OperationId::new)?,
            },
        },
    })
}

fn reply(columns: Columns<'_>) -> Result<Option<Reply>, Corrupt> {
    let body: Option<String> = columns.raw("body")?;
    body.map(|body| {
        Ok(Reply {
            fingerprint: Fingerprint::from_bytes(columns.bytes("fingerprint")?),
            body,
            operation: columns.number("operation_id", OperationId::new)?,
            expires_at: columns.timestamp("expires_at")?,
        })
    })
    .transpose()
}

fn subscriptions(
    columns: Columns<'_>,
    payer: &Party,
    supplier: Option<&Party>,
) -> Result<Vec<Subscription>, Corrupt> {
    let sides = [
        (Some(payer.head_office), "payer_endpoint", "payer_events"),
        (
            supplier.map(|supplier| supplier.head_office),
            "supplier_endpoint",
            "supplier_events",
        ),
    ];
    let mut subscriptions = Vec::new();
    for (head_office, endpoint, events) in sides {
        let id: Option<Uuid> = columns.raw(endpoint)?;
        let (Some(id), Some(head_office)): (_, Option<CompanyId>) = (id, head_office) else {
            continue;
        };
        subscriptions.push(Subscription {
            endpoint: EndpointId::new(id),
            head_office,
            events: columns.set(events)?,
        });
    }
    Ok(subscriptions)
}
