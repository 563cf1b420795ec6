"""What is about to come in, as a journal of its own beside the memory's.

Everything that comes in goes through one: so it can be larger than memory, is checked and
counted before anything is written, loses whoever asked to be forgotten by the very code
that erases from a backup, and survives a kill. Messages have numbers of their own here;
``live`` says which number each got in the memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..deletion import Tombstones, erasure
from ..embedding import text_hash
from ..errors import FormatError, JournalError
from ..journal import Draft, copies
from ..journal import messages as mail
from ..journal.contents import Claim
from ..journal.migration import migrate
from ..journal.rows import write
from ..journal.storage import failure
from ..model import Message, Presence, Row
from .format import Pause

FOLDER = "moving"
_TABLES = """
    CREATE TABLE coming (id INTEGER PRIMARY KEY, live INTEGER);
    CREATE INDEX coming_live ON coming (live) WHERE live IS NOT NULL;
    CREATE TABLE standing (
        digest INTEGER NOT NULL, id INTEGER NOT NULL
    );
    CREATE INDEX standing_digest ON standing (digest);
"""
_SESSIONLESS = (
    "SELECT r.kind, r.id FROM row r WHERE r.session != ''"
    " AND NOT EXISTS (SELECT 1 FROM row s WHERE s.kind = 'session' AND s.id = r.session) LIMIT 1"
)
_HOMELESS = (
    "SELECT m.id FROM message m"
    " WHERE NOT EXISTS (SELECT 1 FROM row s WHERE s.kind = 'session' AND s.id = m.session) LIMIT 1"
)
_UNCLAIMED = (
    "SELECT m.id FROM message m WHERE m.batch IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM batch b WHERE b.id = m.batch AND b.session = m.session) LIMIT 1"
)
_FOREIGN_EVIDENCE = (
    "SELECT f.id FROM row f, json_each(f.data, '$.evidence') e JOIN message m ON m.id = e.value"
    " WHERE m.session != f.session LIMIT 1"
)
_FOREIGN_FORGOTTEN = (
    "SELECT f.id FROM row f JOIN message m ON m.id = json_extract(f.data, '$.message')"
    " WHERE f.kind = 'forgotten' AND m.session != f.session LIMIT 1"
)
_FOREIGN_QUOTES = (
    "SELECT m.id FROM message m, json_each(m.addressees) a"
    " JOIN message q ON q.id = json_extract(a.value, '$[2]')"
    " JOIN row s ON s.kind = 'session' AND s.id = m.session"
    " JOIN row t ON t.kind = 'session' AND t.id = q.session"
    " WHERE m.addressees != '[]'"
    " AND json_extract(s.data, '$.circle') != json_extract(t.data, '$.circle') LIMIT 1"
)
_REFERENCES = (
    (_SESSIONLESS, "session", "{0} {1} belongs to no Session of the file"),
    (_HOMELESS, "session", "message {0} belongs to no Session of the file"),
    (_UNCLAIMED, "batch", "message {0} is of no batch of its Session"),
    (_FOREIGN_EVIDENCE, "evidence", "{0} cites what was said in another Session"),
    (_FOREIGN_FORGOTTEN, "message", "{0} is about what was said in another Session"),
    (_FOREIGN_QUOTES, "to", "message {0} quotes what was said in another chat"),
)


_HIGHEST = (
    "SELECT max(id) FROM message",
    "SELECT max(e.value) FROM row f, json_each(f.data, '$.evidence') e",
    "SELECT max(json_extract(data, '$.last_message')) FROM row WHERE kind = 'episode'",
    "SELECT max(json_extract(data, '$.first_message')) FROM row WHERE kind = 'episode'",
    "SELECT max(json_extract(data, '$.message')) FROM row WHERE kind = 'forgotten'",
    "SELECT max(json_extract(a.value, '$[2]')) FROM message m, json_each(m.addressees) a",
)


class Stage:
    """One such journal; used by one thread at a time.

    Attributes:
        about: What its maker notes about it; kept by :meth:`seal`.
        speechless: Batches from which nothing is to be learned: nobody knows who spoke.
    """

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self.db = db
        found = db.execute("SELECT value FROM meta WHERE key = 'stage'").fetchone()
        self.about: dict[str, Any] = json.loads(found[0]) if found else {}
        self.speechless = {id for (id,) in db.execute("SELECT id FROM batch WHERE error != ''")}

    @classmethod
    def make(cls, path: Path) -> Stage:
        """An empty one; what stood there is replaced.

        Raises:
            JournalError: It cannot be made.
        """
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        copies.remove(path)
        path.touch(mode=0o600)
        db = cls._connect(path)
        try:
            db.execute("PRAGMA synchronous = OFF")  # lost in a power cut, it is made anew
            migrate(db, path, 0.0)
            db.executescript(_TABLES)
            db.execute("BEGIN")
            return cls(path, db)
        except sqlite3.Error as error:
            db.close()
            raise failure(f"{path.name} cannot be made", error) from error

    @classmethod
    def open(cls, path: Path) -> Stage | None:
        """One that was sealed; ``None`` if there is none."""
        if not path.exists():
            return None
        db = cls._connect(path)
        try:
            stage = cls(path, db)
        except sqlite3.Error:
            db.close()
            return None
        if stage.about.get("sealed"):
            return stage
        db.close()
        return None

    @staticmethod
    def _connect(path: Path) -> sqlite3.Connection:
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    def is_current(self, marks: dict[str, float], extent: list[int]) -> bool:
        """Whether it fits the memory as it is.

        Args:
            marks: Whom the memory says to have forgotten, see ``journal/erasure.py``.
            extent: Of the memory's messages; one that is being brought in goes on with what
                it was made with.
        """
        is_same = self.about["extent"] == extent or self.about.get("begun", False)
        return bool(is_same and self.about["marks"] == marks)

    def close(self) -> None:
        """Let go of the file."""
        self.db.close()

    def discard(self) -> None:
        """Close and delete it."""
        self.close()
        copies.remove(self.path)

    # ----------------------------------------------------------------- filling

    def put(self, rows: Iterable[Row]) -> None:
        """Enter rows; those that are there are replaced."""
        write(self.db, Draft("import", "staged", list(rows)), 0.0)

    def has(self, kind: str, id: str) -> bool:
        """Whether there is a row."""
        query = "SELECT 1 FROM row WHERE kind = ? AND id = ?"
        return self.db.execute(query, (kind, id)).fetchone() is not None

    def add(self, message: Message) -> None:
        """Enter a message with its number, or with the next one if it has none.

        Raises:
            FormatError: There is one of this number, or one that its platform calls the
                same.
        """
        try:
            stored = mail.insert(self.db, message)
        except sqlite3.IntegrityError:
            raise FormatError(f"message {message.id} is there twice", 0, "id") from None
        self.db.execute("INSERT INTO coming VALUES (?, NULL)", (stored.id,))

    def claim(self, batch: Claim) -> None:
        """Enter a batch.

        Raises:
            FormatError: There is one of this number.
        """
        try:
            self.db.execute(
                "INSERT INTO batch (id, session, state, created_at) VALUES (?, ?, ?, ?)",
                (batch.id, batch.session, batch.state, batch.at),
            )
        except sqlite3.IntegrityError:
            raise FormatError(f"batch {batch.id} is there twice", 0, "id") from None

    def attend(self, presence: Presence) -> None:
        """Enter an interval of presence."""
        self.db.execute(
            "INSERT OR REPLACE INTO presence VALUES (?, ?, ?, ?)",
            (presence.circle, presence.user, presence.since, presence.until),
        )

    def pause(self, pause: Pause) -> None:
        """Enter a pause."""
        self.db.execute("INSERT OR REPLACE INTO pause VALUES (?, ?, ?)", pause)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Write what follows in one transaction; for a stage that is sealed."""
        self.db.execute("BEGIN")
        try:
            yield
        finally:
            self.db.execute("COMMIT")

    # ---------------------------------------------------------------- checking

    def check(self) -> None:
        """See whether everything that is referred to is there.

        Raises:
            FormatError: It is not.
        """
        for query, field, reason in _REFERENCES:
            found = self.db.execute(query).fetchone()
            if found:
                raise FormatError(reason.format(*(str(part)[:80] for part in found)), 0, field)

    def clean(self, directory: Path) -> int:
        """Erase whoever asked this memory to be forgotten.

        Args:
            directory: The data directory.

        Returns:
            How many people.
        """
        tombstones = Tombstones.read(directory)
        found = tombstones.match(erasure.users(self.db)) if tombstones.stones else {}
        for user in found.values():
            erasure.erase(self.db, user, 0.0, text_hash)
        self.db.execute("DELETE FROM coming WHERE id NOT IN (SELECT id FROM message)")
        return len(found)

    def seal(self) -> None:
        """Say that it is complete.

        Raises:
            JournalError: It could not be written.
        """
        self.about["sealed"] = True
        try:
            self.note()
            self.db.execute("COMMIT")
            handle = os.open(self.path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        except (sqlite3.Error, OSError) as error:
            raise JournalError(f"{self.path.name} could not be written: {error}") from error

    def note(self) -> None:
        """Keep ``about`` as it is now."""
        self.db.execute(
            "INSERT OR REPLACE INTO meta VALUES ('stage', ?)", (json.dumps(self.about),)
        )

    # ----------------------------------------------------------------- matching

    def stand(self, session: str, lines: Iterable[tuple[int, str, str, float]]) -> None:
        """Note what the memory holds of a Session without references: id, sender, text, time."""
        self.db.executemany(
            "INSERT INTO standing VALUES (?, ?)",
            ((digest(session, sender, text, at), id) for id, sender, text, at in lines),
        )

    def unmoved(self, after: int, limit: int) -> list[Message]:
        """Messages that have no number in the memory yet, in order."""
        ids = self.db.execute(
            "SELECT id FROM coming WHERE live IS NULL AND id > ? ORDER BY id LIMIT ?",
            (after, limit),
        ).fetchall()
        return mail.by_ids(self.db, [id for (id,) in ids])

    def twins(self, message: Message) -> list[int]:
        """Messages of the memory that are this one, which its platform gave no reference, and
        are no other one."""
        if message.ref:
            return []
        found = self.db.execute(
            "SELECT id FROM standing s WHERE digest = ?"
            " AND NOT EXISTS (SELECT 1 FROM coming WHERE live = s.id) ORDER BY id",
            (digest(message.session, message.sender, message.text, message.at),),
        )
        return [id for (id,) in found]

    def moved(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Note the numbers that messages got: ``(number here, number there)``."""
        self.db.executemany(
            "UPDATE coming SET live = ? WHERE id = ?", [(live, id) for id, live in pairs]
        )

    def numbers(self, ids: Iterable[int]) -> dict[int, int]:
        """The numbers that messages got, by their numbers here."""
        wanted = sorted(set(ids))
        found: dict[int, int] = {}
        for id in wanted:
            row = self.db.execute("SELECT live FROM coming WHERE id = ?", (id,)).fetchone()
            if row and row[0] is not None:
                found[id] = row[0]
        return found

    def span(self, session: str, first: int, last: int) -> tuple[int, int, int, int] | None:
        """The first and last message there is of a stretch of a Session: their numbers
        here and in the memory."""
        row = self.db.execute(
            "SELECT min(m.id), max(m.id), min(c.live), max(c.live)"
            " FROM message m JOIN coming c ON c.id = m.id"
            " WHERE m.session = ? AND m.id BETWEEN ? AND ?",
            (session, first, last),
        ).fetchone()
        low, high, new_low, new_high = row
        return None if new_low is None else (low, high, new_low, new_high)

    @property
    def highest(self) -> int:
        """The highest number of a message that is there or is referred to."""
        return max(self.db.execute(query).fetchone()[0] or 0 for query in _HIGHEST)

    def examples(self, limit: int) -> Iterator[Message]:
        """A few messages from all over."""
        ids = self.db.execute("SELECT id FROM message ORDER BY id LIMIT 1000").fetchall()
        step = max(1, len(ids) // limit)
        yield from mail.by_ids(self.db, [id for (id,) in ids[::step]][:limit])


def digest(session: str, sender: str, text: str, at: float) -> int:
    """A number that stands for who said what where and when."""
    joined = "\x1f".join((session, sender, text, repr(at))).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(joined, digest_size=8).digest(), "big", signed=True)
