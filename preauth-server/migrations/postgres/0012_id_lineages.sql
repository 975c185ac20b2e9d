-- On which lines of writes the sequences of ids have been moved on. A promoted standby may not have
-- heard of the latest numbers that its primary gave out; no id is given out on a timeline that does
-- not stand here.

CREATE TABLE id_lineages (
    system_identifier BIGINT      NOT NULL,
    timeline          BIGINT      NOT NULL,
    recorded_at       TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (system_identifier, timeline)
);
