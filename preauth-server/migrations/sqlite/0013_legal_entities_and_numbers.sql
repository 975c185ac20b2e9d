-- The form in which an invoice's number is compared (NFC), where it is not the number itself. What was
-- written before this step has none, and is compared as it was sent.
ALTER TABLE operations ADD COLUMN invoice_number_nfc TEXT;

-- The duplicate rule on numbers as they are compared. The index before it stays for builds before this
-- step.
CREATE UNIQUE INDEX operations_number_in_progress
    ON operations (head_office_id, supplier_cnpj, coalesce(invoice_number_nfc, invoice_number))
    WHERE invoice_number IS NOT NULL AND status NOT IN ('REPROVED', 'CONCLUDED');

-- The first eight characters of a CNPJ are its legal entity: which of them a group has, and which of
-- them it blocks.
CREATE INDEX companies_by_entity ON companies (head_office_id, substr(cnpj, 1, 8));
CREATE INDEX blocked_suppliers_by_entity
    ON blocked_suppliers (head_office_id, substr(supplier_cnpj, 1, 8));
