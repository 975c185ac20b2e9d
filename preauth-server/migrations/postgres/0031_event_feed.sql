-- no-transaction
-- Events on request. A head office reads its events by number, and numbers are given in batches after the commits: one
-- that a commit took for itself might become visible after a greater one, and a reader would pass it.

-- The transaction that wrote the event, by which a batch knows what it has not seen. By default, so that builds before
-- this step record it, too. NULL: written before this step, and in no head office's list.
ALTER TABLE events ADD COLUMN IF NOT EXISTS xid BIGINT;
ALTER TABLE events ALTER COLUMN xid SET DEFAULT txid_current();
DROP INDEX CONCURRENTLY IF EXISTS events_by_xid;
CREATE INDEX CONCURRENTLY events_by_xid ON events (xid) WHERE xid IS NOT NULL;

-- Which head offices read an event, and where. Nothing here refers to another table: rows come with every event, and
-- the statement that writes them has read what they refer to.
CREATE TABLE IF NOT EXISTS event_feed (
    head_office_id UUID   NOT NULL,
    number         BIGINT NOT NULL CHECK (number > 0),
    event_id       UUID   NOT NULL,
    type           TEXT   NOT NULL CHECK (type <> ''),
    payer_id       UUID   NOT NULL,
    supplier_id    UUID   NOT NULL,
    PRIMARY KEY (head_office_id, number)
);

-- Each batch goes on where the one before it stopped; of two at the same moment one gets the number.
CREATE TABLE IF NOT EXISTS event_batches (
    number       BIGINT   NOT NULL PRIMARY KEY CHECK (number >= 0),
    numbered_at  BIGINT   NOT NULL,
    -- The numbers of its events begin after the first one.
    after_event  BIGINT   NOT NULL CHECK (after_event >= 0),
    last_event   BIGINT   NOT NULL CHECK (last_event >= after_event),
    -- Transactions from here on are left to later batches, and so are those before it that were in progress.
    next_xid     BIGINT   NOT NULL,
    pending      BIGINT[] NOT NULL,
    head_offices UUID[]   NOT NULL,
    -- The database, the table and the transaction in which the row was written: those of a restored dump differ, and
    -- the numbers of its transactions mean nothing there.
    place        TEXT     NOT NULL CHECK (place <> '')
);

INSERT INTO event_batches (number, numbered_at, after_event, last_event, next_xid, pending, head_offices, place)
SELECT 0, 0, 0, 0, 0, '{}', '{}',
       oid::TEXT || '/' || 'event_batches'::REGCLASS::OID::TEXT || '/' || (txid_current() % 4294967296)::TEXT
FROM pg_database WHERE datname = current_database()
ON CONFLICT DO NOTHING;

-- The last removed event of each company of a head office.
CREATE TABLE IF NOT EXISTS event_feed_ends (
    head_office_id UUID   NOT NULL,
    company_id     UUID   NOT NULL,
    number         BIGINT NOT NULL,
    event_id       UUID   NOT NULL,
    PRIMARY KEY (head_office_id, company_id)
);
