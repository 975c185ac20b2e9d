-- Which mailbox of the day a mail opened for its head office, beside opened_at. NULL in rows of builds that
-- do not know this step; these are counted.
ALTER TABLE notices ADD COLUMN opened_number INTEGER;
