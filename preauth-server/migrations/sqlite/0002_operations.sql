-- Operations and payment orders with what belongs to them. Business tables begin with the payer's
-- head office in their keys and indexes.

CREATE TABLE operations (
    id                   INTEGER NOT NULL PRIMARY KEY CHECK (id > 0),
    head_office_id       BLOB    NOT NULL REFERENCES companies (id),
    payer_id             BLOB    NOT NULL REFERENCES companies (id),
    supplier_id          BLOB    NOT NULL REFERENCES companies (id),
    supplier_cnpj        TEXT    NOT NULL CHECK (length(supplier_cnpj) = 14),
    version              INTEGER NOT NULL CHECK (version >= 1),
    origin               TEXT    NOT NULL CHECK (origin IN ('PRE_AUTH', 'DIRECT')),
    status               TEXT    NOT NULL CHECK (status IN (
        'IN_PRE_AUTH', 'IN_VERIFICATION', 'TO_APPROVE', 'IN_ANALYSIS', 'TO_PAY', 'TO_BILL',
        'TO_RECEIVE', 'CONCLUDED', 'REPROVED')),
    amount_cents         INTEGER NOT NULL CHECK (amount_cents BETWEEN 50000 AND 1000000000),
    withheld_tax_cents   INTEGER NOT NULL,
    net_amount_cents     INTEGER,
    due_date             TEXT    NOT NULL
        CHECK (due_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    invoice_number       TEXT    CHECK (invoice_number <> ''),
    external_reference   TEXT    CHECK (external_reference <> ''),
    expires_at           INTEGER,
    created_at           INTEGER NOT NULL,
    -- What closed it, and the reason that was given; of REPROVED alone.
    closing_action       TEXT,
    closing_reason       TEXT,
    -- Of TO_RECEIVE alone.
    boleto_due_date      TEXT
        CHECK (boleto_due_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    CHECK (withheld_tax_cents BETWEEN 0 AND amount_cents - 50000),
    CHECK (net_amount_cents BETWEEN 1 AND amount_cents - withheld_tax_cents),
    CHECK (origin = 'PRE_AUTH' OR expires_at IS NULL),
    CHECK ((status = 'REPROVED') = (closing_action IS NOT NULL)),
    CHECK (closing_reason IS NULL OR closing_action IS NOT NULL),
    CHECK ((status = 'TO_RECEIVE') = (boleto_due_date IS NOT NULL))
) STRICT;

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
    id                 INTEGER NOT NULL PRIMARY KEY CHECK (id > 0),
    head_office_id     BLOB    NOT NULL REFERENCES companies (id),
    operation_id       INTEGER NOT NULL REFERENCES operations (id),
    new_due_date       TEXT    NOT NULL
        CHECK (new_due_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    total_amount_cents INTEGER NOT NULL CHECK (total_amount_cents > 0),
    status             TEXT    NOT NULL CHECK (status IN ('OPEN', 'CONCLUDED', 'CANCELED'))
) STRICT;

CREATE INDEX extensions_of_operation ON extensions (operation_id);
CREATE UNIQUE INDEX extensions_one_open ON extensions (operation_id) WHERE status = 'OPEN';

CREATE TABLE payment_orders (
    id             INTEGER NOT NULL PRIMARY KEY CHECK (id > 0),
    head_office_id BLOB    NOT NULL REFERENCES companies (id),
    payer_id       BLOB    NOT NULL REFERENCES companies (id),
    supplier_id    BLOB    NOT NULL REFERENCES companies (id),
    operation_id   INTEGER REFERENCES operations (id),
    version        INTEGER NOT NULL CHECK (version >= 1),
    status         TEXT    NOT NULL CHECK (status IN (
        'CREATED', 'UNDER_REVIEW', 'SCHEDULED', 'PAID', 'CANCELED', 'REPROVED')),
    amount_cents   INTEGER NOT NULL CHECK (amount_cents > 0),
    scheduled_for  TEXT,
    reason         TEXT,
    created_at     INTEGER NOT NULL
) STRICT;

CREATE INDEX payment_orders_of_head_office ON payment_orders (head_office_id, id);

-- What an idempotency key answered. An expired one is replaced by the next answer under its key.
CREATE TABLE idempotency_replies (
    head_office_id BLOB    NOT NULL REFERENCES companies (id),
    key            TEXT    NOT NULL CHECK (length(key) BETWEEN 8 AND 100),
    fingerprint    BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    operation_id   INTEGER NOT NULL REFERENCES operations (id),
    body           TEXT    NOT NULL,
    expires_at     INTEGER NOT NULL,
    PRIMARY KEY (head_office_id, key)
) STRICT;

CREATE INDEX idempotency_replies_expiring ON idempotency_replies (expires_at);

-- Descriptions only; the bytes of a file lie elsewhere.
CREATE TABLE invoice_files (
    operation_id INTEGER NOT NULL PRIMARY KEY REFERENCES operations (id),
    name         TEXT    NOT NULL CHECK (name <> ''),
    media_type   TEXT    NOT NULL,
    size_bytes   INTEGER NOT NULL CHECK (size_bytes >= 0),
    sha256       BLOB    NOT NULL CHECK (length(sha256) = 32)
) STRICT;

CREATE INDEX invoice_files_by_content ON invoice_files (sha256);

-- Files that were stored lately: an operation may be about to name them. What none came to name is
-- removed.
CREATE TABLE announced_files (
    sha256           BLOB    NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
    announced_at     INTEGER NOT NULL,
    removal_began_at INTEGER
) STRICT;

CREATE INDEX announced_files_by_time ON announced_files (announced_at);

-- Mail that is staged with the change that it tells of, and sent afterwards.
CREATE TABLE notices (
    id              BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    head_office_id  BLOB    NOT NULL REFERENCES companies (id),
    operation_id    INTEGER REFERENCES operations (id),
    kind            TEXT    NOT NULL CHECK (kind IN ('OFFER', 'INVITATION', 'ENDPOINT_PAUSED')),
    recipient       TEXT    NOT NULL CHECK (recipient <> ''),
    -- What the mail tells; its words are chosen when it is sent.
    content         TEXT    NOT NULL,
    staged_at       INTEGER NOT NULL,
    status          TEXT    NOT NULL DEFAULT 'PENDING'
        CHECK (status IN ('PENDING', 'SENT', 'FAILED', 'CANCELED')),
    next_attempt_at INTEGER,
    -- Whether the address has had its share of today's mails.
    is_held         INTEGER NOT NULL DEFAULT 0 CHECK (is_held IN (0, 1)),
    attempts_made   INTEGER NOT NULL DEFAULT 0 CHECK (attempts_made >= 0),
    last_error      TEXT,
    lease_token     INTEGER NOT NULL DEFAULT 0,
    -- By the database's clock, unlike every other moment.
    leased_until    INTEGER,
    ended_at        INTEGER,
    CHECK ((kind = 'ENDPOINT_PAUSED') = (operation_id IS NULL)),
    CHECK ((status = 'PENDING') = (next_attempt_at IS NOT NULL)),
    CHECK ((status = 'PENDING') = (ended_at IS NULL)),
    CHECK (status = 'PENDING' OR leased_until IS NULL)
) STRICT;

-- An offer stages one mail, however often it is tried.
CREATE UNIQUE INDEX notices_once_per_operation ON notices (operation_id)
    WHERE operation_id IS NOT NULL;
CREATE INDEX notices_due ON notices (next_attempt_at, id) WHERE status = 'PENDING';
CREATE INDEX notices_leased ON notices (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX notices_to_address ON notices (lower(recipient), status, ended_at);
CREATE INDEX notices_newest_first ON notices (head_office_id, staged_at, id);
CREATE INDEX notices_ended ON notices (ended_at, id) WHERE ended_at IS NOT NULL;
