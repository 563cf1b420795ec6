CREATE TABLE line (
    key TEXT NOT NULL, circle TEXT NOT NULL, session TEXT NOT NULL, sender TEXT NOT NULL,
    name TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL, slack REAL NOT NULL,
    is_to_bot INTEGER NOT NULL, PRIMARY KEY (key, circle)
);
CREATE TABLE live (id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE INDEX live_number ON live (number);
CREATE TABLE standing (digest INTEGER NOT NULL, number INTEGER NOT NULL);
CREATE INDEX standing_digest ON standing (digest);
