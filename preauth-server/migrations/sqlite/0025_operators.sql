-- Named operators of the platform. The holder of the configured token has no row: it is `root`.
CREATE TABLE operators (
    id           BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    -- Never given twice, so that a history that names somebody has one meaning.
    name         TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    role         TEXT    NOT NULL CHECK (role <> ''),
    -- SHA-256 of the token, whose clear text is kept nowhere.
    token_hash   BLOB    NOT NULL UNIQUE CHECK (length(token_hash) = 32),
    created_at   INTEGER NOT NULL,
    created_by   TEXT    NOT NULL CHECK (created_by <> ''),
    -- NULL: until it is revoked.
    valid_until  INTEGER,
    revoked_at   INTEGER,
    -- To the minute; NULL: never.
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX operators_newest_first ON operators (created_at, id);
