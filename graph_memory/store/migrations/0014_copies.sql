ALTER TABLE message ADD COLUMN account TEXT NOT NULL DEFAULT '';
DROP INDEX message_ref;
CREATE UNIQUE INDEX message_ref ON message (session, sender, ref, account)
    WHERE ref != '';
CREATE TABLE copy (
    account TEXT NOT NULL,
    ref TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES message (id),
    PRIMARY KEY (message, account)
) WITHOUT ROWID;
CREATE INDEX copy_ref ON copy (account, ref);
CREATE TRIGGER copy_goes AFTER DELETE ON message BEGIN
    DELETE FROM copy WHERE message = old.id;
END;
