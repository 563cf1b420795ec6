"""Looking through the facts: filters, order, pages. Reads only.

Everything a caller passes is bound as a parameter; the SQL is put together from the
constants in this module.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from ..model import Change, Fact, Session, decode
from ..retention import DAY
from .rows import read_change

ORDERS: dict[str, str] = {
    "recent": "json_extract(f.data, '$.recorded_at') DESC, f.id",
    "said": "json_extract(f.data, '$.said_at') DESC, f.id",
    "importance": "json_extract(f.data, '$.importance') DESC, f.id",
    # Retention falls with age / half-life, whatever the decay rate.
    "strength": (
        "json_extract(f.data, '$.pinned') DESC,"
        " (:now - json_extract(f.data, '$.last_used')) / json_extract(f.data, '$.half_life'), f.id"
    ),
}

_SUPERSEDED = (
    "SELECT s.value FROM row g, json_each(g.data, '$.supersedes') s WHERE g.kind = 'fact'"
    " AND json_array_length(g.data, '$.supersedes') > 0"
)
"""What was replaced. Archiving the newer fact does not bring the older one back."""


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts are wanted; an empty field asks for nothing.

    Attributes:
        text: Words that the statement, or a name of subject or object, contains.
        node: Subject or object.
        status: ``active`` (and not superseded), ``superseded`` or ``archived``.
        order: A key of :data:`ORDERS`.
    """

    text: str = ""
    node: str = ""
    persona: str = ""
    circle: str = ""
    predicate: str = ""
    status: str = ""
    order: str = "recent"
    limit: int = 50
    offset: int = 0


def find(db: sqlite3.Connection, wanted: FactFilter, now: float) -> tuple[list[Fact], int]:
    """One page of facts, and how many there are on all pages."""
    where, values = _conditions(wanted)
    tables = "row f JOIN row w ON w.kind = 'session' AND w.id = f.session"
    (total,) = db.execute(f"SELECT count(*) FROM {tables} WHERE {where}", values).fetchone()
    order = ORDERS.get(wanted.order, ORDERS["recent"])
    page = db.execute(
        f"SELECT f.data FROM {tables} WHERE {where} ORDER BY {order} LIMIT :limit OFFSET :offset",
        {**values, "now": now, "limit": wanted.limit, "offset": wanted.offset},
    )
    return [_fact(data) for (data,) in page], int(total)


def _conditions(wanted: FactFilter) -> tuple[str, dict[str, object]]:
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
        parts.append("(f.a = :node OR f.b = :node)")
        values["node"] = wanted.node
    for key, path in (("persona", "$.persona"), ("circle", "$.circle")):
        if getattr(wanted, key):
            parts.append(f"json_extract(w.data, '{path}') = :{key}")
            values[key] = getattr(wanted, key)
    if wanted.predicate:
        parts.append("json_extract(f.data, '$.predicate') = :predicate")
        values["predicate"] = wanted.predicate
    match wanted.status:
        case "archived":
            parts.append("json_extract(f.data, '$.status') = 'archived'")
        case "superseded":
            parts.append(f"f.id IN ({_SUPERSEDED})")
        case "active":
            parts.append(
                f"json_extract(f.data, '$.status') = 'active' AND f.id NOT IN ({_SUPERSEDED})"
            )
    return " AND ".join(parts), values


def superseded(db: sqlite3.Connection, ids: Iterable[str]) -> dict[str, list[Fact]]:
    """The facts that replace each of ``ids`` (owner's view)."""
    wanted = set(ids)
    found: dict[str, list[Fact]] = {}
    rows = db.execute(
        "SELECT data FROM row WHERE kind = 'fact' AND json_array_length(data, '$.supersedes') > 0"
    )
    for (data,) in rows:
        fact = _fact(data)
        for old in wanted.intersection(fact.supersedes):
            found.setdefault(old, []).append(fact)
    return found


def fading(
    db: sqlite3.Connection,
    before: float,
    threshold: float,
    rate: float,
    limit: int,
    offset: int = 0,
) -> tuple[list[Fact], int]:
    """Active facts whose retention is below ``threshold`` at ``before``, weakest first.

    The condition is ``retention.fades_at`` solved for the age (see there).

    Returns:
        At most ``limit`` facts, and how many there are.
    """
    if rate <= 0 or threshold <= 0:
        return [], 0
    values = {
        "before": before,
        "ages": (1.0 / threshold**2 - 1.0) / 3.0 * DAY / rate,
        "limit": limit,
        "offset": offset,
    }
    age = "(:before - json_extract(data, '$.last_used')) / json_extract(data, '$.half_life')"
    where = (
        "kind = 'fact' AND json_extract(data, '$.status') = 'active'"
        f" AND NOT json_extract(data, '$.pinned') AND {age} > :ages"
    )
    (total,) = db.execute(f"SELECT count(*) FROM row WHERE {where}", values).fetchone()
    page = db.execute(
        f"SELECT data FROM row WHERE {where} ORDER BY {age} DESC, id LIMIT :limit OFFSET :offset",
        values,
    )
    return [_fact(data) for (data,) in page], int(total)


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
    """What nodes were called last, anywhere (owner's view)."""
    found: dict[str, str] = {}
    for node in set(nodes):
        row = db.execute(
            "SELECT json_extract(data, '$.text') FROM row WHERE kind = 'name' AND a = ?"
            " ORDER BY json_extract(data, '$.last_at') DESC, id LIMIT 1",
            (node,),
        ).fetchone()
        if row:
            found[node] = row[0]
    return found


def sessions(db: sqlite3.Connection) -> list[Session]:
    """All Sessions."""
    rows = db.execute("SELECT data FROM row WHERE kind = 'session' ORDER BY id")
    return [decode("session", json.loads(data)) for (data,) in rows]  # type: ignore[misc]


def predicates(db: sqlite3.Connection) -> dict[str, int]:
    """How many facts there are of each predicate."""
    rows = db.execute(
        "SELECT json_extract(data, '$.predicate') p, count(*) FROM row WHERE kind = 'fact'"
        " GROUP BY p ORDER BY 2 DESC, 1"
    )
    return dict(rows.fetchall())


def last_undoable(db: sqlite3.Connection, actor: str) -> Change | None:
    """The newest change of ``actor`` that is no undo and has not been undone."""
    row = db.execute(
        "SELECT id FROM change c WHERE actor = ? AND undoes IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM change u WHERE u.undoes = c.id) ORDER BY id DESC LIMIT 1",
        (actor,),
    ).fetchone()
    return read_change(db, row[0]) if row else None


def _fact(data: str) -> Fact:
    return decode("fact", json.loads(data))  # type: ignore[return-value]


def counts(db: sqlite3.Connection) -> dict[str, int]:
    """How many rows of each kind, messages, buffered messages, changes there are."""
    found = dict(db.execute("SELECT kind, count(*) FROM row GROUP BY kind").fetchall())
    for key, query in (
        ("messages", "SELECT count(*) FROM message"),
        ("buffered", "SELECT count(*) FROM message WHERE batch IS NULL"),
        ("changes", "SELECT count(*) FROM change"),
    ):
        (found[key],) = db.execute(query).fetchone()
    return found
