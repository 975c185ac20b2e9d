-- no-transaction
-- What an idempotency key of the platform's own answered: one namespace for all that it creates. An
-- expired one is replaced by the next answer under its key. What is shown only once, the clear text
-- of an API key, is not in the body.
CREATE TABLE IF NOT EXISTS platform_replies (
    key         TEXT   NOT NULL PRIMARY KEY CHECK (length(key) BETWEEN 8 AND 100),
    fingerprint BYTEA  NOT NULL CHECK (octet_length(fingerprint) = 32),
    body        TEXT   NOT NULL,
    expires_at  BIGINT NOT NULL
);

CREATE INDEX IF NOT EXISTS platform_replies_expiring ON platform_replies (expires_at);

-- The newest payment order of each operation that has one since this step. It gives way to the next
-- one only when it stands no longer: of two that are generated at the same time one is too late.
CREATE TABLE IF NOT EXISTS current_payment_orders (
    operation_id     BIGINT NOT NULL PRIMARY KEY REFERENCES operations (id),
    payment_order_id BIGINT NOT NULL REFERENCES payment_orders (id)
);

-- What was generated before this step stands in the way, too.
DROP INDEX CONCURRENTLY IF EXISTS payment_orders_of_operation;
CREATE INDEX CONCURRENTLY payment_orders_of_operation ON payment_orders (operation_id, id)
    WHERE operation_id IS NOT NULL;
