-- Invoices that were received; they never change.
CREATE TABLE invoices (
    id             BIGINT  NOT NULL PRIMARY KEY CHECK (id > 0),
    head_office_id UUID    NOT NULL REFERENCES companies (id),
    payer_id       UUID    NOT NULL REFERENCES companies (id),
    supplier_id    UUID    NOT NULL REFERENCES companies (id),
    amount_cents   BIGINT  NOT NULL CHECK (amount_cents > 0),
    due_date       TEXT    NOT NULL CHECK (due_date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
    number         TEXT    NOT NULL CHECK (number <> ''),
    received_at    BIGINT  NOT NULL
);

CREATE INDEX invoices_of_head_office ON invoices (head_office_id, id);

CREATE SEQUENCE invoice_ids AS BIGINT OWNED BY invoices.id;

-- What is sent again when everything that failed since some moment is.
CREATE INDEX deliveries_failed ON deliveries (head_office_id, ended_at, id)
    WHERE status = 'FAILED';
