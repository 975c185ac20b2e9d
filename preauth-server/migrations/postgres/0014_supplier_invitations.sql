-- A supplier that an offer names is invited by the head office that offers, and by nobody else: name
-- and contact are that head office's. It is registered, for everybody, by the platform alone.

ALTER TABLE companies ADD COLUMN is_invited BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE supplier_invitations (
    supplier_id    UUID    NOT NULL REFERENCES companies (id),
    head_office_id UUID    NOT NULL REFERENCES companies (id),
    name           TEXT    NOT NULL CHECK (name <> ''),
    contact_name   TEXT    NOT NULL CHECK (contact_name <> ''),
    contact_email  TEXT    NOT NULL CHECK (contact_email <> ''),
    contact_phone  TEXT,
    invited_at     BIGINT  NOT NULL,
    PRIMARY KEY (supplier_id, head_office_id)
);

-- For builds that do not know this step: what they register by an offer, and nothing else, has a
-- contact. Such a supplier is invited, under the name in its row, by each head office that offers.
-- Builds that know this step write an invitation, and neither name nor contact in the company's row.
CREATE FUNCTION invite_suppliers_of_offers() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.is_invited := TRUE;
    RETURN NEW;
END
$$;

CREATE TRIGGER companies_invited BEFORE INSERT ON companies
    FOR EACH ROW WHEN (NEW.kind = 'SUPPLIER' AND NEW.contact_name IS NOT NULL)
    EXECUTE FUNCTION invite_suppliers_of_offers();

-- Once for each statement. Whatever is known of the tables, each row is found by its key.
CREATE FUNCTION record_invitations() RETURNS TRIGGER LANGUAGE plpgsql
    SET enable_seqscan TO off AS $$
BEGIN
    INSERT INTO supplier_invitations (supplier_id, head_office_id, name, contact_name,
        contact_email, contact_phone, invited_at)
    SELECT DISTINCT ON (e.supplier_id, e.head_office_id)
        e.supplier_id, e.head_office_id, s.name, s.contact_name, s.contact_email, s.contact_phone,
        e.created_at
    FROM entered e
    CROSS JOIN LATERAL (
        SELECT c.name, c.contact_name, c.contact_email, c.contact_phone
        FROM companies c WHERE c.id = e.supplier_id LIMIT 1) AS s
    WHERE e.origin = 'PRE_AUTH' AND s.contact_name IS NOT NULL
      AND (SELECT i.name FROM supplier_invitations i
           WHERE i.supplier_id = e.supplier_id AND i.head_office_id = e.head_office_id
           LIMIT 1) IS NULL
    ORDER BY e.supplier_id, e.head_office_id, e.created_at
    ON CONFLICT (supplier_id, head_office_id) DO NOTHING;
    RETURN NULL;
END
$$;
