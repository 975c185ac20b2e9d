-- Whose this database is, so that a restored copy keeps silent until an operator adopts it. One row,
-- written by the first start.

CREATE TABLE deployment (
    only_one INTEGER NOT NULL PRIMARY KEY DEFAULT 1 CHECK (only_one = 1),
    id       TEXT    NOT NULL CHECK (length(id) BETWEEN 8 AND 64),
    -- Whether an operator gave the id.
    is_given INTEGER NOT NULL CHECK (is_given IN (0, 1)),
    -- The birth of the file in which the row was written: a copy of it has another.
    place    TEXT    NOT NULL
) STRICT;
