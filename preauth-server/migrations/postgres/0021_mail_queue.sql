-- no-transaction
-- What a claim of a mail looks up is found in a range that does not grow with what was sent before.

-- opened_number: which mailbox of the day it opened for its head office, beside opened_at. NULL in rows of
-- builds that do not know this step; these are counted.
ALTER TABLE notices ADD COLUMN IF NOT EXISTS opened_number BIGINT;

-- What is under way to a mailbox. Behind a snapshot that is held open notices_leased has an entry for
-- each mail since; so statements ask for leases in these words, which no other index answers.
DROP INDEX CONCURRENTLY IF EXISTS notices_under_way;
CREATE INDEX CONCURRENTLY notices_under_way ON notices (mailbox(recipient))
    WHERE coalesce(leased_until, 0) > 0 AND joined_to IS NULL;
