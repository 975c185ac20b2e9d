-- The violations in a drill's history, a line for each. The parameters are its records, in columns: what happened, the invoice's
-- number, and what was sent or received, as it was.
WITH history AS MATERIALIZED (
    SELECT what, number, body FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[]) AS h (what, number, body)
),
acknowledged AS MATERIALIZED (
    SELECT number, (body::JSONB ->> 'id')::BIGINT AS id FROM history WHERE what = 'acknowledged'
),
listed AS MATERIALIZED (
    SELECT (o ->> 'id')::BIGINT AS id, o -> 'invoice' ->> 'number' AS number, o ->> 'status' AS status
    FROM history CROSS JOIN LATERAL jsonb_array_elements(body::JSONB -> 'data') AS o
    WHERE what = 'listed'
),
received AS MATERIALIZED (
    SELECT body, body::JSONB ->> 'id' AS event, body::JSONB ->> 'type' AS type,
           (body::JSONB -> 'data' ->> 'anticipationId')::BIGINT AS operation
    FROM history WHERE what = 'received'
),
owed AS MATERIALIZED (
    SELECT id AS operation, 'pre_authorization.created' AS type FROM listed
    UNION ALL
    SELECT id, 'pre_authorization.revoked' FROM listed WHERE status = 'REPROVED'
),
delivered AS MATERIALIZED (
    SELECT operation, type, count(DISTINCT event) AS events FROM received GROUP BY operation, type
)
SELECT format('acknowledged, and not listed with its number: %s', number) FROM acknowledged a
WHERE NOT EXISTS (SELECT FROM listed l WHERE l.id = a.id AND l.number = a.number)
UNION ALL
SELECT format('two acknowledged as one: %s', id) FROM acknowledged GROUP BY id HAVING count(*) > 1
UNION ALL
SELECT format('two listed as one: %s', id) FROM listed GROUP BY id HAVING count(*) > 1
UNION ALL
SELECT format('listed twice: %s', number) FROM listed GROUP BY number HAVING count(*) > 1
UNION ALL
SELECT format('refused, and listed: %s', h.number) FROM history h JOIN listed l ON l.number = h.number
WHERE h.what = 'refused'
UNION ALL
SELECT format('listed, and nobody asked for it: %s', l.number) FROM listed l
WHERE NOT EXISTS (SELECT FROM history h WHERE h.number = l.number)
UNION ALL
SELECT format('canceled, and %s: %s', l.status, l.number) FROM listed l
WHERE l.status <> 'REPROVED' AND EXISTS (SELECT FROM history h WHERE h.number = l.number AND h.what = 'canceled')
UNION ALL
SELECT format('REPROVED, and nobody canceled it: %s', l.number) FROM listed l
WHERE l.status = 'REPROVED' AND NOT EXISTS (SELECT FROM history h WHERE h.number = l.number AND h.what = 'canceled')
UNION ALL
SELECT format('owed once, and received %s times: %s of %s', coalesce(d.events, 0), o.type, o.operation)
FROM owed o LEFT JOIN delivered d ON d.operation = o.operation AND d.type = o.type
WHERE coalesce(d.events, 0) <> 1
UNION ALL
SELECT format('received, and not owed: %s of %s', d.type, d.operation) FROM delivered d
WHERE NOT EXISTS (SELECT FROM owed o WHERE o.operation = d.operation AND o.type = d.type)
UNION ALL
SELECT format('one event, different bytes: %s', event) FROM received GROUP BY event HAVING count(DISTINCT body) > 1
