-- A get: the key with its company and user, its rate window counted, and the operation.
\set id random(:low, :high)
WITH found AS (
    SELECT k.id, k.scopes, k.revoked_at, k.expires_at, k.company_id, k.user_id, c.kind,
        c.head_office_id, u.permissions, u.active, c.suspended_at, h.suspended_at AS head_suspended_at
    FROM api_keys k
    JOIN companies c ON c.id = k.company_id
    JOIN companies h ON h.id = c.head_office_id
    JOIN users u ON u.id = k.user_id
    WHERE k.hash = decode(:hash, 'hex')
), counted AS (
    -- Not the server's own window, which has rows in a form of its own.
    INSERT INTO rate_counts AS w (api_key_id, generation, begun_at, started_at, window_ms, carried,
        counted, writes, last_used_at)
    SELECT company_id, 0, 1800000000000, 1800000000000, 60000, 0, 1, 1, 1800000000000 FROM found
    ON CONFLICT (api_key_id, generation) DO UPDATE
    SET counted = w.counted + 1, last_used_at = excluded.last_used_at
    RETURNING counted
)
SELECT * FROM found, counted;
SELECT o.*, p.cnpj, p.name, s.cnpj, s.name, x.id, x.new_due_date, x.total_amount_cents
FROM operations o
JOIN companies p ON p.id = o.payer_id
JOIN companies s ON s.id = o.supplier_id
LEFT JOIN extensions x ON x.operation_id = o.id AND x.status = 'OPEN'
WHERE o.id = :id::bigint AND o.head_office_id = :payer::uuid;
