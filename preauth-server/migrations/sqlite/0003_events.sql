-- Events, and their way to the endpoints that hear of them.

-- The types of events have no CHECK: v1 may gain some, and SQLite cannot change a CHECK in place.
CREATE TABLE events (
    id               BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    head_office_id   BLOB    NOT NULL REFERENCES companies (id),
    operation_id     INTEGER REFERENCES operations (id),
    payment_order_id INTEGER REFERENCES payment_orders (id),
    version          INTEGER CHECK (version >= 1),
    type             TEXT    NOT NULL CHECK (type <> ''),
    at               INTEGER NOT NULL,
    -- Key and user are no references: history outlives what it names.
    actor            TEXT    NOT NULL CHECK (actor IN (
        'API_KEY', 'COMPANY', 'SUPPLIER', 'PLATFORM', 'SYSTEM')),
    actor_api_key_id BLOB    CHECK (length(actor_api_key_id) = 16),
    actor_user_id    BLOB    CHECK (length(actor_user_id) = 16),
    -- The webhook body, as frozen by the commit.
    body             TEXT    NOT NULL,
    CHECK (operation_id IS NULL OR payment_order_id IS NULL),
    CHECK ((version IS NULL) = (operation_id IS NULL AND payment_order_id IS NULL)),
    CHECK ((actor = 'API_KEY') = (actor_api_key_id IS NOT NULL)),
    CHECK ((actor = 'API_KEY') = (actor_user_id IS NOT NULL))
) STRICT;

-- One event per version: a change without its event, or with two, cannot be stored.
CREATE UNIQUE INDEX events_of_operation ON events (head_office_id, operation_id, version)
    WHERE operation_id IS NOT NULL;
CREATE UNIQUE INDEX events_of_payment_order ON events (head_office_id, payment_order_id, version)
    WHERE payment_order_id IS NOT NULL;

CREATE TABLE endpoints (
    id              BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    head_office_id  BLOB    NOT NULL REFERENCES companies (id),
    url             TEXT    NOT NULL CHECK (url <> ''),
    -- Types separated by commas; empty for none.
    events          TEXT    NOT NULL,
    paused_at       INTEGER,
    created_at      INTEGER NOT NULL,
    last_success_at INTEGER,
    -- Whether its last attempt held a place for long.
    is_slow         INTEGER NOT NULL DEFAULT 0 CHECK (is_slow IN (0, 1)),
    -- A removed endpoint stays, because the history of its deliveries does.
    deleted_at      INTEGER
) STRICT;

CREATE UNIQUE INDEX endpoints_one_per_head_office ON endpoints (head_office_id)
    WHERE deleted_at IS NULL;

-- Signing secrets, encrypted; the highest number is the newest.
CREATE TABLE endpoint_secrets (
    endpoint_id BLOB    NOT NULL REFERENCES endpoints (id),
    number      INTEGER NOT NULL CHECK (number >= 1),
    sealed      BLOB    NOT NULL,
    created_at  INTEGER NOT NULL,
    -- In force before this moment; NULL for the newest one.
    valid_until INTEGER,
    PRIMARY KEY (endpoint_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
    id              BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    -- The endpoint's, not the payer's: suppliers have endpoints too.
    head_office_id  BLOB    NOT NULL REFERENCES companies (id),
    endpoint_id     BLOB    NOT NULL REFERENCES endpoints (id),
    event_id        BLOB    NOT NULL REFERENCES events (id),
    event_type      TEXT    NOT NULL,
    status          TEXT    NOT NULL CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED')),
    next_attempt_at INTEGER,
    -- Since the delivery was made or last resent.
    attempts_made   INTEGER NOT NULL DEFAULT 0 CHECK (attempts_made >= 0),
    next_trigger    TEXT    NOT NULL DEFAULT 'SCHEDULE'
        CHECK (next_trigger IN ('SCHEDULE', 'RESEND')),
    lease_token     INTEGER NOT NULL DEFAULT 0,
    -- By the database's clock, unlike every other moment.
    leased_until    INTEGER,
    created_at      INTEGER NOT NULL,
    ended_at        INTEGER,
    CHECK ((status = 'PENDING') = (next_attempt_at IS NOT NULL)),
    CHECK ((status = 'PENDING') = (ended_at IS NULL)),
    CHECK (status = 'PENDING' OR leased_until IS NULL)
) STRICT;

CREATE UNIQUE INDEX deliveries_once_per_endpoint ON deliveries (event_id, endpoint_id);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_attempt_at, id)
    WHERE status = 'PENDING';
CREATE INDEX deliveries_leased ON deliveries (lease_token, endpoint_id, leased_until)
    WHERE leased_until IS NOT NULL;
CREATE INDEX deliveries_newest_first ON deliveries (head_office_id, created_at, id);
CREATE INDEX deliveries_ended ON deliveries (ended_at, id) WHERE ended_at IS NOT NULL;

CREATE TABLE attempts (
    delivery_id   BLOB    NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    number        INTEGER NOT NULL CHECK (number >= 1),
    at            INTEGER NOT NULL,
    duration_ms   INTEGER NOT NULL CHECK (duration_ms >= 0),
    http_status   INTEGER CHECK (http_status BETWEEN 0 AND 65535),
    error         TEXT    CHECK (error IN (
        'STATUS', 'URL_REFUSED', 'NAME_UNKNOWN', 'LOOKUP_FAILED', 'LOOKUP_TIMED_OUT',
        'ADDRESS_REFUSED', 'CONNECTION_REFUSED', 'UNREACHABLE', 'CONNECT_TIMED_OUT',
        'NOT_TLS', 'TLS_VERSION', 'CERTIFICATE_NAME', 'CERTIFICATE_UNTRUSTED',
        'CERTIFICATE_EXPIRED', 'TLS', 'TLS_TIMED_OUT', 'CONNECTION',
        'ANSWER_TOO_LARGE', 'ANSWER_MALFORMED', 'TIMED_OUT', 'SECRET')),
    -- A stranger's bytes.
    response_body BLOB    NOT NULL CHECK (length(response_body) <= 1024),
    trigger       TEXT    NOT NULL CHECK (trigger IN ('SCHEDULE', 'RESEND')),
    PRIMARY KEY (delivery_id, number)
) STRICT;

-- Numbers that must never come twice, whatever was deleted.
CREATE TABLE sequences (
    name TEXT    NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL CHECK (last >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO sequences (name, last) VALUES ('lease', 0);
