-- How many operations each company has in each status, for lists: to count a million rows takes a
-- thousand times as long as to read a page of them. The database keeps the counts itself, so that they
-- are exact whoever writes.

-- Each count is the sum over its slots, single ones of which may be negative. Connections that write
-- at the same time have slots of their own, so that none waits until another has committed.
CREATE TABLE operation_counts (
    head_office_id UUID     NOT NULL,
    payer_id       UUID     NOT NULL,
    status         TEXT     NOT NULL,
    slot           SMALLINT NOT NULL,
    count          BIGINT   NOT NULL,
    PRIMARY KEY (head_office_id, payer_id, status, slot)
) WITH (fillfactor = 50);

-- Once for each statement, however many rows it writes. In one order, so that connections that do share
-- a slot do not wait for each other in a circle.
CREATE FUNCTION count_operations() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO operation_counts AS c (head_office_id, payer_id, status, slot, count)
        SELECT head_office_id, payer_id, status, pg_backend_pid() % 64, count(*)
        FROM entered
        GROUP BY head_office_id, payer_id, status
        ORDER BY head_office_id, payer_id, status
        ON CONFLICT (head_office_id, payer_id, status, slot)
            DO UPDATE SET count = c.count + excluded.count;
    ELSE
        INSERT INTO operation_counts AS c (head_office_id, payer_id, status, slot, count)
        SELECT head_office_id, payer_id, status, pg_backend_pid() % 64, sum(change)
        FROM (SELECT head_office_id, payer_id, status, 1 AS change FROM entered
              UNION ALL
              SELECT head_office_id, payer_id, status, -1 FROM gone) AS moved
        GROUP BY head_office_id, payer_id, status
        HAVING sum(change) <> 0
        ORDER BY head_office_id, payer_id, status
        ON CONFLICT (head_office_id, payer_id, status, slot)
            DO UPDATE SET count = c.count + excluded.count;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER operations_begun AFTER INSERT ON operations
    REFERENCING NEW TABLE AS entered
    FOR EACH STATEMENT EXECUTE FUNCTION count_operations();
CREATE TRIGGER operations_moved AFTER UPDATE ON operations
    REFERENCING OLD TABLE AS gone NEW TABLE AS entered
    FOR EACH STATEMENT EXECUTE FUNCTION count_operations();

INSERT INTO operation_counts (head_office_id, payer_id, status, slot, count)
SELECT head_office_id, payer_id, status, 0, count(*) FROM operations
GROUP BY head_office_id, payer_id, status;

-- The few of a status among very many of others.
CREATE INDEX operations_of_status ON operations (head_office_id, status, id);
