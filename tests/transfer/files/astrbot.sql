CREATE TABLE conversations (
    inner_conversation_id INTEGER PRIMARY KEY, conversation_id TEXT, platform_id TEXT,
    user_id TEXT, content JSON, title TEXT, persona_id TEXT, token_usage INTEGER,
    created_at DATETIME, updated_at DATETIME);
CREATE TABLE platform_message_history (
    id INTEGER PRIMARY KEY, platform_id TEXT, user_id TEXT, sender_id TEXT,
    sender_name TEXT, content JSON, llm_checkpoint_id TEXT, created_at DATETIME,
    updated_at DATETIME);
CREATE TABLE platform_stats (
    id INTEGER PRIMARY KEY, timestamp DATETIME, platform_id TEXT, platform_type TEXT,
    count INTEGER);
