-- Operations and payment orders with what belongs to them. Business tables begin with the payer's
-- head office in their keys and indexes.

CREATE TABLE operations (
    id                   BIGINT  NOT NULL PRIMARY KEY CHECK (id > 0),
    head_office_id       UUID    NOT NULL REFERENCES companies (id),
    payer_id             UUID    NOT NULL REFERENCES companies (id),
    supplier_id          UUID    NOT NULL REFERENCES companies (id),
    supplier_cnpj        TEXT    NOT NULL CHECK (length(supplier_cnpj) = 14),
    version              BIGINT  NOT NULL CHECK (version >= 1),
    origin               TEXT    NOT NULL CHECK (origin IN ('PRE_AUTH', 'DIRECT')),
    status               TEXT    NOT NULL CHECK (status IN (
        'IN_PRE_AUTH', 'IN_VERIFICATION', 'TO_APPROVE', 'IN_ANALYSIS', 'TO_PAY', 'TO_BILL',
        'TO_RECEIVE', 'CONCLUDED', 'REPROVED')),
    amount_cents         BIGINT  NOT NULL CHECK (amount_cents BETWEEN 50000 AND 1000000000),
    withheld_tax_cents   BIGINT  NOT NULL,
    net_amount_cents     BIGINT,
    due_date             TEXT    NOT NULL
        CHECK (due_date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
    invoice_number       TEXT    CHECK (invoice_number <> ''),
    external_reference   TEXT    CHECK (external_reference <> ''),
    expires_at           BIGINT,
    created_at           BIGINT  NOT NULL,
    -- What closed it, and the reason that was given; of REPROVED alone.
    closing_action       TEXT,
    closing_reason       TEXT,
    -- Of TO_RECEIVE alone.
    boleto_due_date      TEXT
        CHECK (boleto_due_date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
    CHECK (withheld_tax_cents BETWEEN 0 AND amount_cents - 50000),
    CHECK (net_amount_cents BETWEEN 1 AND amount_cents - withheld_tax_cents),
    CHECK (origin = 'PRE_AUTH' OR expires_at IS NULL),
    CHECK ((status = 'REPROVED') = (closing_action IS NOT NULL)),
    CHECK (closing_reason IS NULL OR closing_action IS NOT NULL),
    CHECK ((status = 'TO_RECEIVE') = (boleto_due_date IS NOT NULL))
);

-- The duplicate rule: one operation in progress per supplier and invoice number in a group.
CREATE UNIQUE INDEX operations_invoice_in_progress
    ON operations (head_office_id, supplier_cnpj, invoice_number)
    WHERE invoice_number IS NOT NULL AND status NOT IN ('REPROVED', 'CONCLUDED');

-- Lists: the status stands in the index, so that filtering and counting read no rows.
CREATE INDEX operations_of_head_office ON operations (head_office_id, id, status);
CREATE INDEX operations_of_payer ON operations (head_office_id, payer_id, id, status);
CREATE INDEX operations_by_reference
    ON operations (head_office_id, external_reference, id, status)
    WHERE external_reference IS NOT NULL;

-- The sweeper's queue.
CREATE INDEX operations_expiring ON operations (expires_at, id) WHERE status = 'IN_PRE_AUTH';

CREATE TABLE extensions (
    id                 BIGINT  NOT NULL PRIMARY KEY CHECK (id > 0),
    head_office_id     UUID    NOT NULL REFERENCES companies (id),
    operation_id       BIGINT  NOT NULL REFERENCES operations (id),
    new_due_date       TEXT    NOT NULL
        CHECK (new_due_date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
    total_amount_cents BIGINT  NOT NULL CHECK (total_amount_cents > 0),
    status             TEXT    NOT NULL CHECK (status IN ('OPEN', 'CONCLUDED', 'CANCELED'))
);

CREATE INDEX extensions_of_operation ON extensions (operation_id);
CREATE UNIQUE INDEX extensions_one_open ON extensions (operation_id) WHERE status = 'OPEN';

CREATE TABLE payment_orders (
    id             BIGINT  NOT NULL PRIMARY KEY CHECK (id > 0),
    head_office_id UUID    NOT NULL REFERENCES companies (id),
    payer_id       UUID    NOT NULL REFERENCES companies (id),
    supplier_id    UUID    NOT NULL REFERENCES companies (id),
    operation_id   BIGINT  REFERENCES operations (id),
    version        BIGINT  NOT NULL CHECK (version >= 1),
    status         TEXT    NOT NULL CHECK (status IN (
        'CREATED', 'UNDER_REVIEW', 'SCHEDULED', 'PAID', 'CANCELED', 'REPROVED')),
    amount_cents   BIGINT  NOT NULL CHECK (amount_cents > 0),
    scheduled_for  TEXT,
    reason         TEXT,
    created_at     BIGINT  NOT NULL
);

CREATE INDEX payment_orders_of_head_office ON payment_orders (head_office_id, id);

-- What an idempotency key answered. An expired one is replaced by the next answer under its key.
CREATE TABLE idempotency_replies (
    head_office_id UUID    NOT NULL REFERENCES companies (id),
    key            TEXT    NOT NULL CHECK (length(key) BETWEEN 8 AND 100),
    fingerprint    BYTEA   NOT NULL CHECK (octet_length(fingerprint) = 32),
    operation_id   BIGINT  NOT NULL REFERENCES operations (id),
    body           TEXT    NOT NULL,
    expires_at     BIGINT  NOT NULL,
    PRIMARY KEY (head_office_id, key)
);

CREATE INDEX idempotency_replies_expiring ON idempotency_replies (expires_at);

-- Descriptions only; the bytes of a file lie elsewhere.
CREATE TABLE invoice_files (
    operation_id BIGINT  NOT NULL PRIMARY KEY REFERENCES operations (id),
    name         TEXT    NOT NULL CHECK (name <> ''),
    media_type   TEXT    NOT NULL,
    size_bytes   BIGINT  NOT NULL CHECK (size_bytes >= 0),
    sha256       BYTEA   NOT NULL CHECK (octet_length(sha256) = 32)
);

CREATE INDEX invoice_files_by_content ON invoice_files (sha256);

-- Files that were stored lately: an operation may be about to name them. What none came to name is
-- removed.
CREATE TABLE announced_files (
    sha256           BYTEA   NOT NULL PRIMARY KEY CHECK (octet_length(sha256) = 32),
    announced_at     BIGINT  NOT NULL,
    removal_began_at BIGINT
);

CREATE INDEX announced_files_by_time ON announced_files (announced_at);

-- Mail that is staged with the change that it tells of, and sent afterwards.
CREATE TABLE notices (
    id              UUID    NOT NULL PRIMARY KEY,
    head_office_id  UUID    NOT NULL REFERENCES companies (id),
    operation_id    BIGINT  REFERENCES operations (id),
    kind            TEXT    NOT NULL CHECK (kind IN ('OFFER', 'INVITATION', 'ENDPOINT_PAUSED')),
    recipient       TEXT    NOT NULL CHECK (recipient <> ''),
    -- What the mail tells; its words are chosen when it is sent.
    content         TEXT    NOT NULL,
    staged_at       BIGINT  NOT NULL,
    status          TEXT    NOT NULL DEFAULT 'PENDING'
        CHECK (status IN ('PENDING', 'SENT', 'FAILED', 'CANCELED')),
    next_attempt_at BIGINT,
    -- Whether the address has had its share of today's mails.
    is_held         BOOLEAN NOT NULL DEFAULT FALSE,
    attempts_made   BIGINT  NOT NULL DEFAULT 0 CHECK (attempts_made >= 0),
    last_error      TEXT,
    lease_token     BIGINT  NOT NULL DEFAULT 0,
    -- By the database's clock, unlike every other moment.
    leased_until    BIGINT,
    ended_at        BIGINT,
    CHECK ((kind = 'ENDPOINT_PAUSED') = (operation_id IS NULL)),
    CHECK ((status = 'PENDING') = (next_attempt_at IS NOT NULL)),
    CHECK ((status = 'PENDING') = (ended_at IS NULL)),
    CHECK (status = 'PENDING' OR leased_until IS NULL)
);

-- An offer stages one mail, however often it is tried.
CREATE UNIQUE INDEX notices_once_per_operation ON notices (operation_id)
    WHERE operation_id IS NOT NULL;
CREATE INDEX notices_due ON notices (next_attempt_at, id) WHERE status = 'PENDING';
CREATE INDEX notices_leased ON notices (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX notices_to_address ON notices (lower(recipient), status, ended_at);
CREATE INDEX notices_newest_first ON notices (head_office_id, staged_at, id);
CREATE INDEX notices_ended ON notices (ended_at, id) WHERE ended_at IS NOT NULL;

-- Ids are taken before the commit that uses them; one that is not used is lost.
CREATE SEQUENCE operation_ids AS BIGINT OWNED BY operations.id;
CREATE SEQUENCE extension_ids AS BIGINT OWNED BY extensions.id;
CREATE SEQUENCE payment_order_ids AS BIGINT OWNED BY payment_orders.id;
