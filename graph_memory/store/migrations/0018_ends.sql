-- A reminder asks for the last conversations of a Session, which may have had ten thousand; a batch
-- for what waits there, among a hundred thousand messages; who quotes, for one of them.
CREATE INDEX row_ended ON row (session, json_extract(data, '$.ended_at')) WHERE kind = 'episode';
CREATE INDEX message_quoted ON message (ref) WHERE ref != '';
INSERT INTO sqlite_stat1 VALUES
    ('row', 'row_ended', '10000 100 1'),
    ('message', 'message_quoted', '200000 1'),
    ('message', 'message_pending', '100 10 1'),
    ('message', 'message_session', '200000 2000 1'),
    ('message', 'message_batch', '200000 10'),
    ('message', 'message_ref', '200000 2000 40 1 1'),
    ('message', 'message_import', '10000 1000'),
    ('batch', NULL, '20000'),
    ('batch', 'batch_open', '20 10');
ANALYZE sqlite_schema;
