UPDATE row SET data = json_set(data, '$.confidential', json('true'))
    WHERE kind IN ('name', 'mention') AND a LIKE 'e:%'
    AND json_extract(data, '$.first_at') = json_extract(data, '$.last_at')
    AND (session, json_extract(data, '$.first_at')) IN (SELECT session, at FROM message
        WHERE sender != 'bot' AND (confided OR asks_to_keep(text)));
