-- no-transaction
-- Mails of one head office to one mailbox are joined when they exceed the limits of a day.

-- The mailbox that an address leads to: in small letters, without what follows a plus sign.
CREATE OR REPLACE FUNCTION mailbox(address TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT
    AS 'SELECT lower(regexp_replace(address, ''^([^+@]+)[+][^@]*@'', ''\1@''))';

-- joined_to: the mail in which this one was or will be sent; NULL when it has one of its own.
ALTER TABLE notices ADD COLUMN IF NOT EXISTS joined_to UUID;
-- opened_at: when it was given out as the first one of its head office to its mailbox.
ALTER TABLE notices ADD COLUMN IF NOT EXISTS opened_at BIGINT;

DROP INDEX CONCURRENTLY IF EXISTS notices_sent_to_mailbox;
CREATE INDEX CONCURRENTLY notices_sent_to_mailbox ON notices (mailbox(recipient), ended_at)
    WHERE status = 'SENT' AND joined_to IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS notices_of_office_to_mailbox;
CREATE INDEX CONCURRENTLY notices_of_office_to_mailbox ON notices (head_office_id,
    mailbox(recipient), status, next_attempt_at, id);
DROP INDEX CONCURRENTLY IF EXISTS notices_joined;
CREATE INDEX CONCURRENTLY notices_joined ON notices (joined_to) WHERE joined_to IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS notices_opened;
CREATE INDEX CONCURRENTLY notices_opened ON notices (head_office_id, opened_at)
    WHERE opened_at IS NOT NULL;
