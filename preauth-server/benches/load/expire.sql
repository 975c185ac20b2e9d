DO $$
DECLARE
    expired BIGINT;
BEGIN
    LOOP
        WITH due AS (
            SELECT id FROM operations WHERE status = 'IN_PRE_AUTH' AND expires_at = 1
            ORDER BY expires_at, id LIMIT 5000 FOR UPDATE
        ), o AS (
            UPDATE operations SET version = version + 1, status = 'REPROVED',
                closing_action = 'EXPIRE'
            FROM due WHERE operations.id = due.id
            RETURNING operations.id, head_office_id, version
        ), e AS (
            INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor, body, xid)
            SELECT gen_random_uuid(), head_office_id, id, version, 'pre_authorization.expired', 1,
                'SYSTEM', repeat('e', 600), NULL
            FROM o
            RETURNING id, head_office_id
        ), d AS (
            INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
                next_attempt_at, created_at)
            SELECT gen_random_uuid(), p.head_office_id, p.id, e.id, 'pre_authorization.expired',
                'PENDING', 1, 1
            FROM e JOIN endpoints p USING (head_office_id)
        )
        SELECT count(*) INTO expired FROM o;
        EXIT WHEN expired = 0;
        COMMIT;
    END LOOP;
END
$$
