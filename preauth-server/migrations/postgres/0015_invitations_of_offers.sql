-- no-transaction
-- What offers registered before: a supplier without users or endpoint becomes invited by each head
-- office that named it in an offer, with the name it has. What the platform registered has no contact,
-- and stays registered.

-- From here on, whatever a build that does not know step 14 offers is recorded by the trigger. Making
-- it waits for the offers under way, so that what follows sees these.
CREATE OR REPLACE TRIGGER operations_invite AFTER INSERT ON operations
    REFERENCING NEW TABLE AS entered
    FOR EACH STATEMENT EXECUTE FUNCTION record_invitations();

-- Looked up at once, which nobody waits for, and written a little at a time: the trigger waits for an
-- invitation that is being written.
CREATE TEMPORARY TABLE IF NOT EXISTS invitations_to_record AS
SELECT supplier_id, head_office_id, min(created_at) AS invited_at
FROM operations WHERE origin = 'PRE_AUTH'
GROUP BY supplier_id, head_office_id;

-- repeat
WITH next AS (
    DELETE FROM invitations_to_record
    WHERE ctid IN (SELECT ctid FROM invitations_to_record LIMIT 1000)
    RETURNING supplier_id, head_office_id, invited_at
),
recorded AS (
    INSERT INTO supplier_invitations (supplier_id, head_office_id, name, contact_name, contact_email,
        contact_phone, invited_at)
    SELECT s.id, n.head_office_id, s.name, s.contact_name, s.contact_email, s.contact_phone,
        n.invited_at
    FROM next n JOIN companies s ON s.id = n.supplier_id
    WHERE s.contact_name IS NOT NULL
    ON CONFLICT (supplier_id, head_office_id) DO NOTHING
)
SELECT FROM next;

DROP TABLE IF EXISTS invitations_to_record;

-- After the invitations, so that no supplier is without a name in between. Commits refer to rows of
-- companies by their keys, which stay: none waits.
UPDATE companies SET is_invited = TRUE
WHERE kind = 'SUPPLIER' AND contact_name IS NOT NULL AND head_office_id = id
  AND NOT EXISTS (SELECT 1 FROM users u WHERE u.company_id = companies.id)
  AND NOT EXISTS (SELECT 1 FROM endpoints e WHERE e.head_office_id = companies.id)
  AND NOT EXISTS (SELECT 1 FROM companies b
                  WHERE b.head_office_id = companies.id AND b.id <> companies.id);
