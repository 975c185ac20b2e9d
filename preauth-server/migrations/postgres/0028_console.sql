-- no-transaction
-- Sessions of the operators' console, which every instance accepts.
CREATE TABLE IF NOT EXISTS console_sessions (
    -- SHA-256 of the secret in the browser's cookie, which is kept nowhere.
    secret_hash BYTEA  NOT NULL PRIMARY KEY CHECK (octet_length(secret_hash) = 32),
    -- NULL: `root`, the holder of the configured token.
    operator_id UUID   REFERENCES operators (id),
    -- Of `root` alone: HMAC-SHA256 of its token under the secret, so that the session ends with the token.
    root_proof  BYTEA  CHECK (octet_length(root_proof) = 32),
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    CHECK ((operator_id IS NULL) = (root_proof IS NOT NULL))
);

CREATE INDEX IF NOT EXISTS console_sessions_expiring ON console_sessions (expires_at);

-- Operations by day, supplier and invoice number, whichever head office they belong to. Rows are added in the order of
-- their time, so that for it the range of each few pages is enough, which costs a create nothing.
DROP INDEX CONCURRENTLY IF EXISTS operations_by_time;
CREATE INDEX CONCURRENTLY operations_by_time ON operations USING brin (created_at)
    WITH (pages_per_range = 32, autosummarize = on);
DROP INDEX CONCURRENTLY IF EXISTS operations_of_supplier;
CREATE INDEX CONCURRENTLY operations_of_supplier ON operations (supplier_cnpj, id);
DROP INDEX CONCURRENTLY IF EXISTS operations_by_number;
CREATE INDEX CONCURRENTLY operations_by_number ON operations (invoice_number, id)
    WHERE invoice_number IS NOT NULL;

-- Deliveries that wait after a failed attempt, of which there are few.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_retried;
CREATE INDEX CONCURRENTLY deliveries_retried ON deliveries (created_at, id)
    WHERE status = 'PENDING' AND attempts_made > 0;
