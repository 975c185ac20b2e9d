-- How many bytes of invoice files the operations of each head office name, its branches' included. The
-- database keeps the sums itself, so that they are exact whoever writes. A sum is that of its rows:
-- each change is a row of its own, so that no commit waits for another, and the janitor puts one row
-- in place of many. Files that were there before are counted by step 20.

CREATE TABLE invoice_file_bytes (
    head_office_id UUID     NOT NULL,
    slot           SMALLINT NOT NULL,
    bytes          BIGINT   NOT NULL,
    PRIMARY KEY (head_office_id, slot)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE SEQUENCE invoice_file_bytes_slots AS SMALLINT MINVALUE -32768 START 64 CYCLE
    OWNED BY invoice_file_bytes.slot;

-- Once for each statement. Most write no file.
CREATE FUNCTION count_invoice_file_bytes() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NOT EXISTS (SELECT 1 FROM entered) THEN
            RETURN NULL;
        END IF;
        INSERT INTO invoice_file_bytes AS b (head_office_id, slot, bytes)
        SELECT m.head_office_id, nextval('invoice_file_bytes_slots'), m.change
        FROM (SELECT o.head_office_id, sum(e.size_bytes) AS change
              FROM entered e JOIN operations o ON o.id = e.operation_id
              GROUP BY o.head_office_id ORDER BY o.head_office_id) AS m
        ON CONFLICT (head_office_id, slot) DO UPDATE SET bytes = b.bytes + excluded.bytes;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO invoice_file_bytes AS b (head_office_id, slot, bytes)
        SELECT m.head_office_id, nextval('invoice_file_bytes_slots'), m.change
        FROM (SELECT o.head_office_id, -sum(g.size_bytes) AS change
              FROM gone g JOIN operations o ON o.id = g.operation_id
              GROUP BY o.head_office_id ORDER BY o.head_office_id) AS m
        ON CONFLICT (head_office_id, slot) DO UPDATE SET bytes = b.bytes + excluded.bytes;
    ELSE
        INSERT INTO invoice_file_bytes AS b (head_office_id, slot, bytes)
        SELECT m.head_office_id, nextval('invoice_file_bytes_slots'), m.change
        FROM (SELECT o.head_office_id, sum(c.change) AS change
              FROM (SELECT operation_id, size_bytes AS change FROM entered
                    UNION ALL
                    SELECT operation_id, -size_bytes FROM gone) AS c
              JOIN operations o ON o.id = c.operation_id
              GROUP BY o.head_office_id HAVING sum(c.change) <> 0
              ORDER BY o.head_office_id) AS m
        ON CONFLICT (head_office_id, slot) DO UPDATE SET bytes = b.bytes + excluded.bytes;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER invoice_files_named AFTER INSERT ON invoice_files
    REFERENCING NEW TABLE AS entered
    FOR EACH STATEMENT EXECUTE FUNCTION count_invoice_file_bytes();
CREATE TRIGGER invoice_files_removed AFTER DELETE ON invoice_files
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION count_invoice_file_bytes();
CREATE TRIGGER invoice_files_changed AFTER UPDATE ON invoice_files
    REFERENCING OLD TABLE AS gone NEW TABLE AS entered
    FOR EACH STATEMENT EXECUTE FUNCTION count_invoice_file_bytes();
