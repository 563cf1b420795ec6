"""Everything about one person or thing, as the owner sees it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..errors import NotFoundError
from ..identity import Identities
from ..model import (
    Entity,
    Fact,
    Mention,
    Name,
    Participation,
    Session,
    User,
    is_entity,
)
from ..store import Journal, Rows, queries
from ..store.queries import FactFilter
from .facts import Called, FactLine, Library

MAX_FACTS = 300
"""Facts of an entity view; the newest, with whatever they replaced among these."""


@dataclass(frozen=True, slots=True)
class Alias:
    """What a node is called somewhere.

    Attributes:
        node: The node of that name: of merged ones, which.
    """

    text: str
    node: str
    session: Session
    first_at: float
    last_at: float


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where somebody spoke or something came up, and how often."""

    session: Session
    first_at: float
    last_at: float
    count: int


@dataclass(frozen=True, slots=True)
class Thread:
    """Facts of which each replaces those before, oldest first."""

    lines: tuple[FactLine, ...]

    @property
    def newest(self) -> FactLine:
        return self.lines[-1]


@dataclass(frozen=True, slots=True)
class EntityView:
    """Everything about one person or thing.

    Attributes:
        node: Of merged ones the survivor.
        type: Of an entity, the kind it was taken for last; ``user`` of a person who chats.
        names: What it is called, last used first.
        members: Of merged ones, all but the survivor.
        accounts: Of a person, the other accounts.
        total: How many facts there are about it.
    """

    node: str
    name: str
    type: str
    names: list[Alias]
    members: list[Called]
    accounts: list[Called]
    places: list[Whereabouts]
    threads: list[Thread]
    total: int


class EntityViews:
    """Everything about one node at a time."""

    def __init__(self, journal: Journal, library: Library) -> None:
        self._journal = journal
        self._library = library

    async def view(self, node: str) -> EntityView:
        """Everything about a node; of merged ones about all of them.

        Raises:
            NotFoundError: There is no such user or entity.
        """

        def work(db: sqlite3.Connection) -> tuple[EntityView, list[Fact]]:
            rows = Rows(db)
            if rows.get(Entity if is_entity(node) else User, node) is None:
                raise NotFoundError(f"there is nobody and nothing {node}")
            identities = rows.identities()
            one = identities.canonical(node)
            nodes = sorted(identities.nodes(one))
            newest = queries.find_facts(db, FactFilter(node=one, limit=MAX_FACTS), 0.0)
            return _view(db, rows, identities, one, nodes, newest.total), newest.items

        found, facts = await self._journal.look(work)
        found.threads.extend(_threads(await self._library.lines(facts)))
        return found

    async def search(self, text: str, limit: int = 12) -> list[Called]:
        """The people and things one of whose names contains a text, best known first."""

        def work(db: sqlite3.Connection) -> list[Called]:
            found = queries.search_names(db, text, limit)
            names = queries.names(db, found)
            return [Called(node, names.get(node, node), n) for node, n in found.items()]

        return await self._journal.look(work)


def _view(
    db: sqlite3.Connection,
    rows: Rows,
    identities: Identities,
    node: str,
    nodes: list[str],
    total: int,
) -> EntityView:
    sessions: dict[str, Session] = {}

    def session(id: str) -> Session:
        if id not in sessions:
            sessions[id] = rows.get(Session, id) or Session(id, id, "")
        return sessions[id]

    names = [name for each in nodes for name in rows.find(Name, a=each)]
    mentions = [each for one in nodes for each in rows.find(Mention, a=one)]
    spoken = rows.find(Participation, a=node) if not is_entity(node) else []
    newest = max(mentions, key=lambda mention: (mention.last_at, mention.id), default=None)
    others = identities.accounts(node) - {node} if not is_entity(node) else set()
    called = queries.names(db, [node])
    return EntityView(
        node,
        called.get(node, node),
        newest.type if newest else "user" if not is_entity(node) else "",
        sorted(
            (Alias(n.text, n.node, session(n.session), n.first_at, n.last_at) for n in names),
            key=lambda alias: (-alias.last_at, alias.text),
        ),
        [_called(rows, each) for each in nodes if each != node],
        [_called(rows, each) for each in sorted(others)],
        _places([*mentions, *spoken], session),
        [],
        total,
    )


def _called(rows: Rows, node: str) -> Called:
    return Called(node, rows.called(node) or node, len(rows.about(node)))


def _places(
    found: Iterable[Mention | Participation], session: Callable[[str], Session]
) -> list[Whereabouts]:
    """Where some rows are of, once for each Session, most recent first."""
    places: dict[str, Whereabouts] = {}
    for row in found:
        count = row.messages if isinstance(row, Participation) else row.count
        old = places.get(row.session)
        places[row.session] = Whereabouts(
            session(row.session),
            min(row.first_at, old.first_at) if old else row.first_at,
            max(row.last_at, old.last_at) if old else row.last_at,
            count + (old.count if old else 0),
        )
    return sorted(places.values(), key=lambda place: (-place.last_at, place.session.id))


def begun(line: FactLine) -> float:
    """Since when a fact is true, as far as is known."""
    return line.fact.said_at if line.fact.valid_from is None else line.fact.valid_from


def _threads(lines: list[FactLine]) -> list[Thread]:
    """Facts with those they replace, the thread with the newest fact first."""
    by_id = {line.fact.id: line for line in lines}
    head: dict[str, str] = {id: id for id in by_id}

    def top(id: str) -> str:
        while head[id] != id:
            id = head[id]
        return id

    for line in lines:
        for old in line.fact.supersedes:
            if old in by_id:
                head[top(old)] = top(line.fact.id)
    threads: dict[str, list[FactLine]] = {}
    for line in lines:
        threads.setdefault(top(line.fact.id), []).append(line)
    made = [Thread(tuple(sorted(some, key=_place))) for some in threads.values()]
    return sorted(made, key=lambda thread: (-begun(thread.newest), thread.newest.fact.id))


def _place(line: FactLine) -> tuple[bool, float, str]:
    """What stands comes after what was replaced, whenever either began."""
    return not line.superseded, begun(line), line.fact.id
