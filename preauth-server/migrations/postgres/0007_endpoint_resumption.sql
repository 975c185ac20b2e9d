-- When an endpoint was resumed, as long as not all that it kept is due: that is done in batches, so that
-- no statement changes an unbounded number of deliveries.
ALTER TABLE endpoints ADD COLUMN resumed_at BIGINT;
