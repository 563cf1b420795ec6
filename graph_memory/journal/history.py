"""Looking through everything that was ever said, and when people talked. Reads only.

What is older than what recall holds in memory is found here, by its letters. Words are
bound as parameters; the SQL is put together from the constants in this module.
"""

from __future__ import annotations

import json
import sqlite3
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..model import BOT, EPISODE, Episode, Message, decode
from .messages import by_ids

MAX_WORDS = 6
_CHECKED = 20_000
"""Steps of SQLite between two looks at the clock."""
_FAR = 1e15
"""Seconds beyond which no message lies."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for; an empty field asks for nothing.

    Attributes:
        words: All of them occur, in whatever case or width.
        senders, names: Said by one of these, or with one of these in it.
        spans: At one of these times.
        limit: How many, the newest.
        below: Only messages with a smaller number.
    """

    words: Sequence[str] = ()
    senders: Sequence[str] = ()
    names: Sequence[str] = ()
    spans: Sequence[tuple[float, float]] = ()
    limit: int = 10
    below: int | None = None


@dataclass(slots=True)
class Pace:
    """How long a look through the journal may take; ``is_late`` once it took longer."""

    seconds: float
    is_late: bool = False
    _until: float = field(init=False, default=0.0)

    @contextmanager
    def kept(self, db: sqlite3.Connection) -> Iterator[None]:
        """Break off what is run on ``db`` when the time is over."""
        self._until = time.monotonic() + self.seconds
        db.set_progress_handler(self._look, _CHECKED)
        try:
            yield
        except sqlite3.OperationalError:
            if not self.is_late:
                raise
        finally:
            db.set_progress_handler(None, 0)

    def _look(self) -> int:
        self.is_late = self.is_late or time.monotonic() > self._until
        return int(self.is_late)


def said(
    db: sqlite3.Connection,
    session: str,
    windows: Iterable[tuple[float, float]],
    wanted: Search,
) -> list[Message]:
    """What people said in a Session within some windows of time, newest first."""
    parts = ["session = :session", f"sender != '{BOT}'"]
    values: dict[str, object] = {"session": session, "limit": wanted.limit}
    if wanted.below is not None:
        parts.append("id < :below")
        values["below"] = wanted.below
    for number, word in enumerate(wanted.words[:MAX_WORDS]):
        parts.append(_has(values, f"word{number}", word))
    people = [_has(values, f"name{n}", name) for n, name in enumerate(wanted.names[:MAX_WORDS])]
    if wanted.senders:
        values["senders"] = json.dumps(list(wanted.senders))
        people.append("sender IN (SELECT value FROM json_each(:senders))")
    if people:
        parts.append(f"({' OR '.join(people)})")
    for key, spans in (("window", windows), ("span", wanted.spans)):
        times = [(max(-_FAR, a), min(_FAR, b)) for a, b in spans]
        if times and times != [(-_FAR, _FAR)]:
            values[key] = json.dumps(times)
            parts.append(
                f"EXISTS (SELECT 1 FROM json_each(:{key}) t WHERE at"
                " BETWEEN json_extract(t.value, '$[0]') AND json_extract(t.value, '$[1]'))"
            )
    found = db.execute(
        f"SELECT id FROM message WHERE {' AND '.join(parts)} ORDER BY id DESC LIMIT :limit", values
    ).fetchall()
    return list(reversed(by_ids(db, [id for (id,) in found])))


def _has(values: dict[str, object], key: str, word: str) -> str:
    """Condition: the text has a word, as it is written or in plain width."""
    values[key] = word.lower()
    plain = unicodedata.normalize("NFKC", word)
    if plain == word and not any(c.isascii() and c.isalpha() for c in word):
        return f"instr(text, :{key})"  # most words are Chinese, which knows no case
    values[f"{key}_plain"] = plain.lower()
    return f"(instr(lower(text), :{key}) OR instr(lower(text), :{key}_plain))"


def episodes(
    db: sqlite3.Connection, session: str, limit: int, *, told: bool = False
) -> list[Episode]:
    """The newest episodes of a Session, newest first.

    Args:
        told: Only those that have a summary.
    """
    found = db.execute(
        "SELECT data FROM row INDEXED BY row_session WHERE kind = 'episode' AND session = ?"
        " AND json_extract(data, '$.level') = ?"
        " AND (NOT ? OR json_extract(data, '$.summary') != '')"
        " ORDER BY json_extract(data, '$.ended_at') DESC, id LIMIT ?",
        (session, EPISODE, told, limit),
    )
    return [_episode(data) for (data,) in found]


def visits(db: sqlite3.Connection, session: str, since: float) -> list[tuple[float, list[str]]]:
    """When episodes of a Session began, and who took part, from ``since`` on."""
    found = db.execute(
        "SELECT json_extract(data, '$.started_at') AS at, json_extract(data, '$.participants')"
        " FROM row INDEXED BY row_session WHERE kind = 'episode' AND session = ?"
        " AND json_extract(data, '$.level') = ? AND at >= ?",
        (session, EPISODE, since),
    )
    return [(at, json.loads(people)) for at, people in found]


def last_said(db: sqlite3.Connection, session: str) -> float | None:
    """When the newest message of a Session was said."""
    found = db.execute(
        "SELECT at FROM message WHERE session = ? ORDER BY id DESC LIMIT 1", (session,)
    ).fetchone()
    return float(found[0]) if found else None


def heard_since(db: sqlite3.Connection, circle: str, since: float) -> bool:
    """Whether anybody said anything in a chat window, to whichever persona."""
    sessions = db.execute(
        "SELECT id FROM row WHERE kind = 'session' AND json_extract(data, '$.circle') = ?",
        (circle,),
    ).fetchall()
    newest = (
        db.execute(
            "SELECT at FROM message WHERE session = ? AND sender != ? ORDER BY id DESC LIMIT 1",
            (session, BOT),
        ).fetchone()
        for (session,) in sessions
    )
    return any(found is not None and found[0] > since for found in newest)


def newest_of(db: sqlite3.Connection, session: str, limit: int) -> list[Message]:
    """The newest messages of a Session, oldest first."""
    found = db.execute(
        "SELECT id FROM message WHERE session = ? ORDER BY id DESC LIMIT ?", (session, limit)
    )
    return by_ids(db, [id for (id,) in found])


def versions(db: sqlite3.Connection, kind: str, id: str, limit: int) -> list[dict[str, object]]:
    """What a row was and is, newest first; an undo brings an old version back."""
    found = db.execute(
        "SELECT json_extract(o.value, '$[3]') FROM change c, json_each(c.ops) o"
        " WHERE instr(c.ops, :id) AND json_extract(o.value, '$[0]') = :kind"
        " AND json_extract(o.value, '$[1]') = :id AND json_extract(o.value, '$[3]') IS NOT NULL"
        " ORDER BY c.id DESC LIMIT :limit",
        {"kind": kind, "id": id, "limit": limit},
    )
    return [json.loads(data) for (data,) in found]


def _episode(data: str) -> Episode:
    return decode(Episode.kind, json.loads(data))  # type: ignore[return-value]
