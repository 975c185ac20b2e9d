-- no-transaction
-- Seals of the audit log: each row belongs to one, and each seal's hash covers its rows and the hash before it, so that no
-- row can be changed, added or removed later without a trace. An earlier build leaves its rows unsealed; a present one
-- seals them.
ALTER TABLE audit_log ADD COLUMN IF NOT EXISTS seal BIGINT;

CREATE TABLE IF NOT EXISTS audit_seals (
    -- From 1, without gaps.
    number    BIGINT  NOT NULL PRIMARY KEY CHECK (number > 0),
    sealed_at BIGINT  NOT NULL,
    row_count BIGINT  NOT NULL CHECK (row_count > 0),
    -- SHA-256.
    hash      BYTEA   NOT NULL CHECK (octet_length(hash) = 32)
);

-- The rows of a seal, and those that have none yet.
DROP INDEX CONCURRENTLY IF EXISTS audit_log_by_seal;
CREATE INDEX CONCURRENTLY audit_log_by_seal ON audit_log (seal, id);
