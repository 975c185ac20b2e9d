-- Companies, the people in whose name their keys act, and what the platform decides about them.
-- Moments are Unix milliseconds, as the service's clock gives them; amounts are cents.

CREATE TABLE companies (
    id             UUID    NOT NULL PRIMARY KEY,
    cnpj           TEXT    NOT NULL UNIQUE CHECK (length(cnpj) = 14),
    name           TEXT    NOT NULL CHECK (name <> ''),
    kind           TEXT    NOT NULL CHECK (kind IN ('CONSTRUCTION', 'SUPPLIER')),
    -- The company itself when it is a head office, so that every join finds one.
    head_office_id UUID    NOT NULL REFERENCES companies (id),
    contact_name   TEXT,
    contact_email  TEXT,
    contact_phone  TEXT,
    created_at     BIGINT  NOT NULL,
    CHECK ((contact_name IS NULL) = (contact_email IS NULL)),
    CHECK (contact_phone IS NULL OR contact_name IS NOT NULL)
);

CREATE INDEX companies_newest_first ON companies (created_at, id);

CREATE TABLE credit_analyses (
    head_office_id           UUID    NOT NULL PRIMARY KEY REFERENCES companies (id),
    max_term_days            BIGINT  NOT NULL CHECK (max_term_days >= 0),
    max_invoice_amount_cents BIGINT  NOT NULL CHECK (max_invoice_amount_cents >= 0),
    analysed_at              BIGINT  NOT NULL
);

-- A supplier may be blocked before it is registered: by tax id, not by company.
CREATE TABLE blocked_suppliers (
    head_office_id UUID    NOT NULL REFERENCES companies (id),
    supplier_cnpj  TEXT    NOT NULL CHECK (length(supplier_cnpj) = 14),
    blocked_at     BIGINT  NOT NULL,
    PRIMARY KEY (head_office_id, supplier_cnpj)
);

CREATE TABLE users (
    id          UUID    NOT NULL PRIMARY KEY,
    company_id  UUID    NOT NULL REFERENCES companies (id),
    name        TEXT    NOT NULL CHECK (name <> ''),
    email       TEXT    NOT NULL CHECK (email <> ''),
    -- Texts separated by commas; empty for none.
    permissions TEXT    NOT NULL,
    active      BOOLEAN NOT NULL,
    created_at  BIGINT  NOT NULL
);

CREATE UNIQUE INDEX users_email_once_per_company ON users (company_id, lower(email));
CREATE INDEX users_newest_first ON users (company_id, created_at, id);

CREATE TABLE api_keys (
    id         UUID    NOT NULL PRIMARY KEY,
    company_id UUID    NOT NULL REFERENCES companies (id),
    user_id    UUID    NOT NULL REFERENCES users (id),
    name       TEXT    NOT NULL CHECK (name <> ''),
    -- SHA-256 of the clear text, which is kept nowhere.
    hash       BYTEA   NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    prefix     TEXT    NOT NULL,
    scopes     TEXT    NOT NULL CHECK (scopes <> ''),
    created_at BIGINT  NOT NULL,
    expires_at BIGINT  NOT NULL,
    revoked_at BIGINT
);

CREATE INDEX api_keys_newest_first ON api_keys (company_id, created_at, id);

-- Apart from the keys, because it is written with every request; unlogged, because a count that a
-- crash forgets is missed by nobody. Room on each page keeps the rewriting of rows cheap.
CREATE UNLOGGED TABLE rate_windows (
    api_key_id   UUID    NOT NULL PRIMARY KEY REFERENCES api_keys (id),
    started_at   BIGINT  NOT NULL,
    count        BIGINT  NOT NULL CHECK (count >= 1),
    last_used_at BIGINT  NOT NULL
) WITH (fillfactor = 50);
