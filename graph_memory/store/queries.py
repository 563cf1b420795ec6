"""Queries behind what people browse: facts, names, conversations, the change log.

Reads only, on a connection that has the tables of ``schema.open_tables``: one for each
kind of row, with its fields as columns. Everything a caller passes is bound as a
parameter; the SQL is put together from the constants in this module.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from ..model import BOT, EPISODE, Episode, Fact, Message, Row, Session, is_entity
from ..retention import DAY
from ..text import normalise
from .messages import by_ids
from .pagination import Cursor, Page, paginate
from .rows import THINNED_COUNT, Rows, last_change, noted

R = TypeVar("R", bound=Row)

HOUR = 3600.0
_AGE = "(:now - f.last_used) / f.half_life"
"""Seconds for each day of half-life; retention falls with it, whatever the decay rate."""
ORDERS: dict[str, str] = {
    "recent": "f.recorded_at",
    "said": "f.said_at",
    "importance": "f.importance",
    "strength": f"CASE WHEN f.pinned THEN 1e18 ELSE -{_AGE} END",
}
"""By what facts are ordered, greatest first."""


def _read(cls: type[R], found: Iterable[tuple[str]]) -> list[R]:
    return [cls.of_data(json.loads(data)) for (data,) in found]


def _in_order(db: sqlite3.Connection, cls: type[R], ids: Iterable[str]) -> list[R]:
    """Rows of a kind in the order of ``ids``; those that went meanwhile are left out."""
    rows = Rows(db)
    return [row for id in ids if (row := rows.get(cls, id))]


# ------------------------------------------------------------------------------ facts


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts are wanted; an empty field asks for nothing.

    Attributes:
        text: Words that the statement, or a name of subject or object, contains.
        node: Subject or object, or what is one with it (``identity.py``).
        status: ``active`` (and not superseded), ``superseded``, ``archived`` or ``pinned``.
        since, until: Said not before, and before; seconds since the epoch.
        strongest, weakest: Retention at most, and at least.
        order: A key of :data:`ORDERS`.
        place: Where the page begins; ``None`` is the first page.
    """

    text: str = ""
    node: str = ""
    persona: str = ""
    circle: str = ""
    predicate: str = ""
    status: str = ""
    since: float | None = None
    until: float | None = None
    strongest: float = 1.0
    weakest: float = 0.0
    order: str = "recent"
    limit: int = 50
    place: Cursor | None = None


_STATUS = {
    "pinned": "f.pinned",
    "archived": "f.status = 'archived'",
    "superseded": "f.id IN (SELECT old FROM replacement)",
    "active": "f.status = 'active' AND f.id NOT IN (SELECT old FROM replacement)",
}
_FACT_CONDITIONS = {
    "node": (
        "(f.subject IN (SELECT value FROM json_each(:node))"
        " OR f.object IN (SELECT value FROM json_each(:node)))"
    ),
    "persona": "w.persona = :persona",
    "circle": "w.circle = :circle",
    "predicate": "f.predicate = :predicate",
    "since": "f.said_at >= :since",
    "until": "f.said_at < :until",
    "weakest": f"(f.pinned OR {_AGE} <= :weakest)",
    "strongest": f"(NOT f.pinned AND {_AGE} > :strongest)",
}


def find_facts(
    db: sqlite3.Connection, wanted: FactFilter, now: float, rate: float = 1.0
) -> Page[Fact]:
    """One page of facts.

    Args:
        now: Of the first page; the others are as of then, see :class:`Cursor`.
        rate: The setting ``time_decay_rate``.
    """
    at = wanted.place.now if wanted.place else now
    asked: dict[str, object] = {
        "node": wanted.node and json.dumps(sorted(Rows(db).identities().nodes(wanted.node))),
        "persona": wanted.persona,
        "circle": wanted.circle,
        "predicate": wanted.predicate,
        "since": wanted.since,
        "until": wanted.until,
        "weakest": _age(wanted.weakest, rate) if wanted.weakest > 0.0 else None,
        "strongest": _age(wanted.strongest, rate) if wanted.strongest < 1.0 else None,
    }
    values = {key: value for key, value in asked.items() if value not in ("", None)}
    parts = [condition for key, condition in _FACT_CONDITIONS.items() if key in values]
    for number, word in enumerate(wanted.text.split()):
        escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        values[f"word{number}"] = f"%{escaped}%"
        like = f"LIKE :word{number} ESCAPE '\\'"
        named = f"SELECT n.node FROM name n WHERE n.text {like}"
        parts.append(f"(f.statement {like} OR f.subject IN ({named}) OR f.object IN ({named}))")
    if wanted.status in _STATUS:
        parts.append(_STATUS[wanted.status])
    joined = "JOIN session w ON w.id = f.session" if wanted.persona or wanted.circle else ""
    order = ORDERS.get(wanted.order, ORDERS["recent"])
    where = " AND ".join(["1", *parts])
    source = f"SELECT coalesce({order}, 0.0) AS key, f.id FROM fact f {joined} WHERE {where}"
    values["now"] = at
    return paginate(db, source, values, wanted.place, at, wanted.limit, partial(_facts, db))


def _facts(db: sqlite3.Connection, page: list[Cursor]) -> list[Fact]:
    return _in_order(db, Fact, (each.id for each in page))


def _age(retention: float, rate: float) -> float:
    """:data:`_AGE` at a retention: ``retention.retention`` solved for the age."""
    return (1.0 / retention**2 - 1.0) / 3.0 * DAY / rate if rate > 0.0 else math.inf


def replaced(db: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    """Which of some facts were replaced by others, archived ones included."""
    query = "SELECT old FROM replacement WHERE old IN (SELECT value FROM json_each(?))"
    return {id for (id,) in db.execute(query, (json.dumps(list(ids)),))}


def replacing(db: sqlite3.Connection, id: str) -> list[Fact]:
    """The facts that replace a fact."""
    query = "SELECT data FROM fact WHERE id IN (SELECT new FROM replacement WHERE old = ?)"
    return _read(Fact, db.execute(f"{query} ORDER BY id", (id,)))


def fading(
    db: sqlite3.Connection, times: Sequence[float], threshold: float, rate: float, limit: int
) -> list[tuple[list[Fact], int]]:
    """Active facts whose retention is below a threshold at given times, in order.

    The condition is ``retention.fades_at`` solved for the age (see there).

    Returns:
        For each of ``times`` at most ``limit`` facts, and how many there are.
    """
    if rate <= 0 or threshold <= 0:
        return [([], 0) for _ in times]
    rows = db.execute(
        "WITH fading AS MATERIALIZED (SELECT id, last_used + :ages * half_life AS ends FROM fact"
        " WHERE status = 'active' AND NOT pinned),"
        " page AS (SELECT id, ends FROM fading ORDER BY ends, id LIMIT :limit)"
        " SELECT '', at.key, (SELECT count(*) FROM fading WHERE ends < at.value)"
        " FROM json_each(:times) AS at UNION ALL SELECT id, ends, 0 FROM page ORDER BY 2, 1",
        {"ages": _age(threshold, rate), "limit": limit, "times": json.dumps(list(times))},
    ).fetchall()
    totals = [count for id, _, count in rows if not id]
    ends = {id: at for id, at, _ in rows if id}
    facts = _in_order(db, Fact, ends)
    return [
        ([fact for fact in facts if ends[fact.id] < at], total)
        for at, total in zip(times, totals, strict=True)
    ]


def archived(db: sqlite3.Connection, before: float, limit: int) -> list[Fact]:
    """Facts that were archived before a time, longest ago first."""
    query = "SELECT data FROM fact WHERE status = 'archived' AND archived_at < ?"
    return _read(Fact, db.execute(f"{query} ORDER BY archived_at, id LIMIT ?", (before, limit)))


def superseded_before(db: sqlite3.Connection, before: float, limit: int) -> list[Fact]:
    """Active facts that a fact of their own Session replaced before a time.

    A replacement from elsewhere does not count: who cannot see it still needs the old fact.
    """
    page = db.execute(
        "SELECT data FROM fact WHERE status = 'active' AND NOT pinned AND id IN"
        " (SELECT f.id FROM replacement r JOIN fact f ON f.id = r.old AND f.session = r.session"
        " WHERE r.recorded_at < ?) ORDER BY id LIMIT ?",
        (before, limit),
    )
    return _read(Fact, page)


def predicates(db: sqlite3.Connection) -> dict[str, int]:
    """How many facts there are of each predicate."""
    query = "SELECT predicate, count(*) FROM fact GROUP BY predicate ORDER BY 2 DESC, 1"
    return dict(db.execute(query).fetchall())


# ------------------------------------------------------------------ people and things


def names(db: sqlite3.Connection, nodes: Iterable[str]) -> dict[str, str]:
    """What nodes, or those that are one with them, were called last, anywhere."""
    identities = Rows(db).identities()
    groups = {node: identities.nodes(node) for node in set(nodes)}
    rows = db.execute(
        "SELECT node, text FROM name WHERE node IN (SELECT value FROM json_each(?))"
        " ORDER BY last_at DESC, id",
        (json.dumps(sorted(set().union(*groups.values()))),),
    ).fetchall()
    newest: dict[str, tuple[int, str]] = {}
    for number, (node, text) in enumerate(rows):
        newest.setdefault(node, (number, text))
    found: dict[str, str] = {}
    for node, group in groups.items():
        called = [newest[each] for each in group if each in newest]
        if called:
            found[node] = min(called)[1]
    return found


def most_known(db: sqlite3.Connection, limit: int) -> tuple[dict[str, int], dict[str, int]]:
    """Users, and entities, that most facts are about, and how many; most first."""
    rows = db.execute(
        "SELECT node, sum(n) FROM (SELECT subject AS node, count(*) AS n FROM fact"
        " GROUP BY subject UNION ALL SELECT object, count(*) FROM fact GROUP BY object)"
        " WHERE node != '' GROUP BY node ORDER BY 2 DESC, 1"
    ).fetchall()
    people = [(node, int(n)) for node, n in rows if not is_entity(node)]
    things = [(node, int(n)) for node, n in rows if is_entity(node)]
    return dict(people[:limit]), dict(things[:limit])


def search_names(db: sqlite3.Connection, text: str, limit: int) -> dict[str, int]:
    """Nodes that have a name with a text in it, and how many facts are about each."""
    found = db.execute(
        "SELECT node, (SELECT count(*) FROM fact WHERE subject = node)"
        " + (SELECT count(*) FROM fact WHERE object = node) AS facts"
        " FROM (SELECT DISTINCT +node AS node FROM name WHERE instr(norm, ?) > 0)"
        " ORDER BY facts DESC, node LIMIT ?",
        (normalise(text), limit),
    ).fetchall()
    return {node: int(facts) for node, facts in found}


def is_known(db: sqlite3.Connection, user: str) -> bool:
    """Whether somebody with this user id is in any row, or said anything."""
    query = "SELECT 1 FROM user WHERE id = :user"
    query += " UNION ALL SELECT 1 FROM message WHERE sender = :user LIMIT 1"
    return db.execute(query, {"user": user}).fetchone() is not None


def sessions(db: sqlite3.Connection) -> list[Session]:
    """All Sessions."""
    return _read(Session, db.execute("SELECT data FROM session ORDER BY id"))


# ---------------------------------------------------------------- conversation records


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Which episodes and summaries are wanted; an empty field asks for nothing.

    Attributes:
        level: ``episode``, ``day`` … ``year``.
        since, until: Begun not before, and before; seconds since the epoch.
        is_told: Only those that have a summary.
        place: Where the page begins; ``None`` is the first page.
    """

    persona: str = ""
    circle: str = ""
    level: str = ""
    since: float | None = None
    until: float | None = None
    is_told: bool = False
    limit: int = 50
    place: Cursor | None = None


_RECORD_CONDITIONS = {
    "persona": "w.persona = :persona",
    "circle": "w.circle = :circle",
    "level": "e.level = :level",
    "since": "e.started_at >= :since",
    "until": "e.started_at < :until",
    "is_told": "e.summary != ''",
}


def find_records(db: sqlite3.Connection, wanted: RecordFilter) -> Page[Episode]:
    """One page of episodes and summaries, newest first."""
    asked = {key: getattr(wanted, key) for key in _RECORD_CONDITIONS}
    values = {key: value for key, value in asked.items() if value not in ("", None, False)}
    parts = [condition for key, condition in _RECORD_CONDITIONS.items() if key in values]
    where = " AND ".join(["1", *parts])
    joined = "JOIN session w ON w.id = e.session"
    source = f"SELECT e.started_at AS key, e.id FROM episode e {joined} WHERE {where}"

    def read(page: list[Cursor]) -> list[Episode]:
        return _in_order(db, Episode, (each.id for each in page))

    return paginate(db, source, values, wanted.place, 0.0, wanted.limit, read)


def levels(db: sqlite3.Connection) -> dict[str, int]:
    """How many episodes, and summaries of each length of time, there are."""
    return dict(db.execute("SELECT level, count(*) FROM episode GROUP BY level").fetchall())


def newest_episodes(
    db: sqlite3.Connection, session: str, limit: int, *, told: bool = False
) -> list[Episode]:
    """The newest episodes of a Session, newest first.

    Args:
        told: Only those that have a summary.
    """
    found = db.execute(
        "SELECT data FROM episode WHERE session = ? AND level = ?"
        " AND (NOT ? OR summary != '') ORDER BY ended_at DESC, id LIMIT ?",
        (session, EPISODE, told, limit),
    )
    return _read(Episode, found)


def visits(db: sqlite3.Connection, session: str, since: float) -> list[tuple[float, list[str]]]:
    """When episodes of a Session began, and who took part, from ``since`` on."""
    found = db.execute(
        "SELECT started_at, participants FROM episode"
        " WHERE session = ? AND level = ? AND started_at >= ?",
        (session, EPISODE, since),
    )
    return [(at, json.loads(people)) for at, people in found]


# ---------------------------------------------------------------------------- messages

MAX_WORDS = 6
_STEPS = 20_000
"""Steps of SQLite between two looks at the clock."""
_FAR = 1e15
"""Seconds beyond which no message lies."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for in messages; an empty field asks for nothing.

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
class Deadline:
    """How long a search may take; ``is_late`` once it took longer."""

    seconds: float
    is_late: bool = False
    _until: float = field(init=False, default=0.0)

    @contextmanager
    def kept(self, db: sqlite3.Connection) -> Iterator[None]:
        """Break off what is run on ``db`` when the time is over."""
        self._until = time.monotonic() + self.seconds
        db.set_progress_handler(self._look, _STEPS)
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


def search_messages(
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


def around(db: sqlite3.Connection, id: int, before: int, after: int) -> list[Message]:
    """A message with those before and after it in its Session; empty if it is gone."""
    found = by_ids(db, [id])
    if not found:
        return []
    session = found[0].session
    earlier = db.execute(
        "SELECT id FROM message WHERE session = ? AND id < ? ORDER BY id DESC LIMIT ?",
        (session, id, before),
    ).fetchall()
    later = db.execute(
        "SELECT id FROM message WHERE session = ? AND id > ? ORDER BY id LIMIT ?",
        (session, id, after),
    ).fetchall()
    return by_ids(db, [id, *(n for (n,) in (*earlier, *later))])


def between(
    db: sqlite3.Connection, session: str, first: int, last: int, limit: int
) -> list[Message]:
    """The first ``limit`` messages of a Session with ids from ``first`` to ``last``."""
    found = db.execute(
        "SELECT id FROM message WHERE session = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT ?",
        (session, first, last, limit),
    ).fetchall()
    return by_ids(db, [id for (id,) in found])


def newest_of(db: sqlite3.Connection, session: str, limit: int) -> list[Message]:
    """The newest messages of a Session, oldest first."""
    found = db.execute(
        "SELECT id FROM message WHERE session = ? ORDER BY id DESC LIMIT ?", (session, limit)
    )
    return by_ids(db, [id for (id,) in found])


def last_said(db: sqlite3.Connection, session: str) -> float | None:
    """When the newest message of a Session was said."""
    return next((message.at for message in newest_of(db, session, 1)), None)


def heard_since(db: sqlite3.Connection, circle: str, since: float) -> bool:
    """Whether anybody said anything in a chat window, to whichever persona."""
    query = "SELECT at FROM message WHERE session = ? AND sender != ? ORDER BY id DESC LIMIT 1"
    here = db.execute("SELECT id FROM session WHERE circle = ?", (circle,)).fetchall()
    newest = (db.execute(query, (session, BOT)).fetchone() for (session,) in here)
    return any(found is not None and found[0] > since for found in newest)


# ---------------------------------------------------------------- changes and counts


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A line of the change log.

    Attributes:
        rows: How many rows of each kind it touched.
        undoes: Number of the change it takes back.
        undone_by: Number of the change that took it back.
    """

    id: int
    at: float
    actor: str
    reason: str
    rows: dict[str, int]
    undoes: int | None
    undone_by: int | None


def find_changes(
    db: sqlite3.Connection, actor: str, reason: str, place: Cursor | None, limit: int
) -> Page[LogEntry]:
    """One page of changes, newest first, but for those that only noted a chat window."""
    source = (
        "SELECT c.id AS key, '' AS id FROM change c WHERE :actor IN ('', c.actor)"
        " AND :reason IN ('', c.reason) AND NOT (c.actor = 'chat' AND c.reason = 'session')"
    )

    def read(page: list[Cursor]) -> list[LogEntry]:
        return [entry for each in page if (entry := _entry(db, int(each.key)))]

    return paginate(db, source, {"actor": actor, "reason": reason}, place, 0.0, limit, read)


def _entry(db: sqlite3.Connection, number: int) -> LogEntry | None:
    found = db.execute(
        "SELECT c.id, c.at, c.actor, c.reason, c.undoes,"
        " (SELECT u.id FROM change u WHERE u.undoes = c.id) FROM change c WHERE c.id = ?",
        (number,),
    ).fetchone()
    if found is None:
        return None
    kinds = db.execute(
        "SELECT json_extract(o.value, '$[0]'), count(*) FROM change c, json_each(c.ops) o"
        " WHERE c.id = ? GROUP BY 1 ORDER BY 2 DESC, 1",
        (number,),
    ).fetchall()
    number, at, actor, reason, undoes, undone_by = found
    return LogEntry(number, at, actor, reason, dict(kinds), undoes, undone_by)


def actors_and_reasons(db: sqlite3.Connection) -> tuple[list[str], list[str]]:
    """Actors and reasons that the change log names."""
    actors = db.execute("SELECT DISTINCT actor FROM change ORDER BY actor LIMIT 200").fetchall()
    reasons = db.execute("SELECT DISTINCT reason FROM change ORDER BY reason").fetchall()
    return [actor for (actor,) in actors], [reason for (reason,) in reasons]


def undoable(db: sqlite3.Connection, actor: str) -> Iterator[int]:
    """Changes of ``actor`` that are no undo and have not been undone, newest first."""
    for (id,) in db.execute(
        "SELECT id FROM change c WHERE actor = ? AND undoes IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM change u WHERE u.undoes = c.id) ORDER BY id DESC",
        (actor,),
    ):
        yield id


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


def revision(db: sqlite3.Connection) -> tuple[object, ...]:
    """What is another whenever rows are: for what is worked out from them and kept."""
    # Forgetting somebody for good is no change, but leaves a mark.
    return last_change(db), *Rows(db).erasures()


def facts_by_hour(db: sqlite3.Connection) -> dict[int, int]:
    """How many facts were learned, by hour since the epoch."""
    query = "SELECT CAST(recorded_at / ? AS INTEGER) AS hour, count(*) FROM fact GROUP BY hour"
    return dict(db.execute(query, (HOUR,)).fetchall())


def messages_by_hour(db: sqlite3.Connection, since: float) -> dict[int, int]:
    """How many messages were said, by hour since the epoch."""
    query = "SELECT CAST(at / ? AS INTEGER) AS hour, count(*) FROM message WHERE at >= ?"
    return dict(db.execute(f"{query} GROUP BY hour", (HOUR, since)).fetchall())


def counts(db: sqlite3.Connection) -> dict[str, int]:
    """How many rows of each kind, messages, buffered messages, changes there are.

    Records are counted apart from episodes, and so are the messages that are not there
    any more because they were old (``thinned``).
    """
    found = dict(
        db.execute(
            "SELECT kind, count(*) FROM row GROUP BY kind"
            " UNION ALL SELECT 'messages', count(*) FROM message"
            " UNION ALL SELECT 'buffered', count(*) FROM message WHERE batch IS NULL"
            " UNION ALL SELECT 'changes', count(*) FROM change"
        ).fetchall()
    )
    lengths = levels(db)
    found[Episode.kind] = lengths.pop(EPISODE, 0)
    return found | {"records": sum(lengths.values()), "thinned": noted(db, THINNED_COUNT)}
