-- Personal data that is erased.

-- The erasures of a company's personal data. The row is written first: what is missing after a crash has its reason.
CREATE TABLE erasures (
    company_id         BLOB    NOT NULL CHECK (length(company_id) = 16),
    began_at           INTEGER NOT NULL,
    operator           TEXT    NOT NULL CHECK (operator <> ''),
    -- NULL: it goes on with the next request.
    completed_at       INTEGER,
    -- The last operation whose mails and file were removed, as supplier and as payer.
    walked_as_supplier INTEGER NOT NULL DEFAULT 0,
    walked_as_payer    INTEGER NOT NULL DEFAULT 0,
    -- What was erased.
    contacts           INTEGER NOT NULL DEFAULT 0,
    users              INTEGER NOT NULL DEFAULT 0,
    mails              INTEGER NOT NULL DEFAULT 0,
    files              INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (company_id, began_at)
) STRICT, WITHOUT ROWID;

-- What head offices called a supplier in invitations whose contacts were erased: records of business show it. A build that
-- does not know this step shows the tax id instead.
CREATE TABLE erased_invitations (
    supplier_id    BLOB    NOT NULL CHECK (length(supplier_id) = 16),
    head_office_id BLOB    NOT NULL CHECK (length(head_office_id) = 16),
    name           TEXT    NOT NULL CHECK (name <> ''),
    erased_at      INTEGER NOT NULL,
    PRIMARY KEY (supplier_id, head_office_id)
) STRICT, WITHOUT ROWID;

-- When name and address were erased; NULL: they were not.
ALTER TABLE users ADD COLUMN erased_at INTEGER;

-- Orders that prevent an erasure, and mails about endpoints; there are few of both.
CREATE INDEX payment_orders_open ON payment_orders (supplier_id, payer_id)
    WHERE status IN ('CREATED', 'UNDER_REVIEW', 'SCHEDULED');
CREATE INDEX notices_about_endpoints ON notices (head_office_id) WHERE operation_id IS NULL;
