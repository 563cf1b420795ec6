CREATE TABLE instance (
    platform TEXT NOT NULL,
    account TEXT NOT NULL,
    seen_at REAL NOT NULL,
    PRIMARY KEY (platform, account)
) WITHOUT ROWID;
