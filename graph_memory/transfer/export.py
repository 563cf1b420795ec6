"""Export of a memory: all of it, what there is of one person, or what one may see."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial
from itertools import batched
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..deletion.plan import DeletionPlan, plan_for_user
from ..model import (
    Asker,
    Entity,
    Episode,
    Fact,
    Mention,
    Name,
    Row,
    Session,
    SessionRow,
    Status,
    User,
    encode,
    registered,
)
from ..privacy.redaction import disclosed
from ..privacy.scope import Attendance, Policy, Rank
from ..store import Rows, contents
from ..store.connection import reading
from ..store.messages import by_ids
from ..store.rows import PAGE
from ..visible_rows import VisibleRows, view_for
from . import files
from .file_format import Piece, end, header, line, pack

_PAUSE = 1_000
"""Lines between two looks at whether to go on."""
_FORMAT = "graph-memory-mine"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and where; ``counts`` of messages and each kind of row."""

    path: Path
    lines: int
    counts: Counter[str]


def write_export(
    directory: Path,
    journal: Path,
    person: str,
    at: float,
    look: Callable[[], None],
    facts: Collection[str] = (),
) -> Exported:
    """Write a memory, or what there is of one person, into ``exports/``. Blocks.

    Args:
        directory, journal: The data directory, and the journal's file.
        look: Called between lines; raises to have it end.
        facts: Ids of facts, if it is to be these alone.

    Raises:
        JournalError: It could not be read or written; there is no file then.
    """
    scope = "facts" if facts else "person" if person else "everything"
    path = files.target(directory, scope, at)
    counts: Counter[str] = Counter()
    with reading(journal) as db, files.writing(path) as file:
        file.write(line(header(scope, person)))
        some = of_person(db, person) if person else of_facts(db, facts)
        for number, piece in enumerate(some if person or facts else everything(db)):
            data = pack(piece)
            counts[data.get("type") or data["kind"]] += 1
            file.write(line(data))
            if number % _PAUSE == 0:
                look()
        file.write(line(end(1 + counts.total())))
    return Exported(path, 2 + counts.total(), counts)


def everything(db: sqlite3.Connection) -> Iterator[Piece]:
    """All pieces of a journal, in the order of a file."""
    yield from contents.rows(db)
    yield from contents.claims(db)
    yield from contents.messages(db)
    yield from contents.presences(db)
    yield from contents.every_pause(db)


def of_facts(db: sqlite3.Connection, ids: Collection[str]) -> Iterator[Piece]:
    """Some facts and the messages they rest on, with what is needed to read them."""
    facts = Rows(db).some(Fact, ids)
    chosen = {fact.id for fact in facts}
    chosen |= {user for fact in facts for user in (fact.subject, fact.object)}
    told = {id for fact in facts for id in fact.evidence}
    return _readable(db, lambda row: isinstance(row, Fact | User) and row.id in chosen, told)


def of_person(db: sqlite3.Connection, user: str) -> Iterator[Piece]:
    """What forgetting a person would touch, with what is needed to read it."""
    gone = plan_for_user(db, user)
    yield from _readable(db, partial(_is_touched, gone), gone.ids, gone.sessions)
    yield from (each for each in contents.presences(db) if each.user == user)
    yield from (pause for pause in contents.every_pause(db) if pause[1] == user)


def _readable(
    db: sqlite3.Connection,
    is_chosen: Callable[[Row], bool],
    told: Collection[int],
    places: Collection[str] = (),
) -> Iterator[Piece]:
    """Some rows and messages, and what is needed to read them.

    That is the Sessions they are from, the things they are about and their names there.
    """
    query = "SELECT session, batch FROM message WHERE id IN (SELECT value FROM json_each(?))"
    found = db.execute(f"{query} GROUP BY session, batch", (json.dumps([*told]),)).fetchall()
    sessions, batches = {*places, *(each for each, _ in found)}, {batch for _, batch in found}
    nodes: set[tuple[str, str]] = set()
    for row in filter(is_chosen, contents.rows(db)):
        sessions.add(session := getattr(row, "session", ""))
        if isinstance(row, Fact):
            nodes |= {(session, row.subject), (session, row.object)}
    entities = {node for _, node in nodes}
    for row in contents.rows(db):
        if is_chosen(row) or _is_needed(row, sessions, nodes, entities):
            yield row
    yield from (batch for batch in contents.claims(db) if batch.id in batches)
    for ids in batched(sorted(told), PAGE):
        yield from by_ids(db, ids)


def _is_touched(gone: DeletionPlan, row: Row) -> bool:
    if isinstance(row, Session | Entity):
        return False  # they go along with what is from them, or about them
    data = encode(row)
    return gone.left(row.kind, row.id, data) != data


def _is_needed(
    row: Row, sessions: set[str], nodes: set[tuple[str, str]], entities: set[str]
) -> bool:
    match row:
        case Session():
            return row.id in sessions
        case Entity():
            return row.id in entities
        case Name():
            return (row.session, row.node) in nodes
        case Mention():
            return (row.session, row.entity) in nodes
        case _:
            return False


def lines_for(
    db: sqlite3.Connection,
    asker: Asker,
    policy: Policy,
    attendance: Attendance,
    zone: tzinfo,
    now: float,
    relations: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """What an asker may see, as the lines of a file, decided row by row as in recall.

    ``relations`` are the owner's own predicates, and what they are called.

    No numbers of anything that others said get in, not even ids, which tell how much there is.
    """
    yield line({"kind": "header", "format": _FORMAT, "version": _VERSION})
    view_of = view_for(asker, policy, attendance)
    seen = list(filter(view_of, contents.sessions(db).values()))
    visible = VisibleRows(Rows(db), asker, view_of)
    outdated = set[str]()
    for session in seen:
        for fact in filter(visible.shows, visible.rows.find(Fact, session=session.id)):
            outdated.update(fact.supersedes, [fact.id] * fact.is_over(now))
    count = 1
    for session in seen:
        for data in _session(db, session, visible, outdated, relations):
            count += 1
            data["time"] = datetime.fromtimestamp(data.pop("at"), zone).isoformat()
            yield line({**data, "chat": session.title or session.circle.split(":", 1)[-1]})
    yield line({"kind": "end", "lines": count})


def _session(
    db: sqlite3.Connection,
    session: Session,
    visible: VisibleRows,
    outdated: set[str],
    relations: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    facts = filter(visible.shows, visible.rows.find(Fact, session=session.id))
    for fact in sorted(facts, key=lambda fact: (fact.said_at, fact.id)):
        if fact.status == Status.ACTIVE:
            more: dict[str, Any] = {"outdated": True} if fact.id in outdated else {}
            if fact.predicate in relations:
                more["relation"] = relations[fact.predicate]
            yield {"kind": "fact", "at": fact.said_at, "text": fact.statement, **more}
    yield from _own(visible, session)
    episodes = filter(visible.shows, visible.rows.find(Episode, session=session.id))
    for episode in sorted(episodes, key=lambda episode: (episode.started_at, episode.id)):
        if episode.summary:
            yield {"kind": "summary", "at": episode.started_at, "text": episode.summary}
    for said in contents.messages(db, session.id):
        # As in recall: the bot's own lines are none of its memories.
        if said.is_human and visible.shows(said):
            text = disclosed(said, visible.asker).text
            yield {"kind": "message", "at": said.at, "name": said.name, "text": text}


def _own(visible: VisibleRows, session: Session) -> Iterator[dict[str, Any]]:
    """What is kept of who asks and shown to nobody else (``Row.exported``)."""
    for kind in registered():
        if not kind.exported:
            continue
        own = [
            row
            for row in visible.rows.find(kind, session=session.id)
            if isinstance(row, SessionRow)
            and all(getattr(row, field) in visible.asker.accounts for field in kind.nodes)
            and visible.rank(row) is Rank.OWN
        ]
        for row in sorted(own, key=lambda row: (row.span, row.id)):
            if text := getattr(row, kind.words[0]):
                yield {"kind": kind.exported, "at": row.span[0], "text": text}
