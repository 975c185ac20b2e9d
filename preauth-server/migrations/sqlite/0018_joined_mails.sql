-- Mails of one head office to one mailbox are joined when they exceed the limits of a day.

-- The mailbox that an address leads to: in small letters, without what follows a plus sign.
ALTER TABLE notices ADD COLUMN mailbox TEXT GENERATED ALWAYS AS (
    lower(CASE WHEN instr(recipient, '+') > 1 AND instr(recipient, '+') < instr(recipient, '@')
               THEN substr(recipient, 1, instr(recipient, '+') - 1)
                    || substr(recipient, instr(recipient, '@'))
               ELSE recipient END)) VIRTUAL;
-- The mail in which this one was or will be sent; NULL when it has one of its own.
ALTER TABLE notices ADD COLUMN joined_to BLOB;
-- When it was given out as the first one of its head office to its mailbox.
ALTER TABLE notices ADD COLUMN opened_at INTEGER;

CREATE INDEX notices_sent_to_mailbox ON notices (mailbox, ended_at)
    WHERE status = 'SENT' AND joined_to IS NULL;
CREATE INDEX notices_of_office_to_mailbox ON notices (head_office_id, mailbox, status,
    next_attempt_at, id);
CREATE INDEX notices_joined ON notices (joined_to) WHERE joined_to IS NOT NULL;
CREATE INDEX notices_opened ON notices (head_office_id, opened_at) WHERE opened_at IS NOT NULL;
