-- A schema with gaps in its comments.

CREATE TABLE IF NOT EXISTS NoComment (
    id INTEGER NOT NULL -- Identifier.
);

-- A table whose second column says nothing.
CREATE TABLE IF NOT EXISTS HalfCommented (
    id INTEGER NOT NULL, -- Identifier.
    silent TEXT,
    PRIMARY KEY (id)
);
