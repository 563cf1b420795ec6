-- Tables of the server through which several journals are one (postgres.py), made by the first bot.
CREATE TABLE IF NOT EXISTS head (
    is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
    step bigint NOT NULL,
    numbers jsonb NOT NULL
);
CREATE TABLE IF NOT EXISTS step (
    number bigint PRIMARY KEY,
    stamp text NOT NULL,
    bot text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE IF NOT EXISTS item (
    place text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    body jsonb,
    step bigint NOT NULL,
    PRIMARY KEY (place, key)
);
CREATE INDEX IF NOT EXISTS item_step ON item (step);
-- Only bots of other versions use what stands between id and seen_at.
CREATE TABLE IF NOT EXISTS bot (
    id text PRIMARY KEY,
    step bigint NOT NULL,
    waiting integer NOT NULL,
    erasures integer NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO head VALUES (true, 0, '{}') ON CONFLICT DO NOTHING;
