-- Companies, the people in whose name their keys act, and what the platform decides about them.
-- Ids are UUIDs of 16 bytes, moments are Unix milliseconds, amounts are cents.

CREATE TABLE companies (
    id             BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    cnpj           TEXT    NOT NULL UNIQUE CHECK (length(cnpj) = 14),
    name           TEXT    NOT NULL CHECK (name <> ''),
    kind           TEXT    NOT NULL CHECK (kind IN ('CONSTRUCTION', 'SUPPLIER')),
    -- The company itself when it is a head office, so that every join finds one.
    head_office_id BLOB    NOT NULL REFERENCES companies (id),
    contact_name   TEXT,
    contact_email  TEXT,
    contact_phone  TEXT,
    created_at     INTEGER NOT NULL,
    CHECK ((contact_name IS NULL) = (contact_email IS NULL)),
    CHECK (contact_phone IS NULL OR contact_name IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE INDEX companies_newest_first ON companies (created_at, id);

CREATE TABLE credit_analyses (
    head_office_id           BLOB    NOT NULL PRIMARY KEY REFERENCES companies (id),
    max_term_days            INTEGER NOT NULL CHECK (max_term_days >= 0),
    max_invoice_amount_cents INTEGER NOT NULL CHECK (max_invoice_amount_cents >= 0),
    analysed_at              INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A supplier may be blocked before it is registered: by tax id, not by company.
CREATE TABLE blocked_suppliers (
    head_office_id BLOB    NOT NULL REFERENCES companies (id),
    supplier_cnpj  TEXT    NOT NULL CHECK (length(supplier_cnpj) = 14),
    blocked_at     INTEGER NOT NULL,
    PRIMARY KEY (head_office_id, supplier_cnpj)
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
    id          BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    company_id  BLOB    NOT NULL REFERENCES companies (id),
    name        TEXT    NOT NULL CHECK (name <> ''),
    email       TEXT    NOT NULL CHECK (email <> ''),
    -- Texts separated by commas; empty for none.
    permissions TEXT    NOT NULL,
    active      INTEGER NOT NULL CHECK (active IN (0, 1)),
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX users_email_once_per_company ON users (company_id, lower(email));
CREATE INDEX users_newest_first ON users (company_id, created_at, id);

CREATE TABLE api_keys (
    id         BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    company_id BLOB    NOT NULL REFERENCES companies (id),
    user_id    BLOB    NOT NULL REFERENCES users (id),
    name       TEXT    NOT NULL CHECK (name <> ''),
    -- SHA-256 of the clear text, which is kept nowhere.
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    prefix     TEXT    NOT NULL,
    scopes     TEXT    NOT NULL CHECK (scopes <> ''),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_keys_newest_first ON api_keys (company_id, created_at, id);

-- Apart from the keys, because it is written with every request.
CREATE TABLE rate_windows (
    api_key_id   BLOB    NOT NULL PRIMARY KEY REFERENCES api_keys (id),
    started_at   INTEGER NOT NULL,
    count        INTEGER NOT NULL CHECK (count >= 1),
    last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX rate_windows_last_used ON rate_windows (last_used_at);
