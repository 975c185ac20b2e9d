-- no-transaction
-- Endpoints that fail, of which their companies are told.

-- Since when nothing arrives; NULL: nothing is known to be wrong.
ALTER TABLE endpoints ADD COLUMN IF NOT EXISTS failing_since BIGINT;
-- When the company was last told that the endpoint fails; NULL: never.
ALTER TABLE endpoints ADD COLUMN IF NOT EXISTS failing_mailed_at BIGINT;
DROP INDEX CONCURRENTLY IF EXISTS endpoints_failing;
CREATE INDEX CONCURRENTLY endpoints_failing ON endpoints (id) WHERE failing_since IS NOT NULL;

-- The kind of a mail that is neither about an offer nor a pause; NULL: it is `kind`. The latter is then ENDPOINT_PAUSED,
-- because earlier builds know no other kind of mail about an endpoint; they cannot read its content and send nothing.
ALTER TABLE notices ADD COLUMN IF NOT EXISTS variant TEXT;
