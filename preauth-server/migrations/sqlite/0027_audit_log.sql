-- The audit log: what operators did through the platform API, and what their role did not permit. Nothing here
-- refers to another table, because the log outlives what it names.
CREATE TABLE audit_log (
    -- In about the order of the commits.
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    -- One row a request, whatever the request does in several steps.
    request_id    BLOB    NOT NULL UNIQUE CHECK (length(request_id) = 16),
    at            INTEGER NOT NULL,
    -- NULL: `root`, the holder of the configured token.
    operator_id   BLOB    CHECK (length(operator_id) = 16),
    operator_name TEXT    NOT NULL CHECK (operator_name <> ''),
    role          TEXT    NOT NULL CHECK (role <> ''),
    address       TEXT    NOT NULL CHECK (address <> ''),
    -- The name of the operation in the platform API's description.
    action        TEXT    NOT NULL CHECK (action <> ''),
    outcome       TEXT    NOT NULL CHECK (outcome <> ''),
    -- As paths name it: operations/42.
    record        TEXT    NOT NULL CHECK (record <> ''),
    -- On whose behalf; NULL: nobody's in particular.
    company_id    BLOB    CHECK (length(company_id) = 16),
    -- Settings before and after, as JSON; NULL: none changed.
    changes       TEXT    CHECK (changes <> '')
) STRICT;

CREATE INDEX audit_log_by_operator ON audit_log (operator_name, id);
CREATE INDEX audit_log_by_action ON audit_log (action, id);
CREATE INDEX audit_log_by_record ON audit_log (record, id);
CREATE INDEX audit_log_by_company ON audit_log (company_id, id);
CREATE INDEX audit_log_by_time ON audit_log (at, id);
