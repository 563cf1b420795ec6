"""Queries behind what people browse: facts, names, conversations, the change log.

They need a connection with the tables of ``schema.open_tables``. Whatever a caller passes is
bound as a parameter; the SQL is put together from constants.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import combinations, islice
from typing import Generic, TypeVar
from zlib import crc32

from ..model import (
    BOT,
    EPISODE,
    IMPORT,
    SINGLE_VALUED,
    Episode,
    Fact,
    Message,
    Session,
    Settled,
    is_entity,
)
from ..pinyin import finder, sound
from ..retention import DAY, lifetime, retention
from .connection import interruptible
from .messages import by_ids
from .rows import THINNED_COUNT, Rows, noted_number, rows_of, select_messages

T = TypeVar("T")
U = TypeVar("U")

QUARTER = 900.0
"""Seconds: in every time zone days begin with a quarter of an hour."""


# ------------------------------------------------------------------------------ pages


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place after a row, or before it.

    Attributes:
        key, id: Of that row.
        now: When the first page was asked for: what depends on the time stays in order.
    """

    key: float
    id: str
    is_before: bool = False
    now: float = 0.0


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page.

    Attributes:
        first: Number of its first item among all ``total``, from 1.
        previous, next: Where the neighbouring pages are; ``None`` if there is none.
    """

    items: list[T]
    first: int
    total: int
    previous: Cursor | None = None
    next: Cursor | None = None

    def holding(self, items: list[U]) -> Page[U]:
        """The same page with what is made of its items."""
        return Page(items, self.first, self.total, self.previous, self.next)


def paginate(
    db: sqlite3.Connection,
    source: str,
    values: Mapping[str, object],
    cursor: Cursor | None,
    limit: int,
    read: Callable[[Cursor], T | None],
    now: float = 0.0,
) -> Page[T]:
    """One page of what a query finds, ordered by a number, greatest first, then by id.

    It begins at the row where the one before ended, so nothing is shown twice or left out
    because rows came or went meanwhile; where none are left, the nearest page is. All there is
    to find is gone through once.

    Args:
        source: The query, a constant, of the columns ``key`` and ``id``.
        read: Makes an item of a row; ``None`` if it is gone.
    """
    spot = cursor or Cursor(math.inf, "")
    bound = {**values, "spot": spot.key, "spot_id": spot.id, "limit": limit}
    back = spot.is_before
    side = "key > :spot OR (key = :spot AND id < :spot_id)"
    if not back:
        side = "key < :spot OR (key = :spot AND id > :spot_id)"
    order = "key, id DESC" if back else "key DESC, id"
    found = db.execute(
        f"WITH found AS ({source})"  # named more than once, and so worked out once
        " SELECT counted.total, counted.beyond, page.key, page.id"
        f" FROM (SELECT count(*) AS total, coalesce(sum({side}), 0) AS beyond FROM found)"
        f" AS counted LEFT JOIN (SELECT key, id FROM found WHERE {side} ORDER BY {order}"
        f" LIMIT :limit) AS page ORDER BY {order}",
        bound,
    ).fetchall()
    total, beyond = found[0][:2]
    rows = [Cursor(float(key), str(id), now=now) for _, _, key, id in found if id is not None]
    if cursor and total and not rows:  # what stood there is gone
        end = None if back else Cursor(-math.inf, "", is_before=True)
        return paginate(db, source, values, end, limit, read, now)
    if back:
        rows.reverse()
    skipped = beyond - len(rows) if back else total - beyond
    return Page(
        [item for row in rows if (item := read(row)) is not None],
        skipped + 1,
        total,
        replace(rows[0], is_before=True) if rows and skipped > 0 else None,
        rows[-1] if rows and skipped + len(rows) < total else None,
    )


def _where(
    conditions: Mapping[str, str], asked: Mapping[str, object]
) -> tuple[str, dict[str, object]]:
    """The conditions of what is asked for, and its values by their names."""
    values = {key: asked[key] for key in conditions if asked[key] not in ("", None, False)}
    return " AND ".join(["1", *(conditions[key] for key in values)]), values


# ------------------------------------------------------------------------------ facts

TENTHS = 10
_AGE = "(:now - f.last_used) / f.half_life"
"""Seconds for each day of half-life; retention falls with it, whatever the decay rate."""
ORDERS: dict[str, str] = {
    "recent": "f.recorded_at",
    "said": "f.said_at",
    "importance": "f.importance",
    "strength": f"CASE WHEN f.pinned THEN 1e18 ELSE -{_AGE} END",
    "faint": f"CASE WHEN f.pinned THEN -1e18 ELSE {_AGE} END",
}
"""By what facts are ordered, greatest first."""
_LIVE = "f.status = 'active' AND f.id NOT IN (SELECT old FROM replacement)"
_OPEN = f"{_LIVE} AND f.id NOT IN (SELECT a FROM settled WHERE b = '')"
_OFTEN = "('plans', 'promised', 'did', 'feels', 'believes', 'status', 'other')"
"""Predicates of which a subject has several about the same object."""
_LASTING = (
    "NOT EXISTS (SELECT 1 FROM fact h WHERE h.id IN (f.id, g.id)"
    " AND (h.valid_to IS NOT NULL OR h.valid_from > :now))"
)
"""Whether neither of two facts has an end or is to come: at other times other things are true."""
_SINGLE = f"({', '.join(f'{each!r}' for each in sorted(SINGLE_VALUED))})"
_STATUS = {
    "": "1",
    "pinned": "f.pinned",
    "archived": "f.status = 'archived'",
    "superseded": "f.id IN (SELECT old FROM replacement)",
    "active": _LIVE,
    "hearsay": f"f.hearsay AND {_OPEN}",
    "confidential": f"f.confidential AND {_OPEN}",
    "weak": (
        "f.subject NOT LIKE 'e:%' AND NOT f.pinned AND f.cited = 1"
        f" AND f.use_count <= 1 AND f.speaker != f.subject AND {_OPEN}"
    ),
    "disputed": (
        f"{_LIVE} AND f.predicate IN {_SINGLE}"
        " AND EXISTS (SELECT 1 FROM fact g WHERE g.subject = f.subject AND g.id != f.id"
        " AND g.predicate = f.predicate AND g.object != f.object AND g.status = 'active'"
        f" AND g.id NOT IN (SELECT old FROM replacement) AND {_LASTING} AND NOT EXISTS"
        " (SELECT 1 FROM settled s WHERE s.a = min(f.id, g.id) AND s.b = max(f.id, g.id)))"
    ),
}
"""What a fact may be: ``weak`` is what another said once of an account, ``disputed`` what has
one value at a time and stands there with two."""
_FACT_CONDITIONS = {
    "node": (
        "(f.subject IN (SELECT value FROM json_each(:node))"
        " OR f.object IN (SELECT value FROM json_each(:node)))"
    ),
    "persona": "w.persona = :persona",
    "circle": "w.circle = :circle",
    "predicate": "f.predicate = :predicate",
    "is_own": "f.subject LIKE 'e:%'",
    "since": "f.said_at >= :since",
    "until": "f.said_at < :until",
    "weakest": f"(f.pinned OR {_AGE} <= :weakest)",
    "strongest": f"(NOT f.pinned AND {_AGE} > :strongest)",
}


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Which part of a list is wanted; an empty field asks for nothing.

    Attributes:
        since, until: Said or begun not before, and before; seconds since the epoch.
    """

    persona: str = ""
    circle: str = ""
    since: float | None = None
    until: float | None = None
    limit: int = 50
    place: Cursor | None = None


@dataclass(frozen=True, slots=True)
class FactFilter(ListFilter):
    """Which facts are wanted.

    Attributes:
        text: Words that the statement, or a name of subject or object, contains.
        node: Subject or object, or what is one with it (``identity.py``).
        is_own: About no person who chats: other personas never see them.
        status: A key of :data:`_STATUS`.
        strongest, weakest: Retention at most, and at least.
        order: A key of :data:`ORDERS`.
    """

    text: str = ""
    node: str = ""
    predicate: str = ""
    is_own: bool = False
    status: str = ""
    strongest: float = 1.0
    weakest: float = 0.0
    order: str = "recent"


def find_facts(
    db: sqlite3.Connection, wanted: FactFilter, now: float, rate: float = 1.0
) -> Page[Fact]:
    """One page of facts, faded by the setting ``time_decay_rate``."""
    rows = Rows(db)
    asked = asdict(wanted) | {
        "node": wanted.node and json.dumps(sorted(rows.identities().nodes(wanted.node))),
        "weakest": lifetime(DAY, wanted.weakest, rate) if wanted.weakest > 0.0 else None,
        "strongest": lifetime(DAY, wanted.strongest, rate) if wanted.strongest < 1.0 else None,
    }
    where, values = _where(_FACT_CONDITIONS, asked)
    parts = []
    for number, word in enumerate(wanted.text.split()):
        escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        values[f"word{number}"] = f"%{escaped}%"
        like = f"LIKE :word{number} ESCAPE '\\'"
        named = f"SELECT n.node FROM name n WHERE n.text {like}"
        parts.append(
            f"(a IN ({named}) OR b IN ({named}) OR json_extract(data, '$.statement') {like})"
        )
    if parts:  # rows in their order: one by one they take twice as long
        where += f" AND f.id IN (SELECT id FROM row WHERE kind = 'fact' AND {' AND '.join(parts)})"
    joined = "JOIN session w ON w.id = f.session" if wanted.persona or wanted.circle else ""
    source = (
        f"SELECT coalesce({ORDERS.get(wanted.order, ORDERS['recent'])}, 0.0) AS key, f.id"
        f" FROM fact f {joined} WHERE {where} AND {_STATUS.get(wanted.status, '1')}"
    )
    at = values["now"] = wanted.place.now if wanted.place else now
    return paginate(
        db, source, values, wanted.place, wanted.limit, lambda each: rows.get(Fact, each.id), at
    )


def replaced(db: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    """Which of some facts were replaced by others, archived ones included."""
    query = "SELECT old FROM replacement WHERE old IN (SELECT value FROM json_each(?))"
    return {id for (id,) in db.execute(query, (json.dumps(list(ids)),))}


def strengths(db: sqlite3.Connection, now: float, rate: float) -> list[int]:
    """Numbers of active facts by tenths of their retention, the faintest first."""
    ages = db.execute(
        f"SELECT {_AGE}, f.pinned FROM fact f WHERE f.status = 'active'", {"now": now}
    )
    kept = [1.0 if pinned else retention(age, 1.0, rate) for age, pinned in ages]
    counts = Counter(min(TENTHS - 1, int(each * TENTHS)) for each in kept)
    return [counts[tenth] for tenth in range(TENTHS)]


def fading(
    db: sqlite3.Connection, times: Sequence[float], threshold: float, rate: float, limit: int
) -> list[tuple[list[Fact], int]]:
    """Active facts whose retention is below a threshold at given times, in order.

    At most ``limit`` for each of ``times``, and how many there are. The condition is
    ``retention.fades_at`` solved for the age (see there).
    """
    if rate <= 0 or threshold <= 0:
        return [([], 0) for _ in times]
    found = db.execute(
        "SELECT id, max(last_used + :life * half_life, ifnull(due, 0), ifnull(valid_from, 0))"
        " AS ends FROM fact WHERE status = 'active' AND NOT pinned"
        " AND last_used + :life * half_life < :last AND ends < :last ORDER BY ends, id",
        {"life": lifetime(DAY, threshold, rate), "last": max(times)},
    ).fetchall()
    rows = Rows(db)
    facts = [fact for id, _ in found[:limit] if (fact := rows.get(Fact, id))]
    counts = [bisect_left(found, at, key=lambda each: each[1]) for at in times]
    return [(facts[:count], count) for count in counts]


def conflicts(db: sqlite3.Connection, now: float, limit: int) -> list[tuple[str, str, bool]]:
    """Pairs of facts that say two things, or the same twice in one Session.

    With whether they say two things, the newest first; without those that are settled.
    """
    return db.execute(
        "WITH live AS MATERIALIZED (SELECT id, subject, predicate, object, change,"
        f" CASE WHEN predicate IN {_SINGLE} THEN '' ELSE session || object END AS same"
        f" FROM fact f WHERE predicate NOT IN {_OFTEN} AND {_LIVE})"
        " SELECT f.id, g.id, f.object != g.object FROM live f JOIN live g ON g.subject = f.subject"
        " AND g.predicate = f.predicate AND g.same = f.same AND g.id > f.id"
        " WHERE CASE f.same WHEN '' THEN f.object != g.object ELSE f.object != f.subject END"
        f" AND NOT EXISTS (SELECT 1 FROM settled s WHERE s.a = f.id AND s.b = g.id) AND {_LASTING}"
        " ORDER BY max(f.change, g.change) DESC, f.id, g.id LIMIT :limit",
        {"now": now, "limit": limit},
    ).fetchall()


def archived(db: sqlite3.Connection) -> list[Fact]:
    """Facts that are archived, longest ago first."""
    query = "SELECT data FROM fact WHERE status = 'archived' ORDER BY archived_at, id"
    return rows_of(Fact, db.execute(query))


def deletable(db: sqlite3.Connection, before: float, limit: int) -> list[Fact]:
    """Facts that were archived before a time, longest ago first.

    Not those without which what they replaced would be true again: it may be pinned.
    """
    query = (
        "FROM fact f WHERE status = 'archived' AND archived_at < ? AND NOT EXISTS"
        " (SELECT 1 FROM json_each(f.data, '$.supersedes') s CROSS JOIN fact o"
        " ON o.id = s.value AND o.status = 'active') ORDER BY archived_at, id"
    )
    return _facts(db, query, before, limit)


def superseded_before(db: sqlite3.Connection, before: float, limit: int) -> list[Fact]:
    """Active facts that a fact of their own Session replaced before a time.

    A replacement from elsewhere does not count: who cannot see it still needs the old fact.
    """
    query = (
        "FROM fact WHERE status = 'active' AND NOT pinned AND id IN"
        " (SELECT f.id FROM replacement r JOIN fact f ON f.id = r.old AND f.session = r.session"
        " WHERE r.recorded_at < ?) ORDER BY id"
    )
    return _facts(db, query, before, limit)


def begun(db: sqlite3.Connection, now: float, limit: int) -> list[Fact]:
    """Facts that were to come, have begun by now, and replace what was so until then.

    What was called off where it was said has not.
    """
    query = (
        "FROM row WHERE kind = 'fact' AND json_array_length(data, '$.awaits') > 0"
        " AND json_extract(data, '$.valid_from') <= ?"
        " AND (id, session) NOT IN (SELECT old, session FROM replacement) ORDER BY id"
    )
    return _facts(db, query, now, limit)


def expired(db: sqlite3.Connection, now: float, limit: int) -> list[Fact]:
    """Facts that were to be forgotten by now, unless they are to be kept."""
    query = (
        "FROM row WHERE kind = 'fact' AND json_extract(data, '$.expires') <= ?"
        " AND NOT json_extract(data, '$.pinned') ORDER BY id"
    )
    return _facts(db, query, now, limit)


def _facts(db: sqlite3.Connection, query: str, at: float, limit: int) -> list[Fact]:
    return rows_of(Fact, db.execute(f"SELECT data {query} LIMIT ?", (at, limit)))


def predicates(db: sqlite3.Connection) -> dict[str, int]:
    """How many facts there are of each predicate."""
    query = "SELECT predicate, count(*) FROM fact GROUP BY predicate ORDER BY 2 DESC, 1"
    return dict(db.execute(query).fetchall())


# ------------------------------------------------------------------ people and things


Counted = tuple[str, int] | tuple[str, int, bool]
"""A node, how many facts there are about it, and whether a Session knows it."""


def names(db: sqlite3.Connection, nodes: Iterable[str]) -> dict[str, str]:
    """What nodes, or those that are one with them, were called last, anywhere."""
    rows = Rows(db)
    identities = rows.identities()
    return rows.names({node: identities.nodes(node) for node in nodes})


def known_of(db: sqlite3.Connection, nodes: Iterable[str]) -> tuple[int, str]:
    """How many facts there are about some nodes, and what the newest states."""
    found = db.execute(
        f"SELECT count(*) OVER (), f.statement FROM fact f WHERE {_FACT_CONDITIONS['node']}"
        " ORDER BY f.said_at DESC, f.id DESC LIMIT 1",
        {"node": json.dumps(list(nodes))},
    ).fetchone()
    return found or (0, "")


def most_known(db: sqlite3.Connection, limit: int) -> tuple[list[Counted], list[Counted]]:
    """Users, and entities, merged ones as one, that most facts are about; most first."""
    found = db.execute(
        "SELECT node, sum(n) FROM (SELECT subject AS node, count(*) AS n FROM fact"
        " GROUP BY subject UNION ALL SELECT object, count(*) FROM fact WHERE object != subject"
        " GROUP BY object) WHERE node != '' GROUP BY node ORDER BY 2 DESC, 1"
    ).fetchall()
    one, counts = Rows(db).identities(), Counter[str]()
    for node, count in found:
        counts[one.canonical(node)] += count
    people: list[Counted] = [each for each in counts.most_common() if not is_entity(each[0])]
    things: list[Counted] = [each for each in counts.most_common() if is_entity(each[0])]
    return people[:limit], things[:limit]


def search_names(db: sqlite3.Connection, text: str, limit: int, session: str = "") -> list[Counted]:
    """Nodes with a text or its pinyin in a name, those first that a Session knows.

    So are accounts with it in their number; merged things that are called so are one.
    """
    db.create_function("is_found", 1, finder(text), deterministic=True)
    found = db.execute(
        "SELECT node, (SELECT count(*) FROM fact WHERE subject = node)"
        " + (SELECT count(*) FROM fact WHERE object = node AND subject != node) AS facts,"
        " EXISTS (SELECT 1 FROM name n WHERE n.node = found.node AND session = :session) AS here"
        " FROM (SELECT +node AS node FROM name WHERE is_found(norm) UNION SELECT id FROM user"
        " WHERE id = :text OR length(:text) > 3 AND instr(substr(id, instr(id, ':') + 1), :text))"
        " found ORDER BY here DESC, facts DESC, node LIMIT :limit",
        {"text": text, "session": session, "limit": limit},
    )
    one, known = Rows(db).identities(), dict[str, Counted]()
    for each, facts, here in found:
        if (node := one.canonical(each)) not in known:
            nodes = one.nodes(node)
            known[node] = node, facts if len(nodes) == 1 else known_of(db, nodes)[0], here
    return list(known.values())


ALIKE = 6
"""Nodes of one name that are compared with each other."""


def namesakes(db: sqlite3.Connection, limit: int) -> list[tuple[str, str]]:
    """Pairs of things, or of accounts, that are called or sound alike and may be one.

    Those of one name come first; without those of which the owner has said what they are.
    """
    rows = Rows(db)
    one, known = rows.identities(), {(each.a, each.b) for each in rows.scan(Settled)}
    found: list[tuple[str, str]] = []
    for norms in _alike(db):
        query = "SELECT DISTINCT node FROM name WHERE norm IN (SELECT value FROM json_each(?))"
        nodes = {one.canonical(node) for (node,) in db.execute(query, (json.dumps(norms),))}
        for a, b in combinations(sorted(nodes)[:ALIKE], 2):
            if is_entity(a) == is_entity(b) and not one.is_one(a, b) and (a, b) not in known:
                known.add((a, b))
                found.append((a, b))
        if len(found) >= limit:
            break
    return found[:limit]


def _alike(db: sqlite3.Connection) -> Iterator[list[str]]:
    """Names of several rows, then names that sound alike; without reading the rows."""
    borne = "SELECT norm, count(*) FROM name WHERE norm != '' GROUP BY norm"
    counts = dict(db.execute(borne).fetchall())
    yield from ([norm] for norm, count in counts.items() if count > 1)
    heard: dict[str, list[str]] = {}
    for norm in counts:
        if not norm.isascii():
            heard.setdefault(sound(norm), []).append(norm)
    yield from (heard[key] for key in sorted(heard) if len(heard[key]) > 1)


def people(db: sqlite3.Connection, limit: int) -> list[tuple[str, int, int, float]]:
    """Users, their numbers of facts and messages, and when they spoke; last first."""
    query = (
        "SELECT p.user, (SELECT count(*) FROM fact WHERE subject = p.user)"
        " + (SELECT count(*) FROM fact WHERE object = p.user AND subject != p.user),"
        " sum(p.messages), max(p.last_at) FROM participation p GROUP BY p.user"
        " ORDER BY 4 DESC, 1 LIMIT ?"
    )
    return db.execute(query, (limit,)).fetchall()


def personas(db: sqlite3.Connection) -> list[tuple[str, int, int, int]]:
    """Personas with the numbers of Sessions, of facts, and of those not about a user."""
    query = (
        "SELECT s.persona, count(DISTINCT s.id), count(f.id), ifnull(sum(f.subject LIKE 'e:%'), 0)"
        " FROM session s LEFT JOIN fact f ON f.session = s.id GROUP BY s.persona ORDER BY 3 DESC, 1"
    )
    return db.execute(query).fetchall()


def is_known(db: sqlite3.Connection, user: str) -> bool:
    """Whether somebody with this user id is in any row, or said anything."""
    query = "SELECT 1 FROM user WHERE id = :user"
    query += " UNION ALL SELECT 1 FROM message WHERE sender = :user LIMIT 1"
    return db.execute(query, {"user": user}).fetchone() is not None


def footprint(db: sqlite3.Connection, user: str) -> tuple[str, int, int]:
    """Name of a user, and the numbers of their messages and facts."""
    said = "SELECT name, count(*), max(id) FROM message WHERE sender = ?"  # the newest one's name
    name, messages, _ = db.execute(said, (user,)).fetchone()
    return names(db, [user]).get(user) or name or "", messages, known_of(db, [user])[0]


# ---------------------------------------------------------------- conversation records

_RECORD_CONDITIONS = {
    "persona": "w.persona = :persona",
    "circle": "w.circle = :circle",
    "level": "e.level = :level",
    "since": "e.started_at >= :since",
    "until": "e.started_at < :until",
    "is_told": "e.summary != ''",
}


@dataclass(frozen=True, slots=True)
class RecordFilter(ListFilter):
    """Which episodes and summaries are wanted.

    Attributes:
        level: ``episode``, ``day`` … ``year``.
        is_told: Only those that have a summary.
    """

    level: str = ""
    is_told: bool = False


def find_records(db: sqlite3.Connection, wanted: RecordFilter) -> Page[Episode]:
    """One page of episodes and summaries, newest first."""
    where, values = _where(_RECORD_CONDITIONS, asdict(wanted))
    joined = "JOIN session w ON w.id = e.session"
    source = f"SELECT e.started_at AS key, e.id FROM episode e {joined} WHERE {where}"
    rows = Rows(db)
    return paginate(
        db, source, values, wanted.place, wanted.limit, lambda each: rows.get(Episode, each.id)
    )


def levels(db: sqlite3.Connection) -> dict[str, int]:
    """How many episodes, and summaries of each length of time, there are."""
    return dict(db.execute("SELECT level, count(*) FROM episode GROUP BY level").fetchall())


def newest_episodes(
    db: sqlite3.Connection,
    session: str,
    limit: int,
    shows: Callable[[Episode], bool],
    *,
    told: bool = False,
) -> list[Episode]:
    """Episodes of a Session that are shown, newest first; or those with a summary."""
    query = (
        "SELECT data FROM episode WHERE session = ? AND level = ?"
        " AND (NOT ? OR summary != '') ORDER BY ended_at DESC, id"
    )
    found = db.execute(query, (session, EPISODE, told))
    episodes = (Episode.of_data(json.loads(data)) for (data,) in found)
    return list(islice(filter(shows, episodes), limit))


def visits(db: sqlite3.Connection, session: str, since: float) -> list[tuple[float, list[str]]]:
    """When episodes of a Session began, and who took part, from ``since`` on."""
    query = "SELECT started_at, participants FROM episode WHERE session = ? AND level = ?"
    query += " AND started_at >= ? AND ended_at >= ?"  # for which there is an index
    found = db.execute(query, (session, EPISODE, since, since))
    return [(at, json.loads(people)) for at, people in found]


# ---------------------------------------------------------------------------- messages

MAX_WORDS = 6
_FAR = 1e15  # seconds beyond which no message lies


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for in messages; an empty field asks for nothing.

    Attributes:
        words: All of them occur, in whatever case or width.
        senders, names: Said by one of these, or with one of these in it.
        below: Only messages with a smaller number.
    """

    words: Sequence[str] = ()
    senders: Sequence[str] = ()
    names: Sequence[str] = ()
    spans: Sequence[tuple[float, float]] = ()
    limit: int = 10
    below: int | None = None

    def fits(self, message: Message) -> bool:
        """Whether a message has the words in it, and was said by or has one of the names."""
        text = _plain(message.text)
        is_theirs = message.sender in self.senders or any(_plain(n) in text for n in self.names)
        return all(_plain(word) in text for word in self.words) and (
            is_theirs or not (self.senders or self.names)
        )


@dataclass(slots=True)
class Deadline:
    """How long a search may take; ``is_late`` once it took longer."""

    seconds: float
    is_late: bool = False

    @contextmanager
    def kept(self, db: sqlite3.Connection) -> Iterator[None]:
        """Break off what is run on ``db`` when the time is over."""
        until = time.monotonic() + self.seconds

        def look() -> bool:
            self.is_late = self.is_late or time.monotonic() > until
            return self.is_late

        with interruptible(db, look):
            yield


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
    return select_messages(db, f"WHERE {' AND '.join(parts)} ORDER BY id DESC LIMIT :limit", values)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def _has(values: dict[str, object], key: str, word: str) -> str:
    """Condition: the text has a word, as it is written or in plain width."""
    values[key] = word.lower()
    plain = unicodedata.normalize("NFKC", word)
    if plain == word and not any(c.isascii() and c.isalpha() for c in word):
        return f"instr(text, :{key})"  # most words are Chinese, which knows no case
    values[f"{key}_plain"] = plain.lower()
    return f"(instr(lower(text), :{key}) OR instr(lower(text), :{key}_plain))"


def around(db: sqlite3.Connection, id: int, count: int) -> list[Message]:
    """A message with so many before and after it in its Session; empty if it is gone."""
    found = by_ids(db, [id])
    if not found:
        return []
    later = (found[0].session, id, count)
    return [
        *Rows(db).messages_before(found[0].session, id, count),
        *found,
        *select_messages(db, "WHERE session = ? AND id > ? ORDER BY id LIMIT ?", later),
    ]


def heard_since(db: sqlite3.Connection, circle: str, since: float) -> bool:
    """Whether anybody was heard in a chat window, by whichever persona."""
    query = (
        "SELECT 1 FROM session s WHERE s.circle = ? AND (SELECT m.at FROM message m WHERE"
        " m.session = s.id AND m.sender != ? AND m.import = '' ORDER BY m.id DESC LIMIT 1) > ?"
    )
    return db.execute(query, (circle, BOT, since)).fetchone() is not None


def last_session(db: sqlite3.Connection, circle: str) -> Session | None:
    """The Session of a chat window in which something was said last, if anything was."""
    found = db.execute(
        "SELECT s.data, (SELECT max(m.id) FROM message m WHERE m.session = s.id) AS last"
        " FROM session s WHERE s.circle = ? AND last IS NOT NULL ORDER BY last DESC LIMIT 1",
        (circle,),
    )
    return next((Session.of_data(json.loads(data)) for data, _ in found), None)


# ---------------------------------------------------------------- changes and counts


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A line of the change log, with how many rows of each kind it touched.

    Attributes:
        words: What one of the facts states, or stated; empty if it touched none, or long ago.
    """

    id: int
    at: float
    actor: str
    reason: str
    rows: dict[str, int]
    undoes: int | None
    undone_by: int | None
    words: str = ""


_REASON = f"iif(c.reason LIKE '{IMPORT} %', '{IMPORT}', c.reason)"
"""See :attr:`Change.told_reason`."""


def find_changes(
    db: sqlite3.Connection, actor: str, reason: str, place: Cursor | None, limit: int
) -> Page[LogEntry]:
    """One page of changes, newest first, but for those that only noted a chat window."""
    source = (
        "SELECT c.id AS key, '' AS id FROM change c WHERE :actor IN ('', c.actor)"
        f" AND :reason IN ('', {_REASON}) AND NOT (c.actor = 'chat' AND c.reason = 'session')"
    )
    values = {"actor": actor, "reason": reason}
    return paginate(db, source, values, place, limit, lambda each: _entry(db, int(each.key)))


def _entry(db: sqlite3.Connection, number: int) -> LogEntry | None:
    found = db.execute(
        f"SELECT c.at, c.actor, {_REASON}, c.undoes, u.id FROM change c"
        " LEFT JOIN change u ON u.undoes = c.id WHERE c.id = ?",
        (number,),
    ).fetchone()
    if found is None:
        return None
    at, actor, reason, undoes, undone_by = found
    ops = db.execute(
        "SELECT o.value ->> 0, count(*),"
        " max(coalesce(o.value ->> '$[3].statement', o.value ->> '$[2].statement', ''))"
        " FROM change c, json_each(c.ops) o WHERE c.id = ? GROUP BY 1 ORDER BY 2 DESC, 1",
        (number,),
    ).fetchall()
    words = next((words for kind, _, words in ops if kind == "fact"), "")
    rows = {kind: count for kind, count, _ in ops}
    return LogEntry(number, at, actor, reason, rows, undoes, undone_by, words)


def actors_and_reasons(db: sqlite3.Connection) -> tuple[list[str], list[str]]:
    """Actors and reasons that the change log names."""
    actors = db.execute("SELECT DISTINCT actor FROM change ORDER BY actor LIMIT 200").fetchall()
    reasons = db.execute(f"SELECT DISTINCT {_REASON} FROM change c ORDER BY 1").fetchall()
    return [actor for (actor,) in actors], [reason for (reason,) in reasons]


def undoable(db: sqlite3.Connection, actor: str) -> Iterator[int]:
    """Changes of ``actor`` that are no undo and have not been undone, newest first."""
    query = (  # what undoes an undo is none
        "SELECT id FROM change c WHERE actor = ?"
        " AND NOT EXISTS (SELECT 1 FROM change u WHERE u.undoes = c.id)"
        " AND (WITH RECURSIVE back (id, steps) AS (SELECT c.undoes, 0 UNION ALL"
        " SELECT p.undoes, steps + 1 FROM back JOIN change p ON p.id = back.id)"
        " SELECT max(steps) FROM back) % 2 = 0 ORDER BY id DESC"
    )
    return (id for (id,) in db.execute(query, (actor,)))


def changes_of(db: sqlite3.Connection, actor: str) -> Iterator[int]:
    """All changes of ``actor``, newest first."""
    query = "SELECT id FROM change WHERE actor = ? ORDER BY id DESC"
    return (id for (id,) in db.execute(query, (actor,)))


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
    rows = Rows(db)
    return rows.last_change(), *rows.erasures()  # which are no changes, but leave a mark


def newest(db: sqlite3.Connection) -> dict[str, int]:
    """Numbers that messages and changes alter, and restarts do not."""
    (said,) = db.execute("SELECT ifnull(max(id), 0) FROM message").fetchone()
    return {"messages": said, "changes": crc32(repr(revision(db)).encode())}


def grown(db: sqlite3.Connection, since: float) -> list[tuple[float, int, int]]:
    """How many facts and messages came from when on, by quarters of an hour."""
    return db.execute(
        "SELECT CAST(at / :quarter AS INTEGER) * :quarter AS began, sum(fact), sum(1 - fact) FROM"
        " (SELECT recorded_at AS at, 1 AS fact FROM fact UNION ALL SELECT at, 0 FROM message)"
        " WHERE at >= :since GROUP BY began",
        {"quarter": QUARTER, "since": since},
    ).fetchall()


def counts(db: sqlite3.Connection) -> dict[str, int]:
    """How many rows of each kind, messages, buffered messages, changes there are.

    So are records, apart from episodes, and messages that were deleted as old (``thinned``).
    """
    query = (
        "SELECT kind, count(*) FROM row GROUP BY kind"
        " UNION ALL SELECT 'messages', count(*) FROM message"
        " UNION ALL SELECT 'buffered', count(*) FROM message WHERE batch IS NULL"
        " UNION ALL SELECT 'changes', count(*) FROM change"
    )
    found, lengths = dict(db.execute(query).fetchall()), levels(db)
    found[EPISODE] = lengths.pop(EPISODE, 0)
    return found | {"records": sum(lengths.values()), "thinned": noted_number(db, THINNED_COUNT)}
