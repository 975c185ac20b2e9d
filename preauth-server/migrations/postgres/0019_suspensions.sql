-- no-transaction
-- Since when a company is suspended, and why: its keys open nothing.
ALTER TABLE companies ADD COLUMN IF NOT EXISTS suspended_at BIGINT;
ALTER TABLE companies ADD COLUMN IF NOT EXISTS suspension_reason TEXT;

ALTER TABLE companies DROP CONSTRAINT IF EXISTS companies_suspended_for_a_reason;
ALTER TABLE companies ADD CONSTRAINT companies_suspended_for_a_reason
    CHECK ((suspension_reason IS NULL) = (suspended_at IS NULL)) NOT VALID;
ALTER TABLE companies VALIDATE CONSTRAINT companies_suspended_for_a_reason;

-- A key that leaked is found by how it begins. In the order of bytes, so that a range of the index is
-- what begins alike, whatever the database's language.
DROP INDEX CONCURRENTLY IF EXISTS api_keys_by_prefix;
CREATE INDEX CONCURRENTLY api_keys_by_prefix
    ON api_keys (prefix COLLATE "C", created_at DESC, id DESC);
