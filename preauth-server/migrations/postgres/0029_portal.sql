-- no-transaction
-- The supplier's page.

-- Addresses whose readers want no mails about offers.
CREATE TABLE IF NOT EXISTS suppressed_addresses (
    id            UUID   NOT NULL PRIMARY KEY,
    -- As mailbox() makes it.
    mailbox       TEXT   NOT NULL UNIQUE CHECK (mailbox <> ''),
    -- The offer whose link was used.
    operation_id  BIGINT NOT NULL,
    suppressed_at BIGINT NOT NULL
);

DROP INDEX CONCURRENTLY IF EXISTS suppressed_addresses_newest_first;
CREATE INDEX CONCURRENTLY suppressed_addresses_newest_first
    ON suppressed_addresses (suppressed_at, id);

-- Whether a canceled mail was not sent because of that list.
ALTER TABLE notices ADD COLUMN IF NOT EXISTS is_suppressed BOOLEAN NOT NULL DEFAULT FALSE;

-- When the supplier confirmed its name, which the head office's invitation then keeps.
ALTER TABLE supplier_invitations ADD COLUMN IF NOT EXISTS confirmed_at BIGINT;
