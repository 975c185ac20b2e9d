-- How many bytes of invoice files the operations of each head office name, its branches' included. The
-- database keeps the sums itself, so that they are exact whoever writes.

CREATE TABLE invoice_file_bytes (
    head_office_id BLOB    NOT NULL PRIMARY KEY,
    bytes          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER invoice_files_named AFTER INSERT ON invoice_files BEGIN
    INSERT INTO invoice_file_bytes (head_office_id, bytes)
    SELECT head_office_id, NEW.size_bytes FROM operations WHERE id = NEW.operation_id
    ON CONFLICT (head_office_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER invoice_files_removed AFTER DELETE ON invoice_files BEGIN
    UPDATE invoice_file_bytes SET bytes = bytes - OLD.size_bytes
    WHERE head_office_id = (SELECT head_office_id FROM operations WHERE id = OLD.operation_id);
END;

CREATE TRIGGER invoice_files_changed AFTER UPDATE OF size_bytes ON invoice_files BEGIN
    UPDATE invoice_file_bytes SET bytes = bytes + NEW.size_bytes - OLD.size_bytes
    WHERE head_office_id = (SELECT head_office_id FROM operations WHERE id = NEW.operation_id);
END;

INSERT INTO invoice_file_bytes (head_office_id, bytes)
SELECT o.head_office_id, sum(f.size_bytes)
FROM invoice_files f JOIN operations o ON o.id = f.operation_id
GROUP BY o.head_office_id;
