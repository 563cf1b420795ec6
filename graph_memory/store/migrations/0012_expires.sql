CREATE INDEX row_expires ON row (json_extract(data, '$.expires'))
    WHERE kind = 'fact' AND json_extract(data, '$.expires') IS NOT NULL;
INSERT INTO sqlite_stat1 VALUES ('row', 'row_expires', '200 2');
ANALYZE sqlite_schema;
