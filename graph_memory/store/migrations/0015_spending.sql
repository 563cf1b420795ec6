CREATE TABLE spending (
    day TEXT NOT NULL,
    purpose TEXT NOT NULL,
    calls INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    PRIMARY KEY (day, purpose)
) WITHOUT ROWID;
INSERT INTO spending
    SELECT day.key, cost.key, coalesce(json_extract(cost.value, '$[0]'), 0),
        coalesce(json_extract(cost.value, '$[1]'), 0),
        coalesce(json_extract(cost.value, '$[2]'), 0)
    FROM meta, json_each(CASE WHEN json_valid(meta.value) THEN meta.value END) day,
        json_each(CASE day.type WHEN 'object' THEN day.value END) cost
    WHERE meta.key = 'usage' AND cost.type = 'array';
DELETE FROM meta WHERE key = 'usage';
