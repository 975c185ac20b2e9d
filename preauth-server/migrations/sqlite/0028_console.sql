-- Sessions of the operators' console, which every instance accepts.
CREATE TABLE console_sessions (
    -- SHA-256 of the secret in the browser's cookie, which is kept nowhere.
    secret_hash BLOB    NOT NULL PRIMARY KEY CHECK (length(secret_hash) = 32),
    -- NULL: `root`, the holder of the configured token.
    operator_id BLOB    REFERENCES operators (id),
    -- Of `root` alone: HMAC-SHA256 of its token under the secret, so that the session ends with the token.
    root_proof  BLOB    CHECK (length(root_proof) = 32),
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    CHECK ((operator_id IS NULL) = (root_proof IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX console_sessions_expiring ON console_sessions (expires_at);

-- Operations by day, supplier and invoice number, whichever head office they belong to.
CREATE INDEX operations_by_time ON operations (created_at, id);
CREATE INDEX operations_of_supplier ON operations (supplier_cnpj, id);
CREATE INDEX operations_by_number ON operations (invoice_number, id)
    WHERE invoice_number IS NOT NULL;

-- Deliveries that wait after a failed attempt, of which there are few.
CREATE INDEX deliveries_retried ON deliveries (created_at, id)
    WHERE status = 'PENDING' AND attempts_made > 0;
