-- The rows of one create, a statement each.
BEGIN;
INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version, origin,
    status, amount_cents, withheld_tax_cents, due_date, invoice_number, external_reference,
    expires_at, created_at)
SELECT id, :payer::uuid, :payer::uuid, :supplier::uuid, :cnpj, 1, 'PRE_AUTH', 'IN_PRE_AUTH',
    100000, 0, '2027-01-31', 'B-' || id, 'pedido ' || id, 1900000000000, 1800000000000
FROM nextval('operation_ids') AS id;
INSERT INTO idempotency_replies (head_office_id, key, fingerprint, operation_id, body, expires_at)
SELECT :payer::uuid, 'pgbench ' || id, sha256(int8send(id)), id, repeat('r', 450), 1900000000000
FROM currval('operation_ids') AS id;
INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor, actor_api_key_id,
    actor_user_id, body)
SELECT md5(id::text)::uuid, :payer::uuid, id, 1, 'pre_authorization.created', 1800000000000,
    'API_KEY', :payer::uuid, :payer::uuid, repeat('e', 600)
FROM currval('operation_ids') AS id;
INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
    next_attempt_at, created_at)
SELECT gen_random_uuid(), :payer::uuid, :endpoint::uuid, md5(id::text)::uuid,
    'pre_authorization.created', 'PENDING', 1800000000000, 1800000000000
FROM currval('operation_ids') AS id;
INSERT INTO notices (id, head_office_id, operation_id, kind, recipient, content, staged_at,
    next_attempt_at)
SELECT gen_random_uuid(), :payer::uuid, id, 'OFFER', 'financeiro@fornecedor.com.br',
    repeat('n', 300), 1800000000000, 1800000000000
FROM currval('operation_ids') AS id;
COMMIT;
