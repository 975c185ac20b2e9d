-- no-transaction
-- Lists over all companies read few rows, whatever they are restricted to.

-- Operations of a window of time, the newest first. The ranges of operations_by_time have no order: all that began before the
-- window's end were sorted. A create adds one entry at the right end, 80 bytes of the log; the index of ranges is dropped by a
-- later step.
DROP INDEX CONCURRENTLY IF EXISTS operations_by_creation;
CREATE INDEX CONCURRENTLY operations_by_creation ON operations (created_at, id);

-- Deliveries that were given up, the newest first: one that arrives has no entry.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_failed_newest;
CREATE INDEX CONCURRENTLY deliveries_failed_newest ON deliveries (created_at, id) WHERE status = 'FAILED';
-- Deliveries by type. The offer's has none: most deliveries are of it, and creates shall cost no more.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_by_type;
CREATE INDEX CONCURRENTLY deliveries_by_type ON deliveries (event_type, created_at, id)
    WHERE event_type <> 'pre_authorization.created';

-- Mails by kind, without offers to registered suppliers, for the same reason. An offer to one that is not
-- registered adds an entry.
DROP INDEX CONCURRENTLY IF EXISTS notices_by_kind;
CREATE INDEX CONCURRENTLY notices_by_kind ON notices (coalesce(variant, kind), staged_at, id)
    WHERE coalesce(variant, kind) <> 'OFFER';
-- Mails that were not sent and will not be: one that is sent has no entry.
DROP INDEX CONCURRENTLY IF EXISTS notices_not_sent;
CREATE INDEX CONCURRENTLY notices_not_sent ON notices (status, staged_at, id)
    WHERE status IN ('FAILED', 'CANCELED');

-- Payment orders by status, without those that are paid, which most are.
DROP INDEX CONCURRENTLY IF EXISTS payment_orders_of_status;
CREATE INDEX CONCURRENTLY payment_orders_of_status ON payment_orders (status, id) WHERE status <> 'PAID';
