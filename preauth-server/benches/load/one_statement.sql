-- The rows of one create in one statement.
WITH o AS (
    INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version,
        origin, status, amount_cents, withheld_tax_cents, due_date, invoice_number,
        external_reference, expires_at, created_at)
    SELECT id, :payer::uuid, :payer::uuid, :supplier::uuid, :cnpj, 1, 'PRE_AUTH', 'IN_PRE_AUTH',
        100000, 0, '2027-01-31', 'B-' || id, 'pedido ' || id, 1900000000000, 1800000000000
    FROM nextval('operation_ids') AS id
    RETURNING id, head_office_id
), r AS (
    INSERT INTO idempotency_replies (head_office_id, key, fingerprint, operation_id, body,
        expires_at)
    SELECT head_office_id, 'pgbench ' || id, sha256(int8send(id)), id, repeat('r', 450),
        1900000000000
    FROM o
), e AS (
    INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor,
        actor_api_key_id, actor_user_id, body)
    SELECT gen_random_uuid(), head_office_id, id, 1, 'pre_authorization.created', 1800000000000,
        'API_KEY', head_office_id, head_office_id, repeat('e', 600)
    FROM o
    RETURNING id, head_office_id
), d AS (
    INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
        next_attempt_at, created_at)
    SELECT gen_random_uuid(), head_office_id, :endpoint::uuid, id, 'pre_authorization.created',
        'PENDING', 1800000000000, 1800000000000
    FROM e
)
INSERT INTO notices (id, head_office_id, operation_id, kind, recipient, content, staged_at,
    next_attempt_at)
SELECT gen_random_uuid(), head_office_id, id, 'OFFER', 'financeiro@fornecedor.com.br',
    repeat('n', 300), 1800000000000,
    -- Not due during a run, and not so late that an instance takes it for the work of a wrong clock.
    (extract(epoch FROM now()) * 1000)::bigint + 72000000
FROM o;
