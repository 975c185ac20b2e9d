-- Builds before step 21 are no longer supported: what these alone need goes in the next step.
UPDATE schema_compatibility SET oldest_supported = 21;
