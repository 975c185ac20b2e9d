-- no-transaction
-- The form in which an invoice's number is compared (NFC), where it is not the number itself. What was
-- written before this step, or by a build before it, has none, and is compared as it was sent.
ALTER TABLE operations ADD COLUMN IF NOT EXISTS invoice_number_nfc TEXT;

-- The duplicate rule on numbers as they are compared. The index before it stays for builds before this
-- step.
DROP INDEX CONCURRENTLY IF EXISTS operations_number_in_progress;
CREATE UNIQUE INDEX CONCURRENTLY operations_number_in_progress
    ON operations (head_office_id, supplier_cnpj, coalesce(invoice_number_nfc, invoice_number))
    WHERE invoice_number IS NOT NULL AND status NOT IN ('REPROVED', 'CONCLUDED');

-- The first eight characters of a CNPJ are its legal entity: which of them a group has, and which of
-- them it blocks.
DROP INDEX CONCURRENTLY IF EXISTS companies_by_entity;
CREATE INDEX CONCURRENTLY companies_by_entity ON companies (head_office_id, substr(cnpj, 1, 8));

DROP INDEX CONCURRENTLY IF EXISTS blocked_suppliers_by_entity;
CREATE INDEX CONCURRENTLY blocked_suppliers_by_entity
    ON blocked_suppliers (head_office_id, substr(supplier_cnpj, 1, 8));
