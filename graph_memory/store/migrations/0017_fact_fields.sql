-- What facts are listed, filtered and counted by: schema.SCALARS, and how many messages each cites.
CREATE TABLE fact_field (
    id TEXT PRIMARY KEY, session, subject, object, change,
    predicate, status, speaker, said_at, recorded_at, last_used, half_life,
    importance, use_count, pinned, hearsay, confidential, archived_at, cited
) WITHOUT ROWID;
CREATE INDEX fact_session ON fact_field (session);
CREATE INDEX fact_subject ON fact_field (subject);
CREATE INDEX fact_object ON fact_field (object);

CREATE TRIGGER fact_put AFTER INSERT ON row WHEN new.kind = 'fact' BEGIN
    INSERT OR REPLACE INTO fact_field VALUES (
        new.id, new.session, new.a, new.b, new.change,
        json_extract(new.data, '$.predicate'), json_extract(new.data, '$.status'),
        json_extract(new.data, '$.speaker'), json_extract(new.data, '$.said_at'),
        json_extract(new.data, '$.recorded_at'), json_extract(new.data, '$.last_used'),
        json_extract(new.data, '$.half_life'), json_extract(new.data, '$.importance'),
        json_extract(new.data, '$.use_count'), json_extract(new.data, '$.pinned'),
        json_extract(new.data, '$.hearsay'), json_extract(new.data, '$.confidential'),
        json_extract(new.data, '$.archived_at'), json_array_length(new.data, '$.evidence')
    );
END;
CREATE TRIGGER fact_set AFTER UPDATE ON row WHEN new.kind = 'fact' BEGIN
    INSERT OR REPLACE INTO fact_field VALUES (
        new.id, new.session, new.a, new.b, new.change,
        json_extract(new.data, '$.predicate'), json_extract(new.data, '$.status'),
        json_extract(new.data, '$.speaker'), json_extract(new.data, '$.said_at'),
        json_extract(new.data, '$.recorded_at'), json_extract(new.data, '$.last_used'),
        json_extract(new.data, '$.half_life'), json_extract(new.data, '$.importance'),
        json_extract(new.data, '$.use_count'), json_extract(new.data, '$.pinned'),
        json_extract(new.data, '$.hearsay'), json_extract(new.data, '$.confidential'),
        json_extract(new.data, '$.archived_at'), json_array_length(new.data, '$.evidence')
    );
END;
CREATE TRIGGER fact_drop AFTER DELETE ON row WHEN old.kind = 'fact' BEGIN
    DELETE FROM fact_field WHERE id = old.id;
END;
UPDATE row SET change = change WHERE kind = 'fact';

INSERT INTO sqlite_stat1 VALUES
    ('fact_field', 'fact_field', '20000 1'),
    ('fact_field', 'fact_session', '20000 500'),
    ('fact_field', 'fact_subject', '20000 8'),
    ('fact_field', 'fact_object', '20000 8');
ANALYZE sqlite_schema;
