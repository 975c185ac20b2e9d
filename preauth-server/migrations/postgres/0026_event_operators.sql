-- Who acted, where an operator of the platform caused an event. Events before this step, and those of API
-- keys and of time, have none. The event and the operator are no references: history outlives what it names.
CREATE TABLE event_operators (
    event_id    UUID NOT NULL PRIMARY KEY,
    -- NULL: `root`, the holder of the configured token.
    operator_id UUID,
    name        TEXT NOT NULL CHECK (name <> ''),
    request_id  UUID NOT NULL,
    address     TEXT NOT NULL CHECK (address <> '')
);
