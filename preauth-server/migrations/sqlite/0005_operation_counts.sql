-- How many operations each company has in each status, for lists: to count a million rows takes a
-- thousand times as long as to read a page of them. The database keeps the counts itself, so that they
-- are exact whoever writes.

CREATE TABLE operation_counts (
    head_office_id BLOB    NOT NULL,
    payer_id       BLOB    NOT NULL,
    status         TEXT    NOT NULL,
    count          INTEGER NOT NULL,
    PRIMARY KEY (head_office_id, payer_id, status)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER operations_begun AFTER INSERT ON operations BEGIN
    INSERT INTO operation_counts (head_office_id, payer_id, status, count)
    VALUES (NEW.head_office_id, NEW.payer_id, NEW.status, 1)
    ON CONFLICT (head_office_id, payer_id, status) DO UPDATE SET count = count + 1;
END;

CREATE TRIGGER operations_moved AFTER UPDATE OF head_office_id, payer_id, status ON operations BEGIN
    UPDATE operation_counts SET count = count - 1
    WHERE head_office_id = OLD.head_office_id AND payer_id = OLD.payer_id AND status = OLD.status;
    INSERT INTO operation_counts (head_office_id, payer_id, status, count)
    VALUES (NEW.head_office_id, NEW.payer_id, NEW.status, 1)
    ON CONFLICT (head_office_id, payer_id, status) DO UPDATE SET count = count + 1;
END;

INSERT INTO operation_counts (head_office_id, payer_id, status, count)
SELECT head_office_id, payer_id, status, count(*) FROM operations
GROUP BY head_office_id, payer_id, status;

-- The few of a status among very many of others.
CREATE INDEX operations_of_status ON operations (head_office_id, status, id);
