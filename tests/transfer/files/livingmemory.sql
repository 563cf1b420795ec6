CREATE TABLE documents (id INTEGER PRIMARY KEY, doc_id TEXT, text TEXT, metadata TEXT,
    created_at TEXT, updated_at TEXT);
