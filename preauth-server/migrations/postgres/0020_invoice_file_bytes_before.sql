-- no-transaction
-- Counts the invoice files from before step 16, while others write: what is missing is the difference
-- between the files and their sums in one moment. Whoever writes meanwhile changes both together. Done
-- again, it finds nothing missing.
INSERT INTO invoice_file_bytes AS b (head_office_id, slot, bytes)
SELECT m.head_office_id, nextval('invoice_file_bytes_slots'), m.missing
FROM (SELECT c.head_office_id, sum(c.change) AS missing
      FROM (SELECT o.head_office_id, f.size_bytes AS change
            FROM invoice_files f JOIN operations o ON o.id = f.operation_id
            UNION ALL
            SELECT head_office_id, -bytes FROM invoice_file_bytes) AS c
      GROUP BY c.head_office_id HAVING sum(c.change) <> 0) AS m
ON CONFLICT (head_office_id, slot) DO UPDATE SET bytes = b.bytes + excluded.bytes;
