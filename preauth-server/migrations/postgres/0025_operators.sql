-- Named operators of the platform. The holder of the configured token has no row: it is `root`.
CREATE TABLE operators (
    id           UUID    NOT NULL PRIMARY KEY,
    -- Never given twice, so that a history that names somebody has one meaning.
    name         TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    role         TEXT    NOT NULL CHECK (role <> ''),
    -- SHA-256 of the token, whose clear text is kept nowhere.
    token_hash   BYTEA   NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    created_at   BIGINT  NOT NULL,
    created_by   TEXT    NOT NULL CHECK (created_by <> ''),
    -- NULL: until it is revoked.
    valid_until  BIGINT,
    revoked_at   BIGINT,
    -- To the minute; NULL: never.
    last_used_at BIGINT
);

CREATE INDEX operators_newest_first ON operators (created_at, id);
