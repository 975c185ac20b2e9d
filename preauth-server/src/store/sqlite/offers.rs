//! The input of the decision on a new operation.

use std::borrow::Cow;

use preauth_core::port::{LoadedOffer, OfferTarget};
use preauth_core::value::{IdempotencyKey, InvoiceNumber, OperationId};
use serde::Serialize;
use sqlx::SqliteConnection;

use crate::store::error::Fault;
use crate::store::rows::{FoundOffer, found_offer};
use crate::store::sql::operations::by_id;

use super::rows::Columns;

/// A target, and the id reserved for its operation.
#[derive(Clone, Debug)]
pub(super) struct NewOffer {
    pub(super) target: OfferTarget,
    pub(super) id: OperationId,
}

/// A target as the statement reads it; ids in hexadecimal.
#[derive(Serialize)]
struct Asked<'t> {
    id: i64,
    payer: String,
    supplier: &'t str,
    root: String,
    numbers: Vec<Cow<'t, str>>,
    key: Option<&'t str>,
}

/// Finds the input of the decision on each target. The condition on the holder's number and status repeats
/// that of the unique index verbatim: otherwise SQLite does not use the index.
const FIND: &str = "WITH t AS MATERIALIZED (
             SELECT key AS n, value ->> 'id' AS reserved, unhex(value ->> 'payer') AS payer,
                    value ->> 'supplier' AS supplier, value ->> 'root' AS root,
                    value ->> 'numbers' AS numbers, value ->> 'key' AS idempotency_key
             FROM json_each(?1))
         SELECT t.n, t.reserved,
                p.id AS payer_id, p.head_office_id AS payer_head_office_id, p.cnpj AS payer_cnpj,
                p.name AS payer_name,
                s.id AS supplier_id, s.head_office_id AS supplier_head_office_id,
                s.cnpj AS supplier_cnpj, s.is_invited AS supplier_is_invited,
                CASE WHEN s.is_invited THEN si.name ELSE s.name END AS supplier_name,
                EXISTS (SELECT 1 FROM companies g
                        WHERE g.head_office_id = p.head_office_id
                          AND substr(g.cnpj, 1, 8) = t.root) AS supplier_is_of_group,
                EXISTS (SELECT 1 FROM blocked_suppliers b
                        WHERE b.head_office_id = p.head_office_id
                          AND substr(b.supplier_cnpj, 1, 8) = t.root) AS supplier_is_blocked,
                c.max_term_days, c.max_invoice_amount_cents,
                (SELECT o.id FROM json_each(t.numbers) AS f CROSS JOIN operations o
                 WHERE o.head_office_id = p.head_office_id AND o.supplier_cnpj = t.supplier
                   AND coalesce(o.invoice_number_nfc, o.invoice_number) = f.value
                   AND o.invoice_number IS NOT NULL
                   AND o.status NOT IN ('REPROVED', 'CONCLUDED') LIMIT 1) AS holder,
                r.fingerprint, r.operation_id, r.body, r.expires_at,
                pe.id AS payer_endpoint, pe.events AS payer_events,
                se.id AS supplier_endpoint, se.events AS supplier_events
         FROM t CROSS JOIN companies p ON p.id = t.payer
         LEFT JOIN companies s ON s.cnpj = t.supplier
         LEFT JOIN supplier_invitations si
             ON si.supplier_id = s.id AND si.head_office_id = p.head_office_id
         LEFT JOIN credit_analyses c ON c.head_office_id = p.head_office_id
         LEFT JOIN idempotency_replies r
             ON r.head_office_id = p.head_office_id AND r.key = t.idempotency_key
         LEFT JOIN endpoints pe
             ON pe.head_office_id = p.head_office_id AND pe.deleted_at IS NULL
         LEFT JOIN endpoints se
             ON se.head_office_id = s.head_office_id AND se.deleted_at IS NULL
                AND s.head_office_id <> p.head_office_id";

/// Everything except the operations that hold the invoices, which are rare: one statement, and so one
/// snapshot, for all targets.
pub(super) async fn find_all(
    connection: &mut SqliteConnection,
    offers: &[NewOffer],
) -> Result<Vec<Result<Option<FoundOffer>, Fault>>, Fault> {
    let asked: Vec<Asked<'_>> = offers.iter().map(asked).collect();
    let asked = serde_json::to_string(&asked).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let rows = sqlx::query(FIND).bind(asked).fetch_all(connection).await?;
    let mut answers: Vec<_> = offers.iter().map(|_| Ok(None)).collect();
    for row in &rows {
        let columns = Columns::of("companies", row);
        let n: usize = columns.raw("n")?;
        if let Some(answer) = answers.get_mut(n) {
            *answer = found_offer(columns).map(Some).map_err(Fault::from);
        }
    }
    Ok(answers)
}

/// Everything, including the operation that holds the invoice; the connection must be in a
/// snapshot.
pub(super) async fn find_held(
    connection: &mut SqliteConnection,
    offer: &NewOffer,
) -> Result<Option<LoadedOffer>, Fault> {
    let found = find_all(connection, std::slice::from_ref(offer)).await?;
    let found = found.into_iter().next().transpose()?.flatten();
    let Some(FoundOffer { mut loaded, holder }) = found else {
        return Ok(None);
    };
    if let Some(holder) = holder {
        loaded.context.holder = by_id(connection, holder).await?;
    }
    Ok(Some(loaded))
}

fn asked(offer: &NewOffer) -> Asked<'_> {
    let target = &offer.target;
    let number = target.invoice_number.as_ref();
    Asked {
        id: offer.id.get(),
        payer: target.payer.as_uuid().simple().to_string(),
        supplier: target.supplier.as_str(),
        root: target.supplier.root().as_str().to_owned(),
        numbers: number.map(InvoiceNumber::held_as).unwrap_or_default(),
        key: target.idempotency_key.as_ref().map(IdempotencyKey::as_str),
    }
}
