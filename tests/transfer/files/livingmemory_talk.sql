CREATE TABLE sessions (id INTEGER PRIMARY KEY, session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,
    sender_id TEXT, sender_name TEXT, group_id TEXT, platform TEXT, timestamp REAL,
    metadata TEXT);
