-- Head offices take turns in the queue of mails: the mails that wait by head office, and the head offices
-- that send mails.
CREATE INDEX notices_waiting ON notices (head_office_id, next_attempt_at, id)
    WHERE status = 'PENDING' AND joined_to IS NULL;
CREATE INDEX companies_head_offices ON companies (head_office_id)
    WHERE kind = 'CONSTRUCTION' AND head_office_id = id;
