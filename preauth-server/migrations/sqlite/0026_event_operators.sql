-- Who acted, where an operator of the platform caused an event. Events before this step, and those of API
-- keys and of time, have none. The event and the operator are no references: history outlives what it names.
CREATE TABLE event_operators (
    event_id    BLOB NOT NULL PRIMARY KEY CHECK (length(event_id) = 16),
    -- NULL: `root`, the holder of the configured token.
    operator_id BLOB CHECK (length(operator_id) = 16),
    name        TEXT NOT NULL CHECK (name <> ''),
    request_id  BLOB NOT NULL CHECK (length(request_id) = 16),
    address     TEXT NOT NULL CHECK (address <> '')
) STRICT, WITHOUT ROWID;
