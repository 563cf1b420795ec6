-- A user and a schema for one memory, to be run by an administrator in the database for it:
--   psql -d memory -v password="'…'" -f roles.sql
-- The bots own the tables, so that what was erased can be vacuumed; they can do nothing else.
CREATE ROLE gm_bot LOGIN PASSWORD :password CONNECTION LIMIT 20;
CREATE SCHEMA graph_memory AUTHORIZATION gm_bot;
ALTER ROLE gm_bot SET search_path = graph_memory;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
