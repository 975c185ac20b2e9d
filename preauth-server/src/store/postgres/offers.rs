//! The input of the decision on a new operation.

use std::borrow::Cow;

use preauth_core::port::{LoadedOffer, OfferTarget};
use preauth_core::value::{CnpjRoot, IdempotencyKey, InvoiceNumber};
use sqlx::PgConnection;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::store::error::Fault;
use crate::store::rows::{FoundOffer, found_offer};

use super::operations::in_progress_with_a_number;
use super::rows::{Columns, place};
use super::statement::query_of;
use crate::store::sql::operations::by_id;

/// Finds the input of the decision on each target.
///
/// A subquery with a limit has only one plan: row by row, by the whole key, however small its
/// table is at planning time. A join on two columns from two tables would search by the first
/// alone, and compare all rows of a company.
///
/// The sequence writes to the log at every 32nd id, for which nobody waits: the commit of an operation comes later in
/// the log, so no durable operation has an id that a crash gives out again. A request that outlives the crash may find
/// that another one has its id by now: one of the two conflicts, and decides again.
macro_rules! find {
    ($source:literal) => {
        concat!(
            "SELECT t.n,
                p.id AS payer_id, p.head_office_id AS payer_head_office_id, p.cnpj AS payer_cnpj,
                p.name AS payer_name,
                s.id AS supplier_id, s.head_office_id AS supplier_head_office_id,
                s.cnpj AS supplier_cnpj, s.is_invited AS supplier_is_invited,
                CASE WHEN s.is_invited THEN si.name ELSE s.name END AS supplier_name,
                (SELECT 1 FROM companies g
                 WHERE g.head_office_id = p.head_office_id
                   AND substr(g.cnpj, 1, 8) = t.root LIMIT 1) IS NOT NULL AS supplier_is_of_group,
                (SELECT 1 FROM blocked_suppliers b
                 WHERE b.head_office_id = p.head_office_id
                   AND substr(b.supplier_cnpj, 1, 8) = t.root LIMIT 1) IS NOT NULL
                    AS supplier_is_blocked,
                c.max_term_days, c.max_invoice_amount_cents,
                (SELECT o.id
                 FROM unnest(ARRAY[t.number, t.second_form, t.third_form, t.fourth_form])
                     AS f (number)
                 CROSS JOIN LATERAL (
                     SELECT o.id FROM operations o
                     WHERE o.head_office_id = p.head_office_id AND o.supplier_cnpj = t.supplier
                       AND coalesce(o.invoice_number_nfc, o.invoice_number) = f.number
                       AND ",
            in_progress_with_a_number!(),
            " LIMIT 1) AS o
                 LIMIT 1) AS holder,
                r.fingerprint, r.operation_id, r.body, r.expires_at,
                pe.id AS payer_endpoint, pe.events AS payer_events,
                se.id AS supplier_endpoint, se.events AS supplier_events,
                nextval('operation_ids') AS reserved,
                (SELECT set_config('synchronous_commit', 'off', TRUE))
         FROM ",
            $source,
            " AS t (payer, supplier, root, number, second_form, third_form, fourth_form, key, n)
         CROSS JOIN LATERAL (
             SELECT p.id, p.head_office_id, p.cnpj, p.name
             FROM companies p WHERE p.id = t.payer LIMIT 1) AS p
         LEFT JOIN LATERAL (
             SELECT s.id, s.head_office_id, s.cnpj, s.name, s.is_invited
             FROM companies s WHERE s.cnpj = t.supplier LIMIT 1) AS s ON TRUE
         LEFT JOIN LATERAL (
             SELECT i.name FROM supplier_invitations i
             WHERE i.supplier_id = s.id AND i.head_office_id = p.head_office_id LIMIT 1) AS si ON TRUE
         LEFT JOIN LATERAL (
             SELECT c.max_term_days, c.max_invoice_amount_cents FROM credit_analyses c
             WHERE c.head_office_id = p.head_office_id LIMIT 1) AS c ON TRUE
         LEFT JOIN LATERAL (
             SELECT r.fingerprint, r.operation_id, r.body, r.expires_at FROM idempotency_replies r
             WHERE r.head_office_id = p.head_office_id AND r.key = t.key LIMIT 1) AS r ON TRUE
         LEFT JOIN LATERAL (
             SELECT e.id, e.events FROM endpoints e
             WHERE e.head_office_id = p.head_office_id AND e.deleted_at IS NULL LIMIT 1) AS pe ON TRUE
         LEFT JOIN LATERAL (
             SELECT e.id, e.events FROM endpoints e
             WHERE e.head_office_id = s.head_office_id AND e.deleted_at IS NULL
               AND s.head_office_id <> p.head_office_id LIMIT 1) AS se ON TRUE"
        )
    };
}

const FIND: &str = find!(
    "unnest($1::UUID[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[],
             $8::TEXT[]) WITH ORDINALITY"
);

const FIND_ONE: &str = find!(
    "(SELECT $1::UUID, $2::TEXT, $3::TEXT, $4::TEXT, $5::TEXT, $6::TEXT, $7::TEXT, $8::TEXT,
             1::BIGINT)"
);

/// Everything except the operations that hold the invoices, which are rare: one round trip for all
/// targets, and one snapshot, because it is one statement. Reserves the ids.
pub(super) async fn find_all(
    connection: &mut PgConnection,
    targets: &[OfferTarget],
) -> Result<Vec<Result<Option<FoundOffer>, Fault>>, Fault> {
    let roots: Vec<CnpjRoot> = targets.iter().map(|it| it.supplier.root()).collect();
    let wanted = Wanted {
        payers: targets.iter().map(|it| it.payer.as_uuid()).collect(),
        suppliers: targets.iter().map(|it| it.supplier.as_str()).collect(),
        roots: roots.iter().map(CnpjRoot::as_str).collect(),
        number_forms: number_forms(targets),
        keys: targets.iter().map(key).collect(),
    };
    let rows = wanted.find(connection).await?;
    let mut answers: Vec<_> = targets.iter().map(|_| Ok(None)).collect();
    for row in &rows {
        let columns = Columns::of("companies", row);
        if let Some(answer) = place(columns, "n", &mut answers)? {
            *answer = found_offer(columns).map(Some).map_err(Fault::from);
        }
    }
    Ok(answers)
}

/// Finds the input of `callers` decisions on targets of a company that does not exist, so no id is reserved.
pub(super) async fn warm_up(
    connection: &mut PgConnection,
    callers: usize,
) -> Result<(), sqlx::Error> {
    let nobody = Uuid::nil();
    let wanted = Wanted {
        payers: vec![&nobody; callers],
        suppliers: vec![""; callers],
        roots: vec![""; callers],
        number_forms: [(); 4].map(|()| vec![None; callers]),
        keys: vec![None; callers],
    };
    wanted.find(connection).await.map(drop)
}

/// Targets, column by column.
struct Wanted<'a> {
    payers: Vec<&'a Uuid>,
    suppliers: Vec<&'a str>,
    roots: Vec<&'a str>,
    number_forms: [Vec<Option<Cow<'a, str>>>; 4],
    keys: Vec<Option<&'a str>>,
}

impl Wanted<'_> {
    async fn find(self, connection: &mut PgConnection) -> Result<Vec<PgRow>, sqlx::Error> {
        let Self {
            payers,
            suppliers,
            roots,
            number_forms: [numbers, second_forms, third_forms, fourth_forms],
            keys,
        } = self;
        let query = query_of!(
            FIND_ONE, FIND; payers, suppliers, roots, numbers, second_forms, third_forms, fourth_forms, keys
        );
        query.fetch_all(connection).await
    }
}

/// The forms in which the targets' invoices may be held: the first form of each target, the second,
/// the third, the fourth; a number has no more.
fn number_forms(targets: &[OfferTarget]) -> [Vec<Option<Cow<'_, str>>>; 4] {
    let mut columns = [(); 4].map(|()| Vec::with_capacity(targets.len()));
    for target in targets {
        let forms = target.invoice_number.as_ref().map(InvoiceNumber::held_as);
        let mut forms = forms.into_iter().flatten();
        for column in &mut columns {
            column.push(forms.next());
        }
    }
    columns
}

fn key(target: &OfferTarget) -> Option<&str> {
    target.idempotency_key.as_ref().map(IdempotencyKey::as_str)
}

/// Everything, including the operation that holds the invoice; the connection must be in a
/// snapshot.
pub(super) async fn find_held(
    connection: &mut PgConnection,
    target: &OfferTarget,
) -> Result<Option<LoadedOffer>, Fault> {
    let found = find_all(connection, std::slice::from_ref(target)).await?;
    let found = found.into_iter().next().transpose()?.flatten();
    let Some(FoundOffer { mut loaded, holder }) = found else {
        return Ok(None);
    };
    if let Some(holder) = holder {
        loaded.context.holder = by_id(connection, holder).await?;
    }
    Ok(Some(loaded))
}
