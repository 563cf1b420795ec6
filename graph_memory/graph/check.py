"""Whether the graph says what the journal says: every table, every id, every value."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from ..journal import Journal, Rows
from ..model import Entity, Episode, Fact, Mention, Name, Participation, Session, User
from . import records, schema
from .engine import Connection
from .records import NodeKey, Portrait, Values

if TYPE_CHECKING:
    from .store import GraphStore

Tables = dict[str, Counter[Values]]
"""Records by table; an edge's begin with the ids of its ends."""


async def check(store: GraphStore, journal: Journal) -> list[str]:
    """Compare a graph that has caught up with the journal; reads both as a whole.

    Returns:
        What differs, a line for each table; empty if nothing does.

    Raises:
        GraphError: The graph is away.
    """
    await store.settle()

    def read() -> Tables:
        with journal.snapshot() as snapshot:
            return from_journal(snapshot.rows)

    wanted, found = await asyncio.to_thread(read), await store.ask(from_graph)
    return await asyncio.to_thread(differences, wanted, found)


def differences(wanted: Tables, found: Tables) -> list[str]:
    """What two sets of records differ in, by table."""
    lines = []
    for table in sorted(wanted.keys() | found.keys()):
        missing = wanted.get(table, Counter()) - found.get(table, Counter())
        surplus = found.get(table, Counter()) - wanted.get(table, Counter())
        if missing or surplus:
            shown = f"missing {_some(missing)}; surplus {_some(surplus)}"
            lines.append(f"{table}: {sum(missing.values())}/{sum(surplus.values())}: {shown}")
    return lines


def _some(records: Counter[Values]) -> str:
    return ", ".join(repr(record) for record in list(records)[:3]) or "none"


def from_journal(rows: Rows) -> Tables:
    """Records that follow from the journal's rows."""
    identities = rows.identities()
    tables: Tables = {name: Counter() for name in (*schema.NODES, *schema.EDGES)}
    listed: dict[NodeKey, Values] = {}
    joined: set[NodeKey] = set()
    for kind in (Fact, Mention, Participation, Episode):
        for row in rows.scan(kind):
            if edge := records.edge(row, identities):
                ends = (edge.source[1], edge.target[1])
                tables[edge.table][*ends, *edge.values] += 1
                joined.update((edge.source, edge.target))
    for session in rows.scan(Session):
        listed[schema.SESSION, session.id] = records.session_values(session)
    for episode in rows.scan(Episode):
        listed[schema.EPISODE, episode.id] = records.episode_values(episode)
    people = {(schema.USER, row.id) for row in rows.scan(User)}
    things = {(schema.ENTITY, identities.canonical(row.id)) for row in rows.scan(Entity)}
    keys = (people | things | joined) - listed.keys()
    portraits: dict[str, Portrait] = defaultdict(Portrait)
    for name in rows.scan(Name):
        portraits[identities.canonical(name.node)].add(name)
    for mention in rows.scan(Mention):
        portraits[identities.canonical(mention.entity)].add(mention)
    for key in keys:
        values = records.unlisted(key)
        if key[0] in (schema.USER, schema.ENTITY):
            portrait = portraits[key[1]]
            values = records.portrait_values(key, portrait, key in people | things)
        listed[key] = values
    for (label, _), values in listed.items():
        tables[label][values] += 1
    return tables


def from_graph(reader: Connection) -> Tables:
    """All records of the graph. Runs on the reader's thread."""
    tables: Tables = {}
    with reader.transaction(read_only=True):
        for node in schema.NODES.values():
            columns = ", ".join(f"n.{name}" for name, _ in node.columns)
            found = reader.run(f"MATCH (n:{node.name}) RETURN {columns}")
            tables[node.name] = Counter(tuple(row) for row in found)
        for edge in schema.EDGES.values():
            columns = ", ".join(f"f.{name}" for name, _ in edge.columns)
            tables[edge.name] = Counter()
            for source, target in edge.pairs:
                found = reader.run(
                    f"MATCH (a:{source})-[f:{edge.name}]->(b:{target}) RETURN a.id, b.id, {columns}"
                )
                tables[edge.name].update(tuple(row) for row in found)
    return tables
