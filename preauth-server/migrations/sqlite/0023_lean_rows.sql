-- What a create writes is indexed once. Builds before step 21 are no longer supported.
UPDATE schema_compatibility SET oldest_supported = 21;

-- Step 13 compares numbers by another index, and step 18 finds the mails to an address by its mailbox.
DROP INDEX IF EXISTS operations_invoice_in_progress;
DROP INDEX IF EXISTS notices_to_address;

-- Builds since step 14 record invitations themselves.
DROP TRIGGER IF EXISTS operations_invite;
DROP TRIGGER IF EXISTS companies_invited;
