-- What version 0.1 had, whose own migrations (the last statement) are folded into this one.
CREATE TABLE message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    sender TEXT NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    at REAL NOT NULL,
    ref TEXT NOT NULL DEFAULT '',
    batch INTEGER REFERENCES batch (id),
    addressees TEXT NOT NULL DEFAULT '[]',
    import TEXT NOT NULL DEFAULT '',
    confided INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX message_pending ON message (session, id) WHERE batch IS NULL;
CREATE INDEX message_session ON message (session, id);
CREATE INDEX message_batch ON message (batch);
CREATE UNIQUE INDEX message_ref ON message (session, sender, ref) WHERE ref != '';
CREATE INDEX message_import ON message (import) WHERE import != '';

CREATE TABLE batch (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'learned', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at REAL NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    created_at REAL NOT NULL,
    prompt INTEGER NOT NULL DEFAULT 0,
    import TEXT NOT NULL DEFAULT ''
);
CREATE INDEX batch_open ON batch (state) WHERE state != 'learned';
CREATE INDEX batch_import ON batch (import) WHERE import != '';

CREATE TABLE change (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    batch INTEGER UNIQUE,
    undoes INTEGER UNIQUE,
    ops TEXT NOT NULL
);

CREATE TABLE row (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    data TEXT NOT NULL,
    change INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX row_session ON row (kind, session);
CREATE INDEX row_a ON row (kind, a);
CREATE INDEX row_b ON row (kind, b);
CREATE INDEX row_supersedes ON row (kind)
    WHERE kind = 'fact' AND json_array_length(data, '$.supersedes') > 0;
CREATE INDEX row_episode ON row (session, json_extract(data, '$.last_message'))
    WHERE kind = 'episode';
CREATE INDEX row_awaits ON row (json_extract(data, '$.valid_from'))
    WHERE kind = 'fact' AND json_array_length(data, '$.awaits') > 0;

CREATE TABLE presence (
    circle TEXT NOT NULL,
    user TEXT NOT NULL,
    since REAL NOT NULL,
    until REAL,
    import TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (circle, user, since)
) WITHOUT ROWID;

CREATE TABLE pause (
    kind TEXT NOT NULL CHECK (kind IN ('user', 'circle')),
    id TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;

CREATE TABLE gap (
    circle TEXT NOT NULL,
    user TEXT NOT NULL,
    since REAL NOT NULL,
    until REAL NOT NULL,
    PRIMARY KEY (circle, user, since)
) WITHOUT ROWID;

CREATE TABLE vector (
    model TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (model, text_hash)
) WITHOUT ROWID;

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- What a planner is told of a large memory: left to its guesses it reads every row of a kind. The
-- figures are never measured: plans stay the same.
ANALYZE presence;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 VALUES
    ('row', 'row', '200000 20000 1'),
    ('row', 'row_session', '200000 20000 500'),
    ('row', 'row_a', '200000 20000 8'),
    ('row', 'row_b', '200000 20000 8'),
    ('row', 'row_supersedes', '2000 2000'),
    ('row', 'row_episode', '10000 100 1'),
    ('row', 'row_awaits', '200 2');
ANALYZE sqlite_schema;

INSERT INTO migration SELECT value, datetime('now') FROM json_each(
    '["0002_pauses", "0003_addressees", "0004_prompt", "0005_episodes", "0006_imports",
    "0007_statistics", "0008_awaits", "0009_confidences", "0010_gaps"]');
