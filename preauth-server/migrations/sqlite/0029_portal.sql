-- The supplier's page.

-- Addresses whose readers want no mails about offers.
CREATE TABLE suppressed_addresses (
    id            BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    -- As in the mails' column.
    mailbox       TEXT    NOT NULL UNIQUE CHECK (mailbox <> ''),
    -- The offer whose link was used.
    operation_id  INTEGER NOT NULL,
    suppressed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX suppressed_addresses_newest_first ON suppressed_addresses (suppressed_at, id);

-- Whether a canceled mail was not sent because of that list.
ALTER TABLE notices ADD COLUMN is_suppressed INTEGER NOT NULL DEFAULT 0 CHECK (is_suppressed IN (0, 1));

-- When the supplier confirmed its name, which the head office's invitation then keeps.
ALTER TABLE supplier_invitations ADD COLUMN confirmed_at INTEGER;
