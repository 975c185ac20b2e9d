-- no-transaction
-- Personal data that is erased.

-- The erasures of a company's personal data. The row is written first: what is missing after a crash has its reason.
CREATE TABLE IF NOT EXISTS erasures (
    company_id         UUID   NOT NULL,
    began_at           BIGINT NOT NULL,
    operator           TEXT   NOT NULL CHECK (operator <> ''),
    -- NULL: it goes on with the next request.
    completed_at       BIGINT,
    -- The last operation whose mails and file were removed, as supplier and as payer.
    walked_as_supplier BIGINT NOT NULL DEFAULT 0,
    walked_as_payer    BIGINT NOT NULL DEFAULT 0,
    -- What was erased.
    contacts           BIGINT NOT NULL DEFAULT 0,
    users              BIGINT NOT NULL DEFAULT 0,
    mails              BIGINT NOT NULL DEFAULT 0,
    files              BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (company_id, began_at)
);

-- What head offices called a supplier in invitations whose contacts were erased: records of business show it. A build that
-- does not know this step shows the tax id instead.
CREATE TABLE IF NOT EXISTS erased_invitations (
    supplier_id    UUID   NOT NULL,
    head_office_id UUID   NOT NULL,
    name           TEXT   NOT NULL CHECK (name <> ''),
    erased_at      BIGINT NOT NULL,
    PRIMARY KEY (supplier_id, head_office_id)
);

-- When name and address were erased; NULL: they were not.
ALTER TABLE users ADD COLUMN IF NOT EXISTS erased_at BIGINT;

-- Orders that prevent an erasure, and mails about endpoints; there are few of both.
DROP INDEX CONCURRENTLY IF EXISTS payment_orders_open;
CREATE INDEX CONCURRENTLY payment_orders_open ON payment_orders (supplier_id, payer_id)
    WHERE status IN ('CREATED', 'UNDER_REVIEW', 'SCHEDULED');
DROP INDEX CONCURRENTLY IF EXISTS notices_about_endpoints;
CREATE INDEX CONCURRENTLY notices_about_endpoints ON notices (head_office_id)
    WHERE operation_id IS NULL;
