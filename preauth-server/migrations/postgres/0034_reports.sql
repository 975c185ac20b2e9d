-- no-transaction
-- What happened, by head office and by day or month of São Paulo, so that a report reads few rows however many operations
-- there are.

CREATE TABLE IF NOT EXISTS activity_counts (
    unit             TEXT   NOT NULL CHECK (unit IN ('DAY', 'MONTH')),
    -- 2026-11-21 or 2026-11.
    period           TEXT   NOT NULL CHECK (period <> ''),
    -- That of the event, or of the delivery's endpoint. Zeros: all of them together.
    head_office_id   UUID   NOT NULL,
    -- The type of an event; `delivery`, or `delivery.failed` of one that was removed since.
    kind             TEXT   NOT NULL CHECK (kind <> ''),
    count            BIGINT NOT NULL,
    amount_cents     BIGINT NOT NULL,
    net_amount_cents BIGINT NOT NULL,
    PRIMARY KEY (unit, head_office_id, period, kind)
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS activity_counts_by_period
    ON activity_counts (unit, period, head_office_id, kind);

-- Up to which batch of numbered events is counted. Each step begins where the one before it ended; of two at the same moment
-- one is written.
CREATE TABLE IF NOT EXISTS activity_steps (
    after_number BIGINT NOT NULL PRIMARY KEY,
    upto         BIGINT NOT NULL CHECK (upto >= after_number)
);

-- What happened before this step: exactly the events that the last batch has passed. The counts and the place from which to go
-- on are written by one statement, so that nothing is counted twice or left out, whatever is written meanwhile.
WITH last AS MATERIALIZED (
    SELECT b.number, b.next_xid, b.pending FROM event_batches b
    WHERE NOT EXISTS (SELECT 1 FROM activity_steps)
    ORDER BY b.number DESC LIMIT 1
),
happened AS MATERIALIZED (
    SELECT e.id, e.head_office_id, e.type AS kind,
           coalesce(o.amount_cents, p.amount_cents, 0) AS amount,
           CASE WHEN e.type IN ('anticipation.paid', 'anticipation.payout_returned') THEN coalesce(
               round(substring(e.body FROM '"netAmount":([0-9]{1,10}(?:[.][0-9]{1,2})?)')::NUMERIC * 100)::BIGINT, 0)
               ELSE 0 END AS net,
           to_timestamp(e.at / 1000.0) AT TIME ZONE 'America/Sao_Paulo' AS at
    FROM last l
    JOIN events e ON e.xid IS NULL OR (e.xid < l.next_xid AND e.xid <> ALL (l.pending))
    LEFT JOIN operations o ON o.id = e.operation_id
    LEFT JOIN payment_orders p ON p.id = e.payment_order_id
    WHERE e.type <> 'webhook.test'
      AND NOT (e.type = 'anticipation.requested' AND coalesce(o.origin, '') = 'DIRECT')
),
counted AS (
    SELECT head_office_id, kind, at, amount, net FROM happened
    UNION ALL
    SELECT d.head_office_id, 'delivery', h.at, 0, 0
    FROM happened h JOIN deliveries d ON d.event_id = h.id
),
step AS (
    INSERT INTO activity_steps (after_number, upto) SELECT -1, number FROM last
    ON CONFLICT (after_number) DO NOTHING RETURNING upto
)
INSERT INTO activity_counts (unit, period, head_office_id, kind, count, amount_cents, net_amount_cents)
SELECT u.unit, to_char(c.at, u.form), w.id, c.kind, count(*), sum(c.amount), sum(c.net)
FROM step
CROSS JOIN counted c
CROSS JOIN (VALUES ('DAY', 'YYYY-MM-DD'), ('MONTH', 'YYYY-MM')) AS u (unit, form)
CROSS JOIN LATERAL (VALUES (c.head_office_id), ('00000000-0000-0000-0000-000000000000'::UUID)) AS w (id)
GROUP BY 1, 2, 3, 4
ON CONFLICT (unit, head_office_id, period, kind) DO NOTHING;

-- Deliveries that were given up, by the time when they were made; there are few beside what was sent.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_failed_of_day;
CREATE INDEX CONCURRENTLY deliveries_failed_of_day ON deliveries (created_at, head_office_id)
    WHERE status = 'FAILED' AND event_type <> 'webhook.test';
