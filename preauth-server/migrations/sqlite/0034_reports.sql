-- What happened, by head office and by day or month of São Paulo, so that a report reads few rows however many operations
-- there are.

CREATE TABLE activity_counts (
    unit             TEXT    NOT NULL CHECK (unit IN ('DAY', 'MONTH')),
    -- 2026-11-21 or 2026-11.
    period           TEXT    NOT NULL CHECK (period <> ''),
    -- That of the event, or of the delivery's endpoint. Zeros: all of them together.
    head_office_id   BLOB    NOT NULL CHECK (length(head_office_id) = 16),
    -- The type of an event; `delivery`, or `delivery.failed` of one that was removed since.
    kind             TEXT    NOT NULL CHECK (kind <> ''),
    count            INTEGER NOT NULL,
    amount_cents     INTEGER NOT NULL,
    net_amount_cents INTEGER NOT NULL,
    PRIMARY KEY (unit, head_office_id, period, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_counts_by_period ON activity_counts (unit, period, head_office_id, kind);

-- Up to which number of an event is counted. Each step begins where the one before it ended.
CREATE TABLE activity_steps (
    after_number INTEGER NOT NULL PRIMARY KEY,
    upto         INTEGER NOT NULL CHECK (upto >= after_number)
) STRICT;

-- What happened before this step. Nobody writes meanwhile. São Paulo has been three hours behind UTC since 2019, before the
-- first event.
WITH happened AS MATERIALIZED (
    SELECT e.id, e.head_office_id, e.type AS kind,
           coalesce(o.amount_cents, p.amount_cents, 0) AS amount,
           CASE WHEN e.type IN ('anticipation.paid', 'anticipation.payout_returned') AND json_valid(e.body)
               THEN coalesce(CAST(round(json_extract(e.body, '$.data.netAmount') * 100) AS INTEGER), 0)
               ELSE 0 END AS net,
           e.at / 1000 - 10800 AS at
    FROM events e
    LEFT JOIN operations o ON o.id = e.operation_id
    LEFT JOIN payment_orders p ON p.id = e.payment_order_id
    WHERE e.type <> 'webhook.test'
      AND NOT (e.type = 'anticipation.requested' AND coalesce(o.origin, '') = 'DIRECT')
),
of_each AS (
    SELECT head_office_id, kind, at, amount, net FROM happened
    UNION ALL
    SELECT d.head_office_id, 'delivery', h.at, 0, 0
    FROM happened h JOIN deliveries d ON d.event_id = h.id
),
counted AS (
    SELECT head_office_id, kind, at, amount, net FROM of_each
    UNION ALL
    SELECT zeroblob(16), kind, at, amount, net FROM of_each
)
INSERT INTO activity_counts (unit, period, head_office_id, kind, count, amount_cents, net_amount_cents)
SELECT u.unit, strftime(u.form, c.at, 'unixepoch'), c.head_office_id, c.kind, count(*), sum(c.amount), sum(c.net)
FROM counted c
CROSS JOIN (SELECT 'DAY' AS unit, '%Y-%m-%d' AS form UNION ALL SELECT 'MONTH', '%Y-%m') AS u
GROUP BY 1, 2, 3, 4;

INSERT INTO activity_steps (after_number, upto)
SELECT -1, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'event_feed'), 0);

-- Deliveries that were given up, by the time when they were made; there are few beside what was sent.
CREATE INDEX deliveries_failed_of_day ON deliveries (created_at, head_office_id)
    WHERE status = 'FAILED' AND event_type <> 'webhook.test';
