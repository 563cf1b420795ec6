"""Upstream server: PostgreSQL tables through which several journals are one.

Every bot keeps a whole journal in a file of its own, and the server the newest state of every
row, with the number of the step that wrote it. Whoever writes holds the one lock first, has
caught up with all steps before, and so sees what stands, as with one file: numbers leave no
gap, and what two bots would do at once they do one after the other.

Nothing but psycopg's connection is used of it; it is imported when a server is named.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import JournalError

if TYPE_CHECKING:
    from psycopg import Connection

AWAY = "away"
"""Kind of a ``JournalError``: the server cannot be reached."""
SCHEMA = "graph_memory"
"""Where the tables are, unless the connection names a schema (``options=-csearch_path=…``)."""
LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext(current_schema()))"
KEPT = "14 days"
"""For so long steps are known; who was away for longer compares everything."""
PRUNED = 1_000
"""So often, in steps, old ones are deleted."""
PAUSE = 2.0
"""Seconds after a failure for which the server is not tried again."""
_CONNECT: Final[dict[str, Any]] = {
    "connect_timeout": 3,
    "tcp_user_timeout": 5_000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "application_name": "graph_memory",
}
# A bot that is stopped in a step must not stop the others.
_LIMITS = (
    "SET lock_timeout = '5s'; SET statement_timeout = '60s';"
    " SET idle_in_transaction_session_timeout = '15s'"
)
_TABLES = Path(__file__).with_suffix(".sql").read_bytes()
_PUT = """
    INSERT INTO item VALUES (%s, %s, %s::jsonb, %s) ON CONFLICT (place, key) DO UPDATE SET
        body = CASE WHEN item.body IS NULL THEN excluded.body
            ELSE item.body || excluded.body END, step = excluded.step
"""
"""Fields that only a newer version knows stay; a row that is gone leaves its key."""
Item = tuple[str, str, dict[str, Any] | None]
"""Table, key (JSON) and columns of a row; ``None`` if it is gone."""


@dataclass(frozen=True, slots=True)
class Head:
    """The newest step.

    Attributes:
        stamp: What tells it from another server's step of this number.
        numbers: The highest id ever given, by table.
        is_followed: Whether the step that the asker knows last is one of this server's.
        clock: The server's time, seconds since the epoch.
    """

    step: int
    stamp: str
    numbers: dict[str, int]
    is_followed: bool
    clock: float


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot on the memory, which was heard of ``silent`` seconds ago."""

    id: str
    silent: float


class Upstream:
    """One PostgreSQL server; used on one thread.

    Args:
        dsn: How to connect, as libpq reads it; what it leaves out comes from the environment
            and ``pgpass``.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: Connection[Any] | None = None
        self._failed_at = 0.0

    @contextmanager
    def writing(self, step: int, stamp: str) -> Iterator[Step]:
        """A step under the lock; nothing of it stands unless :meth:`Step.commit` returned.

        Args:
            step, stamp: What the asker has followed last.

        Raises:
            JournalError: The server is away; whether a commit that had begun stands, only
                following tells.
        """
        with self._asking() as db:
            db.execute(LOCK)
            yield Step(db, _head(db, step, stamp))

    @contextmanager
    def reading(self, step: int, stamp: str) -> Iterator[Step]:
        """The same without the lock, to see what stands now."""
        with self._asking() as db:
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield Step(db, _head(db, step, stamp))

    @contextmanager
    def _asking(self) -> Iterator[Connection[Any]]:
        """A transaction, rolled back at its end unless it was committed."""
        try:
            import psycopg
        except ImportError as error:
            raise JournalError(f"psycopg cannot be imported: {error}").told(
                "shared_driver"
            ) from error
        try:
            db = self._connected()
            yield db
        except psycopg.Error as error:
            self.close()
            self._failed_at = time.monotonic()
            raise away(str(error)) from None  # its words may hold those of a message
        finally:
            if self._connection is not None:
                with suppress(psycopg.Error):
                    self._connection.rollback()

    def _connected(self) -> Connection[Any]:
        if self._connection is None:
            if time.monotonic() < self._failed_at + PAUSE:
                raise away("it failed a moment ago")
            self._connection = _connect(self._dsn)
        return self._connection

    def report(self, bot: str) -> list[Bot]:
        """Tell that a bot is there; returns all that were heard of within a month."""
        with self._asking() as db:
            db.execute(
                "INSERT INTO bot (id, step, waiting, erasures) VALUES (%s, 0, 0, 0)"
                " ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp()",
                (bot,),
            )
            found = db.execute(
                "SELECT id, extract(epoch FROM clock_timestamp() - seen_at)::float8 FROM bot"
                " WHERE seen_at > clock_timestamp() - interval '30 days' ORDER BY id"
            ).fetchall()
            db.commit()
        return [Bot(*row) for row in found]

    def vacuum(self) -> None:
        """Have the room of what was deleted written over; needs the tables' owner."""
        with self._asking() as db:
            db.rollback()
            db.autocommit = True
            try:
                db.execute("VACUUM item")
            finally:
                db.autocommit = False

    def close(self) -> None:
        """Close the connection; the next question opens one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class Step:
    """One transaction of a server."""

    def __init__(self, db: Connection[Any], head: Head) -> None:
        self._db, self.head = db, head

    def items(self, after: int) -> Iterator[Item]:
        """Rows written after a step, gone ones first; after -1 all that are there."""
        with self._db.cursor("followed", withhold=False) as cursor:
            cursor.itersize = 5_000
            query = "SELECT place, key, body FROM item WHERE step > %s"
            query += " AND body IS NOT NULL" if after < 0 else ""
            yield from cursor.execute(f"{query} ORDER BY body IS NOT NULL, step, place", (after,))

    def publish(self, items: Iterable[Item], numbers: dict[str, int], bot: str) -> tuple[int, str]:
        """Write rows as the next step, that of a bot; returns its number and stamp."""
        number, stamp = self.head.step + 1, secrets.token_hex(8)
        bodies = ((p, k, _written(b), number) for p, k, b in items)
        with self._db.cursor() as cursor:
            cursor.executemany(_PUT, bodies)
        self._db.execute(
            "WITH done AS (UPDATE head SET step = %s, numbers = %s::jsonb)"
            " INSERT INTO step (number, stamp, bot) VALUES (%s, %s, %s)",
            (number, json.dumps(numbers), number, stamp, bot),
        )
        if number % PRUNED == 0:
            query = "DELETE FROM step WHERE at < now() - %s::interval AND number < %s"
            self._db.execute(query, (KEPT, number))
        return number, stamp

    def take_time(self) -> None:
        """Let it last longer than others' steps may: everything is compared or moved."""
        self._db.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        self._db.execute("SET LOCAL statement_timeout = 0")

    def commit(self) -> None:
        """Let it stand."""
        self._db.commit()


def away(why: str) -> JournalError:
    """The error to raise while a server cannot be used."""
    line = " ".join(why.split("\n")[0].split())[:200]
    return JournalError(f"the shared journal's server cannot be used: {line}", AWAY)


def _connect(dsn: str) -> Connection[Any]:
    import psycopg
    from psycopg import conninfo, sql

    try:
        wanted = conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:  # which may quote the password
        wrong = JournalError("the setting shared_journal is no connection string")
        raise wrong.told("shared_string") from None
    db = psycopg.connect(**{**_CONNECT, **wanted})
    try:
        _require_privacy(db)
        db.execute(_LIMITS)
        (schema,) = db.execute("SELECT current_schema()").fetchone() or (None,)
        if schema is None:  # a memory that is misspelled must not become another one
            text = "the schema that shared_journal names is not there"
            raise JournalError(text).told("shared_schema")
        if schema == "public":
            db.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(SCHEMA)))
        known = "SELECT to_regclass('head') IS NOT NULL AND to_regclass('bot') IS NOT NULL"
        if not (db.execute(known).fetchone() or (False,))[0]:
            # Two bots that start at once would both make them.
            db.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", ("making tables",))
            if schema == "public":
                query = "CREATE SCHEMA IF NOT EXISTS {}"
                db.execute(sql.SQL(query).format(sql.Identifier(SCHEMA)))
            db.execute(_TABLES)
        db.commit()
    except BaseException:
        db.close()
        raise
    return db


def _require_privacy(db: Connection[Any]) -> None:
    """Refuse to send what people said in the clear, or to whoever answers."""
    host = db.info.host
    is_near = not host or host.startswith("/") or host in ("localhost", "::1")
    if is_near or host.startswith("127."):
        return
    mode = db.info.get_parameters().get("sslmode")
    if not db.pgconn.ssl_in_use or mode != "verify-full":
        text = "sslmode=verify-full is needed for a server on another host"
        raise JournalError(text).told("shared_open")


def _written(body: dict[str, Any] | None) -> str | None:
    """A row as JSON; PostgreSQL knows no NUL, which nobody sees."""
    if body is None:
        return None
    plain = {k: v.replace("\0", "") if isinstance(v, str) else v for k, v in body.items()}
    return json.dumps(plain, ensure_ascii=False)


def _head(db: Connection[Any], step: int, stamp: str) -> Head:
    found = db.execute(
        "SELECT h.step, coalesce(s.stamp, ''), h.numbers,"
        " EXISTS (SELECT 1 FROM step WHERE number = %s AND stamp = %s),"
        " extract(epoch FROM clock_timestamp())::float8"
        " FROM head h LEFT JOIN step s ON s.number = h.step",
        (step, stamp),
    ).fetchone()
    assert found is not None
    return Head(*found)
