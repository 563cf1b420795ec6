"""The journal's tables, as ordered migrations, and how they are applied."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import DamagedError, JournalError
from ..model import Fact, registered
from ..privacy.confidence import asks_to_keep
from .connection import failure

SCALARS = (
    "predicate", "status", "speaker", "said_at", "recorded_at", "last_used", "half_life",
    "importance", "use_count", "pinned", "hearsay", "confidential", "archived_at",
)  # fmt: skip
"""Fields by which facts are listed."""
_LISTED = f"""
    INSERT OR REPLACE INTO fact_field VALUES (new.id, new.session, new.a, new.b, new.change,
        {", ".join(f"json_extract(new.data, '$.{name}')" for name in SCALARS)},
        json_array_length(new.data, '$.evidence'))
"""

APPLICATION_ID = 0x474D454D  # "GMEM": tells our files from foreign ones

MIGRATIONS: tuple[tuple[str, str], ...] = (
    (
        "0001_foundation",
        """
        CREATE TABLE message (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT NOT NULL,
            sender TEXT NOT NULL,
            name TEXT NOT NULL,
            text TEXT NOT NULL,
            at REAL NOT NULL,
            ref TEXT NOT NULL DEFAULT '',
            batch INTEGER REFERENCES batch (id),
            addressees TEXT NOT NULL DEFAULT '[]',
            import TEXT NOT NULL DEFAULT '',
            confided INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX message_pending ON message (session, id) WHERE batch IS NULL;
        CREATE INDEX message_session ON message (session, id);
        CREATE INDEX message_batch ON message (batch);
        CREATE UNIQUE INDEX message_ref ON message (session, sender, ref) WHERE ref != '';
        CREATE INDEX message_import ON message (import) WHERE import != '';

        CREATE TABLE batch (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('waiting', 'learned', 'dead')),
            attempts INTEGER NOT NULL DEFAULT 0,
            next_at REAL NOT NULL DEFAULT 0,
            error TEXT NOT NULL DEFAULT '',
            created_at REAL NOT NULL,
            prompt INTEGER NOT NULL DEFAULT 0,
            import TEXT NOT NULL DEFAULT ''
        );
        CREATE INDEX batch_open ON batch (state) WHERE state != 'learned';
        CREATE INDEX batch_import ON batch (import) WHERE import != '';

        CREATE TABLE change (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at REAL NOT NULL,
            actor TEXT NOT NULL,
            reason TEXT NOT NULL,
            batch INTEGER UNIQUE,
            undoes INTEGER UNIQUE,
            ops TEXT NOT NULL
        );

        CREATE TABLE row (
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            session TEXT NOT NULL,
            a TEXT NOT NULL,
            b TEXT NOT NULL,
            data TEXT NOT NULL,
            change INTEGER NOT NULL,
            PRIMARY KEY (kind, id)
        ) WITHOUT ROWID;
        CREATE INDEX row_session ON row (kind, session);
        CREATE INDEX row_a ON row (kind, a);
        CREATE INDEX row_b ON row (kind, b);
        CREATE INDEX row_supersedes ON row (kind)
            WHERE kind = 'fact' AND json_array_length(data, '$.supersedes') > 0;
        CREATE INDEX row_episode ON row (session, json_extract(data, '$.last_message'))
            WHERE kind = 'episode';
        CREATE INDEX row_awaits ON row (json_extract(data, '$.valid_from'))
            WHERE kind = 'fact' AND json_array_length(data, '$.awaits') > 0;

        CREATE TABLE presence (
            circle TEXT NOT NULL,
            user TEXT NOT NULL,
            since REAL NOT NULL,
            until REAL,
            import TEXT NOT NULL DEFAULT '',
            PRIMARY KEY (circle, user, since)
        ) WITHOUT ROWID;

        CREATE TABLE pause (
            kind TEXT NOT NULL CHECK (kind IN ('user', 'circle')),
            id TEXT NOT NULL,
            at REAL NOT NULL,
            PRIMARY KEY (kind, id)
        ) WITHOUT ROWID;

        CREATE TABLE gap (
            circle TEXT NOT NULL,
            user TEXT NOT NULL,
            since REAL NOT NULL,
            until REAL NOT NULL,
            PRIMARY KEY (circle, user, since)
        ) WITHOUT ROWID;

        CREATE TABLE vector (
            model TEXT NOT NULL,
            text_hash BLOB NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (model, text_hash)
        ) WITHOUT ROWID;

        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

        ANALYZE presence;
        DELETE FROM sqlite_stat1;
        INSERT INTO sqlite_stat1 VALUES
            ('row', 'row', '200000 20000 1'),
            ('row', 'row_session', '200000 20000 500'),
            ('row', 'row_a', '200000 20000 8'),
            ('row', 'row_b', '200000 20000 8'),
            ('row', 'row_supersedes', '2000 2000'),
            ('row', 'row_episode', '10000 100 1'),
            ('row', 'row_awaits', '200 2');
        ANALYZE sqlite_schema;

        INSERT INTO migration SELECT value, datetime('now') FROM json_each(
            '["0002_pauses", "0003_addressees", "0004_prompt", "0005_episodes", "0006_imports",
            "0007_statistics", "0008_awaits", "0009_confidences", "0010_gaps"]');
        """,
    ),
    (
        "0011_names",
        """
        UPDATE row SET data = json_set(data, '$.confidential', json('true'))
            WHERE kind IN ('name', 'mention') AND a LIKE 'e:%'
            AND json_extract(data, '$.first_at') = json_extract(data, '$.last_at')
            AND (session, json_extract(data, '$.first_at')) IN (SELECT session, at FROM message
                WHERE sender != 'bot' AND (confided OR asks_to_keep(text)));
        """,
    ),
    (
        "0012_expires",
        """
        CREATE INDEX row_expires ON row (json_extract(data, '$.expires'))
            WHERE kind = 'fact' AND json_extract(data, '$.expires') IS NOT NULL;
        INSERT INTO sqlite_stat1 VALUES ('row', 'row_expires', '200 2');
        ANALYZE sqlite_schema;
        """,
    ),
    (
        "0013_instances",
        """
        CREATE TABLE instance (
            platform TEXT NOT NULL,
            account TEXT NOT NULL,
            seen_at REAL NOT NULL,
            PRIMARY KEY (platform, account)
        ) WITHOUT ROWID;
        """,
    ),
    (
        "0014_copies",
        """
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
        """,
    ),
    (
        "0015_spending",
        """
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
        """,
    ),
    (
        "0016_leases",
        """
        CREATE TABLE lease (
            name TEXT PRIMARY KEY,
            holder TEXT NOT NULL,
            until REAL NOT NULL
        ) WITHOUT ROWID;
        """,
    ),
    (
        "0017_fact_fields",
        f"""
        CREATE TABLE fact_field (
            id TEXT PRIMARY KEY, session, subject, object, change, {", ".join(SCALARS)}, cited
        ) WITHOUT ROWID;
        CREATE INDEX fact_session ON fact_field (session);
        CREATE INDEX fact_subject ON fact_field (subject);
        CREATE INDEX fact_object ON fact_field (object);
        CREATE TRIGGER fact_put AFTER INSERT ON row WHEN new.kind = 'fact'
            BEGIN {_LISTED}; END;
        CREATE TRIGGER fact_set AFTER UPDATE ON row WHEN new.kind = 'fact'
            BEGIN {_LISTED}; END;
        CREATE TRIGGER fact_drop AFTER DELETE ON row WHEN old.kind = 'fact'
            BEGIN DELETE FROM fact_field WHERE id = old.id; END;
        UPDATE row SET change = change WHERE kind = 'fact';
        INSERT INTO sqlite_stat1 VALUES
            ('fact_field', 'fact_field', '20000 1'),
            ('fact_field', 'fact_session', '20000 500'),
            ('fact_field', 'fact_subject', '20000 8'),
            ('fact_field', 'fact_object', '20000 8');
        ANALYZE sqlite_schema;
        """,
    ),
)
"""The first is what version 0.1 had, and what a planner is told of a large memory: left to its
guesses it reads every row of a kind. The figures are never measured: plans stay the same."""
FOLDED = "0010_gaps"
"""The last migration that is part of the first one now; version 0.1 made them one by one."""

_VALUE = "json_extract(data, '$.{}')"
REPLACEMENT = """
    CREATE TEMP VIEW replacement AS
    SELECT s.value AS old, f.id AS new, f.session,
        json_extract(f.data, '$.recorded_at') AS recorded_at
    FROM row f, json_each(f.data, '$.supersedes') s
    WHERE f.kind = 'fact' AND json_array_length(f.data, '$.supersedes') > 0
"""
"""What was replaced by what. Archiving the newer fact does not bring the older one back."""


def open_tables(db: sqlite3.Connection) -> sqlite3.Connection:
    """Give a connection a table for each kind of row, with its fields as columns.

    They are views of its own: a field that a class gains is a column at once. Facts, which
    are listed and counted most, have their scalar fields in a table that triggers keep.
    """
    whole = "(SELECT {} FROM row WHERE kind = 'fact' AND row.id = f.id)"
    listed = ("id", "session", "subject", "object", *SCALARS)
    fields = (
        f"f.{name}" if name in listed else f'{whole.format(_VALUE.format(name))} AS "{name}"'
        for name in (field.name for field in dataclasses.fields(Fact))
    )
    db.execute(
        f"CREATE TEMP VIEW fact AS SELECT {', '.join(fields)}, f.cited,"
        f" {whole.format('data')} AS data, f.change FROM fact_field f"
    )
    for cls in registered():
        if cls is Fact:
            continue
        keys = dict(zip(cls.keys, ("a", "b"), strict=False)) | {"id": "id", "session": "session"}
        columns = [
            f'{keys.get(field.name, _VALUE.format(field.name))} AS "{field.name}"'
            for field in dataclasses.fields(cls)
        ]
        db.execute(
            f"CREATE TEMP VIEW {cls.kind} AS SELECT {', '.join(columns)}, data, change"
            f" FROM row WHERE kind = '{cls.kind}'"
        )
    db.execute(REPLACEMENT)
    return db


def require_known(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that another version has to open.

    Raises:
        JournalError: It is of a newer version (``newer``), or of one too old (``older``).
    """
    applied = migrations_of(db)
    names = {name for name, _ in MIGRATIONS}
    if unknown := {name for name in applied - names if name > FOLDED}:
        raise JournalError(
            f"{path} was written by a newer version ({max(unknown)}); update the plugin"
        ).told("newer")
    if applied and FOLDED not in applied:
        text = f"{path} is older than version 0.2; update to 0.4 first, then go on"
        raise JournalError(text).told("older")


def migrations_of(db: sqlite3.Connection) -> set[str]:
    """Names of the migrations a file has behind it."""
    known = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'migration'").fetchone()
    return {name for (name,) in db.execute("SELECT name FROM migration")} if known else set()


def migrate(
    db: sqlite3.Connection, path: Path, save: Callable[[str], None] = lambda _name: None
) -> None:
    """Apply what has not been applied yet, in one transaction.

    So the version that was used before can go on with the file if this one fails.

    Args:
        db: The writing connection, outside a transaction.
        save: Copies what is there before the first migration of a name.

    Raises:
        DamagedError: The file is a database of another program.
        JournalError: It is of a newer version, could not be copied, or a migration
            failed; it is as before.
    """
    pending = _pending(db, path)
    if pending and migrations_of(db):
        save(pending[0][0])
    if pending:
        _apply(db, path, pending)


def _pending(db: sqlite3.Connection, path: Path) -> list[tuple[str, str]]:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and tables:
        raise DamagedError(f"{path} is a database of another program")
    require_known(db, path)
    applied = migrations_of(db)
    return [(name, script) for name, script in MIGRATIONS if name not in applied]


def _apply(db: sqlite3.Connection, path: Path, pending: list[tuple[str, str]]) -> None:
    under_way = ""
    db.create_function("asks_to_keep", 1, asks_to_keep)
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(
            "CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL)"
        )
        for name, script in pending:
            under_way = name
            for statement in _statements(script):
                db.execute(statement)
            db.execute("INSERT INTO migration VALUES (?, datetime('now'))", (name,))
        db.execute("COMMIT")
    except BaseException as error:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):
            what = f"{path} could not be updated ({under_way}) and stands as before"
            raise failure(what, error) from error
        raise


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; ``executescript`` would commit what is open."""
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            if statement.strip(" \n;"):
                yield statement
            statement = ""
