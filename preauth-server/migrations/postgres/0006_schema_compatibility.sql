-- Which builds can work on this schema: those that know this step at least. A step after which older
-- builds cannot go on records here, by an update, the oldest step that a build must know.

CREATE TABLE schema_compatibility (
    one              BOOLEAN NOT NULL PRIMARY KEY DEFAULT TRUE CHECK (one),
    oldest_supported BIGINT NOT NULL CHECK (oldest_supported > 0)
);

-- What this step adds is in nobody's way.
INSERT INTO schema_compatibility (oldest_supported) VALUES (5);
