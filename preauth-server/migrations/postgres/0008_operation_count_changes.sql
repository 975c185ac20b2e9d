-- A change of a count becomes a row of its own, where it rewrote its connection's row before. Behind a
-- snapshot that is held open a row that is rewritten again and again leaves a chain of versions, which
-- every further change went over; and connections shared rows when they were more than 64. A count is
-- the sum of its rows, as before; the janitor sums them up (see store/postgres/housekeeping).
CREATE SEQUENCE operation_count_slots AS SMALLINT MINVALUE -32768 START 64 CYCLE
    OWNED BY operation_counts.slot;

-- Should a slot come round before the janitor, its row is added to: the sum is right whatever happens.
CREATE OR REPLACE FUNCTION count_operations() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO operation_counts AS c (head_office_id, payer_id, status, slot, count)
        SELECT m.head_office_id, m.payer_id, m.status, nextval('operation_count_slots'), m.change
        FROM (SELECT head_office_id, payer_id, status, count(*) AS change
              FROM entered
              GROUP BY head_office_id, payer_id, status
              ORDER BY head_office_id, payer_id, status) AS m
        ON CONFLICT (head_office_id, payer_id, status, slot)
            DO UPDATE SET count = c.count + excluded.count;
    ELSE
        INSERT INTO operation_counts AS c (head_office_id, payer_id, status, slot, count)
        SELECT m.head_office_id, m.payer_id, m.status, nextval('operation_count_slots'), m.change
        FROM (SELECT head_office_id, payer_id, status, sum(change) AS change
              FROM (SELECT head_office_id, payer_id, status, 1 AS change FROM entered
                    UNION ALL
                    SELECT head_office_id, payer_id, status, -1 FROM gone) AS moved
              GROUP BY head_office_id, payer_id, status
              HAVING sum(change) <> 0
              ORDER BY head_office_id, payer_id, status) AS m
        ON CONFLICT (head_office_id, payer_id, status, slot)
            DO UPDATE SET count = c.count + excluded.count;
    END IF;
    RETURN NULL;
END
$$;

-- Its rows come and go by the thousand, however few are left.
ALTER TABLE operation_counts SET (
    fillfactor = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
