-- A supplier that an offer names is invited by the head office that offers, and by nobody else: name
-- and contact are that head office's. It is registered, for everybody, by the platform alone.

ALTER TABLE companies ADD COLUMN is_invited INTEGER NOT NULL DEFAULT 0 CHECK (is_invited IN (0, 1));

CREATE TABLE supplier_invitations (
    supplier_id    BLOB    NOT NULL REFERENCES companies (id),
    head_office_id BLOB    NOT NULL REFERENCES companies (id),
    name           TEXT    NOT NULL CHECK (name <> ''),
    contact_name   TEXT    NOT NULL CHECK (contact_name <> ''),
    contact_email  TEXT    NOT NULL CHECK (contact_email <> ''),
    contact_phone  TEXT,
    invited_at     INTEGER NOT NULL,
    PRIMARY KEY (supplier_id, head_office_id)
) STRICT, WITHOUT ROWID;

-- For builds that do not know this step: what they register by an offer, and nothing else, has a
-- contact. Such a supplier is invited, under the name in its row, by each head office that offers.
-- Builds that know this step write an invitation, and neither name nor contact in the company's row.
CREATE TRIGGER companies_invited AFTER INSERT ON companies
WHEN NEW.kind = 'SUPPLIER' AND NEW.contact_name IS NOT NULL BEGIN
    UPDATE companies SET is_invited = 1 WHERE id = NEW.id;
END;
