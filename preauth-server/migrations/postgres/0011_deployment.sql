-- Whose this database is, so that a restored copy keeps silent until an operator adopts it. One row,
-- written by the first start.

CREATE TABLE deployment (
    only_one BOOLEAN NOT NULL PRIMARY KEY DEFAULT TRUE CHECK (only_one),
    id       TEXT    NOT NULL CHECK (length(id) BETWEEN 8 AND 64),
    -- Whether an operator gave the id.
    is_given BOOLEAN NOT NULL,
    -- The database, the table and the transaction in which the row was written: a restored dump and a
    -- database made from a template have others.
    place    TEXT    NOT NULL
);
