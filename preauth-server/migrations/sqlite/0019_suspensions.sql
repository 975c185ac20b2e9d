-- Since when a company is suspended, and why: its keys open nothing.
ALTER TABLE companies ADD COLUMN suspended_at INTEGER;
ALTER TABLE companies ADD COLUMN suspension_reason TEXT
    CHECK ((suspension_reason IS NULL) = (suspended_at IS NULL));

-- A key that leaked is found by how it begins.
CREATE INDEX api_keys_by_prefix ON api_keys (prefix, created_at DESC, id DESC);
