-- no-transaction
-- What a create writes is checked and indexed once. Each statement is a transaction of its own, so that
-- none waits for the lock of one table while it holds another's.

-- Step 13 compares numbers by another index, and step 18 finds the mails to an address by its mailbox.
DROP INDEX CONCURRENTLY IF EXISTS operations_invoice_in_progress;
DROP INDEX CONCURRENTLY IF EXISTS notices_to_address;

-- Checked row by row, these took a quarter of a commit's time. The statement that writes a row has locked,
-- or written itself, what the row refers to; none of that is ever removed, and audit finds a row whose
-- reference leads nowhere. The payer and the supplier of an operation keep theirs.
ALTER TABLE deliveries DROP CONSTRAINT IF EXISTS deliveries_head_office_id_fkey;
ALTER TABLE deliveries DROP CONSTRAINT IF EXISTS deliveries_endpoint_id_fkey;
ALTER TABLE deliveries DROP CONSTRAINT IF EXISTS deliveries_event_id_fkey;
ALTER TABLE notices DROP CONSTRAINT IF EXISTS notices_head_office_id_fkey;
ALTER TABLE notices DROP CONSTRAINT IF EXISTS notices_operation_id_fkey;
ALTER TABLE events DROP CONSTRAINT IF EXISTS events_head_office_id_fkey;
ALTER TABLE events DROP CONSTRAINT IF EXISTS events_operation_id_fkey;
ALTER TABLE events DROP CONSTRAINT IF EXISTS events_payment_order_id_fkey;
ALTER TABLE idempotency_replies DROP CONSTRAINT IF EXISTS idempotency_replies_head_office_id_fkey;
ALTER TABLE idempotency_replies DROP CONSTRAINT IF EXISTS idempotency_replies_operation_id_fkey;
ALTER TABLE operations DROP CONSTRAINT IF EXISTS operations_head_office_id_fkey;

-- Builds since step 14 record invitations themselves.
DROP TRIGGER IF EXISTS operations_invite ON operations;
DROP TRIGGER IF EXISTS companies_invited ON companies;
DROP FUNCTION IF EXISTS record_invitations();
DROP FUNCTION IF EXISTS invite_suppliers_of_offers();
