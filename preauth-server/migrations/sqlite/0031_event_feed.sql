-- Events on request: which head offices read an event, and in which order. Events before this step are in no head
-- office's list. There is one writer, so a number is given with the commit.
CREATE TABLE event_feed (
    -- Never the same twice, whatever was removed.
    number         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    head_office_id BLOB    NOT NULL CHECK (length(head_office_id) = 16),
    event_id       BLOB    NOT NULL CHECK (length(event_id) = 16),
    type           TEXT    NOT NULL CHECK (type <> ''),
    payer_id       BLOB    NOT NULL CHECK (length(payer_id) = 16),
    supplier_id    BLOB    NOT NULL CHECK (length(supplier_id) = 16),
    at             INTEGER NOT NULL
) STRICT;

CREATE INDEX event_feed_of_head_office ON event_feed (head_office_id, number);

-- The last removed event of each company of a head office.
CREATE TABLE event_feed_ends (
    head_office_id BLOB    NOT NULL CHECK (length(head_office_id) = 16),
    company_id     BLOB    NOT NULL CHECK (length(company_id) = 16),
    number         INTEGER NOT NULL,
    event_id       BLOB    NOT NULL CHECK (length(event_id) = 16),
    PRIMARY KEY (head_office_id, company_id)
) STRICT, WITHOUT ROWID;
