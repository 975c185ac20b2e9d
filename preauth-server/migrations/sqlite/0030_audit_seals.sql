-- Seals of the audit log: each row belongs to one, and each seal's hash covers its rows and the hash before it, so that no
-- row can be changed, added or removed later without a trace. An earlier build leaves its rows unsealed; a present one
-- seals them.
ALTER TABLE audit_log ADD COLUMN seal INTEGER;

CREATE TABLE audit_seals (
    -- From 1, without gaps.
    number    INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    sealed_at INTEGER NOT NULL,
    row_count INTEGER NOT NULL CHECK (row_count > 0),
    -- SHA-256.
    hash      BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- The rows of a seal, and those that have none yet.
CREATE INDEX audit_log_by_seal ON audit_log (seal, id);
