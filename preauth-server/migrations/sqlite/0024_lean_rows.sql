-- What a create writes is indexed once. Step 13 compares numbers by another index, and step 18 finds the
-- mails to an address by its mailbox.
DROP INDEX IF EXISTS operations_invoice_in_progress;
DROP INDEX IF EXISTS notices_to_address;

-- Builds since step 14 record invitations themselves.
DROP TRIGGER IF EXISTS operations_invite;
DROP TRIGGER IF EXISTS companies_invited;
