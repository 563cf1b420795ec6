"""Looking through the facts: filters, order, pages. Reads only.

Everything a caller passes is bound as a parameter; the SQL is put together from the
constants in this module.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ..model import EPISODE, Episode, Fact, Session, decode, is_entity
from ..retention import DAY
from ..text import normalise
from . import chronicle
from .pages import Found, Place, by_id, turn
from .rows import THINNED_COUNT, Rows, last_change, noted

_AGE = "(:now - json_extract(f.data, '$.last_used')) / json_extract(f.data, '$.half_life')"
"""Seconds for each day of half-life; retention falls with it, whatever the decay rate."""
_PINNED = "json_extract(f.data, '$.pinned')"

ORDERS: dict[str, str] = {
    "recent": "json_extract(f.data, '$.recorded_at')",
    "said": "json_extract(f.data, '$.said_at')",
    "importance": "json_extract(f.data, '$.importance')",
    "strength": f"CASE WHEN {_PINNED} THEN 1e18 ELSE -{_AGE} END",
}
"""By what facts are ordered, greatest first."""

_SUPERSEDED = (
    "SELECT s.value FROM row g INDEXED BY row_supersedes,"
    " json_each(g.data, '$.supersedes') s WHERE g.kind = 'fact'"
    " AND json_array_length(g.data, '$.supersedes') > 0"
)
"""What was replaced. Archiving the newer fact does not bring the older one back."""


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
    place: Place | None = None


def find(db: sqlite3.Connection, wanted: FactFilter, now: float, rate: float = 1.0) -> Found[Fact]:
    """One page of facts.

    Args:
        now: Of the first page; the others are as of then, see :class:`Place`.
        rate: The setting ``time_decay_rate``.
    """
    place = wanted.place
    at = place.now if place else now
    nodes = Rows(db).identities().nodes(wanted.node)
    where, values = _conditions(wanted, nodes, rate)
    values["now"] = at
    order = ORDERS.get(wanted.order, ORDERS["recent"])
    tables = "row f"
    if wanted.persona or wanted.circle:
        tables += " JOIN row w ON w.kind = 'session' AND w.id = f.session"
    source = f"SELECT coalesce({order}, 0.0) AS key, f.id FROM {tables} WHERE {where}"
    return turn(db, source, values, place, at, wanted.limit, partial(_facts, db))


def _conditions(
    wanted: FactFilter, nodes: Iterable[str], rate: float
) -> tuple[str, dict[str, object]]:
    parts = ["f.kind = 'fact'"]
    values: dict[str, object] = {}
    for number, word in enumerate(wanted.text.split()):
        escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        values[f"word{number}"] = f"%{escaped}%"
        like = f"LIKE :word{number} ESCAPE '\\'"
        named = (
            f"SELECT n.a FROM row n WHERE n.kind = 'name' AND json_extract(n.data, '$.text') {like}"
        )
        parts.append(
            f"(json_extract(f.data, '$.statement') {like} OR f.a IN ({named}) OR f.b IN ({named}))"
        )
    if wanted.node:
        parts.append(
            "(f.a IN (SELECT value FROM json_each(:nodes))"
            " OR f.b IN (SELECT value FROM json_each(:nodes)))"
        )
        values["nodes"] = json.dumps(sorted(nodes))
    for key, path in (("persona", "$.persona"), ("circle", "$.circle")):
        if getattr(wanted, key):
            parts.append(f"json_extract(w.data, '{path}') = :{key}")
            values[key] = getattr(wanted, key)
    if wanted.predicate:
        parts.append("json_extract(f.data, '$.predicate') = :predicate")
        values["predicate"] = wanted.predicate
    for key, sign in (("since", ">="), ("until", "<")):
        if getattr(wanted, key) is not None:
            parts.append(f"json_extract(f.data, '$.said_at') {sign} :{key}")
            values[key] = getattr(wanted, key)
    if wanted.weakest > 0.0:
        parts.append(f"({_PINNED} OR {_AGE} <= :oldest)")
        values["oldest"] = _age(wanted.weakest, rate)
    if wanted.strongest < 1.0:
        parts.append(f"(NOT {_PINNED} AND {_AGE} > :youngest)")
        values["youngest"] = _age(wanted.strongest, rate)
    match wanted.status:
        case "pinned":
            parts.append(_PINNED)
        case "archived":
            parts.append("json_extract(f.data, '$.status') = 'archived'")
        case "superseded":
            parts.append(f"f.id IN ({_SUPERSEDED})")
        case "active":
            parts.append(
                f"json_extract(f.data, '$.status') = 'active' AND f.id NOT IN ({_SUPERSEDED})"
            )
    return " AND ".join(parts), values


def _age(retention: float, rate: float) -> float:
    """:data:`_AGE` at a retention: ``retention.retention`` solved for the age."""
    return (1.0 / retention**2 - 1.0) / 3.0 * DAY / rate if rate > 0.0 else math.inf


def replaced(db: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    """Which of some facts were replaced by others (owner's view)."""
    rows = db.execute(
        f"{_SUPERSEDED} AND s.value IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
    )
    return {id for (id,) in rows}


def superseded(db: sqlite3.Connection, ids: Iterable[str]) -> dict[str, list[Fact]]:
    """The facts that replace each of ``ids`` (owner's view)."""
    wanted = set(ids)
    found: dict[str, list[Fact]] = {}
    rows = db.execute(
        "SELECT data FROM row INDEXED BY row_supersedes"  # the planner cannot tell how few
        " WHERE kind = 'fact' AND json_array_length(data, '$.supersedes') > 0"
    )
    for (data,) in rows:
        fact = _fact(data)
        for old in wanted.intersection(fact.supersedes):
            found.setdefault(old, []).append(fact)
    return found


def fading(
    db: sqlite3.Connection, times: Sequence[float], threshold: float, rate: float, limit: int
) -> list[tuple[list[Fact], int]]:
    """Active facts whose retention is below ``threshold`` at some times, those first that are
    so first.

    The condition is ``retention.fades_at`` solved for the age (see there).

    Returns:
        For each of ``times`` at most ``limit`` facts, and how many there are.
    """
    if rate <= 0 or threshold <= 0:
        return [([], 0) for _ in times]
    rows = db.execute(
        "WITH fading AS (SELECT id, json_extract(data, '$.last_used')"
        " + :ages * json_extract(data, '$.half_life') AS ends FROM row WHERE kind = 'fact'"
        " AND json_extract(data, '$.status') = 'active' AND NOT json_extract(data, '$.pinned')),"
        " page AS (SELECT id, ends FROM fading ORDER BY ends, id LIMIT :limit)"
        " SELECT '', at.key, (SELECT count(*) FROM fading WHERE ends < at.value)"
        " FROM json_each(:times) AS at UNION ALL SELECT id, ends, 0 FROM page ORDER BY 2, 1",
        {"ages": _age(threshold, rate), "limit": limit, "times": json.dumps(list(times))},
    ).fetchall()
    totals = [count for id, _, count in rows if not id]
    ends = {id: at for id, at, _ in rows if id}
    facts = by_id(db, Fact.kind, ends, _fact)
    return [
        ([fact for fact in facts if ends[fact.id] < at], total)
        for at, total in zip(times, totals, strict=True)
    ]


def archived(db: sqlite3.Connection, before: float, limit: int) -> list[Fact]:
    """Facts that were archived before a time, longest ago first."""
    page = db.execute(
        "SELECT data FROM row WHERE kind = 'fact' AND json_extract(data, '$.status') = 'archived'"
        " AND json_extract(data, '$.archived_at') < ?"
        " ORDER BY json_extract(data, '$.archived_at'), id LIMIT ?",
        (before, limit),
    )
    return [_fact(data) for (data,) in page]


def superseded_before(db: sqlite3.Connection, before: float, limit: int) -> list[Fact]:
    """Active facts that a fact of their own Session replaced before a time.

    A replacement from elsewhere does not count: whoever cannot see it still needs the
    old fact.
    """
    page = db.execute(
        "SELECT DISTINCT f.id, f.data FROM row g, json_each(g.data, '$.supersedes') s"
        " JOIN row f ON f.kind = 'fact' AND f.id = s.value AND f.session = g.session"
        " WHERE g.kind = 'fact' AND json_array_length(g.data, '$.supersedes') > 0"
        " AND json_extract(g.data, '$.recorded_at') < ?"
        " AND json_extract(f.data, '$.status') = 'active'"
        " AND NOT json_extract(f.data, '$.pinned') ORDER BY f.id LIMIT ?",
        (before, limit),
    )
    return [_fact(data) for _, data in page]


def names(db: sqlite3.Connection, nodes: Iterable[str]) -> dict[str, str]:
    """What nodes, or those that are one with them, were called last, anywhere (owner's view)."""
    identities = Rows(db).identities()
    groups = {node: identities.nodes(node) for node in set(nodes)}
    rows = db.execute(
        "SELECT a, json_extract(data, '$.text') FROM row INDEXED BY row_a"
        " WHERE kind = 'name' AND a != '' AND a IN (SELECT value FROM json_each(?))"
        " ORDER BY json_extract(data, '$.last_at') DESC, id",
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


def sessions(db: sqlite3.Connection) -> list[Session]:
    """All Sessions."""
    rows = db.execute("SELECT data FROM row WHERE kind = 'session' ORDER BY id")
    return [decode("session", json.loads(data)) for (data,) in rows]  # type: ignore[misc]


def known(db: sqlite3.Connection, limit: int) -> tuple[dict[str, int], dict[str, int]]:
    """The users, and the entities, that most facts are about, and how many; most first."""
    rows = db.execute(
        "SELECT node, sum(n) FROM (SELECT a AS node, count(*) AS n FROM row"
        " WHERE kind = 'fact' AND a != '' GROUP BY a UNION ALL SELECT b, count(*) FROM row"
        " WHERE kind = 'fact' AND b != '' GROUP BY b) GROUP BY node ORDER BY 2 DESC, 1"
    ).fetchall()
    people = [(node, int(n)) for node, n in rows if not is_entity(node)]
    things = [(node, int(n)) for node, n in rows if is_entity(node)]
    return dict(people[:limit]), dict(things[:limit])


def named(db: sqlite3.Connection, text: str, limit: int) -> dict[str, int]:
    """The nodes that have a name with ``text`` in it, and how many facts are about each."""
    found = db.execute(
        "SELECT n.a, (SELECT count(*) FROM row f INDEXED BY row_a WHERE f.kind = 'fact'"
        " AND f.a = n.a AND f.a != '') + (SELECT count(*) FROM row f INDEXED BY row_b"
        " WHERE f.kind = 'fact' AND f.b = n.a AND f.b != '') AS facts FROM row n"
        " WHERE n.kind = 'name' AND instr(n.b, ?) > 0 GROUP BY n.a"
        " ORDER BY facts DESC, n.a LIMIT ?",
        (normalise(text), limit),
    ).fetchall()
    return {node: int(facts) for node, facts in found}


def predicates(db: sqlite3.Connection) -> dict[str, int]:
    """How many facts there are of each predicate."""
    rows = db.execute(
        "SELECT json_extract(data, '$.predicate') p, count(*) FROM row WHERE kind = 'fact'"
        " GROUP BY p ORDER BY 2 DESC, 1"
    )
    return dict(rows.fetchall())


def is_known(db: sqlite3.Connection, user: str) -> bool:
    """Whether somebody with this user id is in any row, or said anything."""
    query = "SELECT 1 FROM row WHERE kind = 'user' AND id = :user"
    query += " UNION ALL SELECT 1 FROM message WHERE sender = :user LIMIT 1"
    return db.execute(query, {"user": user}).fetchone() is not None


def undoable(db: sqlite3.Connection, actor: str) -> Iterator[int]:
    """Changes of ``actor`` that are no undo and have not been undone, newest first."""
    for (id,) in db.execute(
        "SELECT id FROM change c WHERE actor = ? AND undoes IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM change u WHERE u.undoes = c.id) ORDER BY id DESC",
        (actor,),
    ):
        yield id


def _facts(db: sqlite3.Connection, rows: Iterable[Place]) -> list[Fact]:
    return by_id(db, Fact.kind, (row.id for row in rows), _fact)


def _fact(data: str) -> Fact:
    return decode("fact", json.loads(data))  # type: ignore[return-value]


def revision(db: sqlite3.Connection) -> tuple[object, ...]:
    """What is another whenever rows are: for what is worked out from them and kept."""
    # Forgetting somebody for good is no change, but leaves a mark.
    return last_change(db), *Rows(db).erasures()


def counts(db: sqlite3.Connection) -> dict[str, int]:
    """How many rows of each kind, messages, buffered messages, changes there are.

    Records are counted apart from episodes, and so are the messages that are not there
    any more because they were old (``thinned``).
    """
    found = dict(db.execute("SELECT kind, count(*) FROM row GROUP BY kind").fetchall())
    for key, query in (
        ("messages", "SELECT count(*) FROM message"),
        ("buffered", "SELECT count(*) FROM message WHERE batch IS NULL"),
        ("changes", "SELECT count(*) FROM change"),
    ):
        (found[key],) = db.execute(query).fetchone()
    levels = chronicle.levels(db)
    found[Episode.kind] = levels.pop(EPISODE, 0)
    return found | {"records": sum(levels.values()), "thinned": noted(db, THINNED_COUNT)}
