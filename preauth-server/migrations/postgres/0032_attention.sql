-- no-transaction
-- What needs attention over all companies, found with few rows read however many there are.

-- The endpoints of which a delivery waits after a failed attempt, one after the other.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_retried_of_endpoint;
CREATE INDEX CONCURRENTLY deliveries_retried_of_endpoint ON deliveries (endpoint_id, created_at)
    WHERE status = 'PENDING' AND attempts_made > 0;
-- What was given up in the last day, of which there is little beside what was sent.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_failed_by_time;
CREATE INDEX CONCURRENTLY deliveries_failed_by_time ON deliveries (ended_at) WHERE status = 'FAILED';
DROP INDEX CONCURRENTLY IF EXISTS notices_failed_by_time;
CREATE INDEX CONCURRENTLY notices_failed_by_time ON notices (ended_at) WHERE status = 'FAILED';
