-- What offers registered before: a supplier without users or endpoint becomes invited by each head
-- office that named it in an offer, with the name it has. What the platform registered has no contact,
-- and stays registered.

CREATE TRIGGER operations_invite AFTER INSERT ON operations WHEN NEW.origin = 'PRE_AUTH' BEGIN
    INSERT INTO supplier_invitations (supplier_id, head_office_id, name, contact_name,
        contact_email, contact_phone, invited_at)
    SELECT s.id, NEW.head_office_id, s.name, s.contact_name, s.contact_email, s.contact_phone,
        NEW.created_at
    FROM companies s
    WHERE s.id = NEW.supplier_id AND s.contact_name IS NOT NULL
    ON CONFLICT (supplier_id, head_office_id) DO NOTHING;
END;

INSERT INTO supplier_invitations (supplier_id, head_office_id, name, contact_name, contact_email,
    contact_phone, invited_at)
SELECT s.id, o.head_office_id, s.name, s.contact_name, s.contact_email, s.contact_phone, o.invited_at
FROM (SELECT supplier_id, head_office_id, min(created_at) AS invited_at
      FROM operations WHERE origin = 'PRE_AUTH'
      GROUP BY supplier_id, head_office_id) AS o
JOIN companies s ON s.id = o.supplier_id
WHERE s.contact_name IS NOT NULL
ON CONFLICT (supplier_id, head_office_id) DO NOTHING;

UPDATE companies SET is_invited = 1
WHERE kind = 'SUPPLIER' AND contact_name IS NOT NULL AND head_office_id = id
  AND NOT EXISTS (SELECT 1 FROM users u WHERE u.company_id = companies.id)
  AND NOT EXISTS (SELECT 1 FROM endpoints e WHERE e.head_office_id = companies.id)
  AND NOT EXISTS (SELECT 1 FROM companies b
                  WHERE b.head_office_id = companies.id AND b.id <> companies.id);
