//! Tables as years of use leave them.

use std::ops::RangeInclusive;

use preauth_core::value::{ApiKeyId, Cnpj, CompanyId};

use super::reported::run_unseen;
use crate::store::fixture::Fixture;

/// Rows added to each table. Reading all of them takes hundreds of pages.
pub(super) const ROWS: u32 = 10_000;

/// Gives one head office, one of its keys and one supplier many rows in every table that a create
/// reads, and others as many: those with these numbers.
pub(super) async fn fill(
    fixture: &Fixture,
    payer: CompanyId,
    key: ApiKeyId,
    supplier: Cnpj,
    rows: RangeInclusive<u32>,
) {
    let (payer, key) = (payer.as_uuid(), key.as_uuid());
    let now = fixture.now.unix_millis();
    let statements = [
        ("{first}", &*rows.start().to_string()),
        ("{last}", &*rows.end().to_string()),
        ("{payer}", &*payer.to_string()),
        ("{key}", &*key.to_string()),
        ("{supplier}", supplier.as_str()),
        ("{now}", &*now.to_string()),
    ]
    .into_iter()
    .fold(FILL.to_owned(), |sql, (name, value)| {
        sql.replace(name, value)
    });
    run_unseen(fixture, &statements).await;
}

const FILL: &str = "CREATE TEMPORARY TABLE many AS
                 SELECT n, gen_random_uuid() AS id, lpad((10000000 + n)::TEXT, 14, '7') AS cnpj
                 FROM generate_series({first}, {last}) AS n;
             -- Every fourth is a branch of the payer.
             INSERT INTO companies (id, cnpj, name, kind, head_office_id, created_at, is_invited)
                 SELECT id, cnpj, 'Nome', CASE WHEN n % 4 = 0 THEN 'CONSTRUCTION' ELSE 'SUPPLIER' END,
                        CASE WHEN n % 4 = 0 THEN '{payer}'::UUID ELSE id END, {now} + n, n % 4 = 1
                 FROM many;
             INSERT INTO blocked_suppliers (head_office_id, supplier_cnpj, blocked_at)
                 SELECT '{payer}'::UUID, cnpj, {now} FROM many
                 UNION ALL SELECT id, cnpj, {now} FROM many;
             INSERT INTO supplier_invitations (supplier_id, head_office_id, name, contact_name,
                     contact_email, invited_at)
                 SELECT m.id, '{payer}'::UUID, 'Nome', 'Ana', 'ana@example.com', {now} FROM many m
                 UNION ALL
                 SELECT s.id, m.id, 'Nome', 'Ana', 'ana@example.com', {now}
                 FROM many m CROSS JOIN companies s WHERE s.cnpj = '{supplier}';
             INSERT INTO credit_analyses (head_office_id, max_term_days, max_invoice_amount_cents,
                     analysed_at)
                 SELECT id, 90, 100000, {now} FROM many;
             INSERT INTO endpoints (id, head_office_id, url, events, created_at)
                 SELECT id, id, 'https://erp.example.com/', '', {now} FROM many;
             INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version,
                     origin, status, amount_cents, withheld_tax_cents, due_date, invoice_number,
                     invoice_number_nfc, expires_at, created_at)
                 -- Of the payer with others, of the payer with the supplier, of others.
                 SELECT 501000000 + m.n, '{payer}'::UUID, '{payer}'::UUID, m.id, m.cnpj, 1, 'PRE_AUTH',
                        'IN_PRE_AUTH', 100000, 0, '2027-01-20', 'NF', 'NF', {now} + m.n, {now}
                 FROM many m
                 UNION ALL
                 SELECT 502000000 + m.n, '{payer}'::UUID, '{payer}'::UUID, s.id, s.cnpj, 1, 'PRE_AUTH',
                        'IN_PRE_AUTH', 100000, 0, '2027-01-20', m.cnpj, m.cnpj, {now} + m.n, {now}
                 FROM many m CROSS JOIN companies s WHERE s.cnpj = '{supplier}'
                 UNION ALL
                 SELECT 503000000 + m.n, m.id, m.id, m.id, m.cnpj, 1, 'DIRECT',
                        'IN_ANALYSIS', 100000, 0, '2027-01-20', 'NF', 'NF', NULL, {now}
                 FROM many m;
             INSERT INTO idempotency_replies (head_office_id, key, fingerprint, operation_id, body,
                     expires_at)
                 SELECT '{payer}'::UUID, 'of-the-payer-' || n, sha256('x'), 501000000 + n, '', {now} + n
                 FROM many
                 UNION ALL SELECT id, 'of-others-' || n, sha256('x'), 503000000 + n, '', {now} + n
                 FROM many;
             INSERT INTO users (id, company_id, name, email, permissions, active, created_at)
                 SELECT id, '{payer}'::UUID, 'Ana', n || '@example.com', '', TRUE, {now} FROM many;
             INSERT INTO api_keys (id, company_id, user_id, name, hash, prefix, scopes, created_at,
                     expires_at)
                 SELECT id, '{payer}'::UUID, id, 'ERP', sha256(cnpj::BYTEA), 'service_sk_x', 'preauth:read',
                        {now} + n, {now} + 1000000
                 FROM many;
             INSERT INTO rate_counts (api_key_id, generation, begun_at, started_at, carried, counted,
                     writes, last_used_at)
                 SELECT id, 0, {now} - n, {now}, 0, 1, 1, {now} FROM many
                 UNION ALL SELECT '{key}'::UUID, 1000 * {first} + n, {now} - n, {now}, 0, 1, 32, {now} FROM many;
             INSERT INTO invoice_files (operation_id, name, media_type, size_bytes, sha256)
                 SELECT 501000000 + n, 'nota.pdf', 'application/pdf', 1, sha256(cnpj::BYTEA) FROM many;
             INSERT INTO invoice_file_bytes (head_office_id, slot, bytes)
                 SELECT id, 1, 1 FROM many;
             INSERT INTO announced_files (sha256, announced_at)
                 SELECT sha256(cnpj::BYTEA), {now} FROM many;
             DROP TABLE many";
