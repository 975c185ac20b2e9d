-- no-transaction
-- Head offices take turns in the queue of mails. These indexes are asked in words that no other one answers:
-- otherwise the planner might read all mails that are due, or all companies.

-- The mails that wait, by head office.
DROP INDEX CONCURRENTLY IF EXISTS notices_waiting;
CREATE INDEX CONCURRENTLY notices_waiting ON notices (
    (CASE WHEN joined_to IS NULL THEN head_office_id END), coalesce(next_attempt_at, 0), id)
    WHERE coalesce(next_attempt_at, 0) > 0 AND joined_to IS NULL;

-- The head offices that send mails. They are not taken from the index above, which has entries of all mails
-- that were sent while a snapshot was held open.
DROP INDEX CONCURRENTLY IF EXISTS companies_head_offices;
CREATE INDEX CONCURRENTLY companies_head_offices ON companies (
    (CASE WHEN kind = 'CONSTRUCTION' THEN head_office_id END))
    WHERE kind = 'CONSTRUCTION' AND head_office_id = id;

-- What is under way to a mailbox. Asked for by the words of notices_under_way, the planner may read all mails of
-- a mailbox that has most of those in the table.
DROP INDEX CONCURRENTLY IF EXISTS notices_in_progress;
CREATE INDEX CONCURRENTLY notices_in_progress ON notices (
    (CASE WHEN joined_to IS NULL THEN mailbox(recipient) END))
    WHERE coalesce(leased_until, 0) > 0 AND joined_to IS NULL;
