-- Invoices that were received; they never change.
CREATE TABLE invoices (
    id             INTEGER NOT NULL PRIMARY KEY CHECK (id > 0),
    head_office_id BLOB    NOT NULL REFERENCES companies (id),
    payer_id       BLOB    NOT NULL REFERENCES companies (id),
    supplier_id    BLOB    NOT NULL REFERENCES companies (id),
    amount_cents   INTEGER NOT NULL CHECK (amount_cents > 0),
    due_date       TEXT    NOT NULL
        CHECK (due_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    number         TEXT    NOT NULL CHECK (number <> ''),
    received_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX invoices_of_head_office ON invoices (head_office_id, id);

-- What is sent again when everything that failed since some moment is.
CREATE INDEX deliveries_failed ON deliveries (head_office_id, ended_at, id)
    WHERE status = 'FAILED';
