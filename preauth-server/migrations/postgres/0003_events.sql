-- Events, and their way to the endpoints that hear of them.

-- The types of events have no CHECK: v1 may gain some.
CREATE TABLE events (
    id               UUID    NOT NULL PRIMARY KEY,
    head_office_id   UUID    NOT NULL REFERENCES companies (id),
    operation_id     BIGINT  REFERENCES operations (id),
    payment_order_id BIGINT  REFERENCES payment_orders (id),
    version          BIGINT  CHECK (version >= 1),
    type             TEXT    NOT NULL CHECK (type <> ''),
    at               BIGINT  NOT NULL,
    -- Key and user are no references: history outlives what it names.
    actor            TEXT    NOT NULL CHECK (actor IN (
        'API_KEY', 'COMPANY', 'SUPPLIER', 'PLATFORM', 'SYSTEM')),
    actor_api_key_id UUID,
    actor_user_id    UUID,
    -- The webhook body, as frozen by the commit.
    body             TEXT    NOT NULL,
    CHECK (operation_id IS NULL OR payment_order_id IS NULL),
    CHECK ((version IS NULL) = (operation_id IS NULL AND payment_order_id IS NULL)),
    CHECK ((actor = 'API_KEY') = (actor_api_key_id IS NOT NULL)),
    CHECK ((actor = 'API_KEY') = (actor_user_id IS NOT NULL))
);

-- One event per version: a change without its event, or with two, cannot be stored.
CREATE UNIQUE INDEX events_of_operation ON events (head_office_id, operation_id, version)
    WHERE operation_id IS NOT NULL;
CREATE UNIQUE INDEX events_of_payment_order ON events (head_office_id, payment_order_id, version)
    WHERE payment_order_id IS NOT NULL;

CREATE TABLE endpoints (
    id              UUID    NOT NULL PRIMARY KEY,
    head_office_id  UUID    NOT NULL REFERENCES companies (id),
    url             TEXT    NOT NULL CHECK (url <> ''),
    -- Types separated by commas; empty for none.
    events          TEXT    NOT NULL,
    paused_at       BIGINT,
    created_at      BIGINT  NOT NULL,
    last_success_at BIGINT,
    -- Whether its last attempt held a place for long.
    is_slow         BOOLEAN NOT NULL DEFAULT FALSE,
    -- A removed endpoint stays, because the history of its deliveries does.
    deleted_at      BIGINT
);

CREATE UNIQUE INDEX endpoints_one_per_head_office ON endpoints (head_office_id)
    WHERE deleted_at IS NULL;

-- Signing secrets, encrypted; the highest number is the newest.
CREATE TABLE endpoint_secrets (
    endpoint_id UUID    NOT NULL REFERENCES endpoints (id),
    number      BIGINT  NOT NULL CHECK (number >= 1),
    sealed      BYTEA   NOT NULL,
    created_at  BIGINT  NOT NULL,
    -- In force before this moment; NULL for the newest one.
    valid_until BIGINT,
    PRIMARY KEY (endpoint_id, number)
);

CREATE TABLE deliveries (
    id              UUID    NOT NULL PRIMARY KEY,
    -- The endpoint's, not the payer's: suppliers have endpoints too.
    head_office_id  UUID    NOT NULL REFERENCES companies (id),
    endpoint_id     UUID    NOT NULL REFERENCES endpoints (id),
    event_id        UUID    NOT NULL REFERENCES events (id),
    event_type      TEXT    NOT NULL,
    status          TEXT    NOT NULL CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED')),
    next_attempt_at BIGINT,
    -- Since the delivery was made or last resent.
    attempts_made   BIGINT  NOT NULL DEFAULT 0 CHECK (attempts_made >= 0),
    next_trigger    TEXT    NOT NULL DEFAULT 'SCHEDULE'
        CHECK (next_trigger IN ('SCHEDULE', 'RESEND')),
    lease_token     BIGINT  NOT NULL DEFAULT 0,
    -- By the database's clock, unlike every other moment.
    leased_until    BIGINT,
    created_at      BIGINT  NOT NULL,
    ended_at        BIGINT,
    CHECK ((status = 'PENDING') = (next_attempt_at IS NOT NULL)),
    CHECK ((status = 'PENDING') = (ended_at IS NULL)),
    CHECK (status = 'PENDING' OR leased_until IS NULL)
);

CREATE UNIQUE INDEX deliveries_once_per_endpoint ON deliveries (event_id, endpoint_id);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_attempt_at, id)
    WHERE status = 'PENDING';
CREATE INDEX deliveries_leased ON deliveries (endpoint_id, leased_until)
    WHERE leased_until IS NOT NULL;
CREATE INDEX deliveries_newest_first ON deliveries (head_office_id, created_at, id);
CREATE INDEX deliveries_ended ON deliveries (ended_at, id) WHERE ended_at IS NOT NULL;

CREATE TABLE attempts (
    delivery_id   UUID    NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    number        BIGINT  NOT NULL CHECK (number >= 1),
    at            BIGINT  NOT NULL,
    duration_ms   BIGINT  NOT NULL CHECK (duration_ms >= 0),
    http_status   BIGINT  CHECK (http_status BETWEEN 0 AND 65535),
    error         TEXT    CHECK (error IN (
        'STATUS', 'URL_REFUSED', 'NAME_UNKNOWN', 'LOOKUP_FAILED', 'LOOKUP_TIMED_OUT',
        'ADDRESS_REFUSED', 'CONNECTION_REFUSED', 'UNREACHABLE', 'CONNECT_TIMED_OUT',
        'NOT_TLS', 'TLS_VERSION', 'CERTIFICATE_NAME', 'CERTIFICATE_UNTRUSTED',
        'CERTIFICATE_EXPIRED', 'TLS', 'TLS_TIMED_OUT', 'CONNECTION',
        'ANSWER_TOO_LARGE', 'ANSWER_MALFORMED', 'TIMED_OUT', 'SECRET')),
    -- A stranger's bytes.
    response_body BYTEA   NOT NULL CHECK (octet_length(response_body) <= 1024),
    trigger       TEXT    NOT NULL CHECK (trigger IN ('SCHEDULE', 'RESEND')),
    PRIMARY KEY (delivery_id, number)
);

-- Fencing tokens of leases: never the same twice, whatever was deleted.
CREATE SEQUENCE lease_tokens AS BIGINT;
