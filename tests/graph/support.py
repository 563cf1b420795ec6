"""What the graph's tests share: a journal, a graph, and rows of every kind."""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from graph_memory.graph import GraphStore
from graph_memory.graph.database import EDGES, NODES, Database, build
from graph_memory.model import Change, Entity, Participation, Row, Session, User, stable_id
from graph_memory.store import Journal
from tests.makers import T0, entity, fact, group, mention, name, private, put, user

ZHANG = user("10001")
LI = user("10002")
YOGA = entity("瑜伽")
DOCKER = entity("Docker")
CHAT = private("10001")
GROUP = group("700")


def part(session: Session, person: str, messages: int = 1) -> Participation:
    """That a user spoke."""
    id = stable_id("p", session.id, person)
    return Participation(id, session.id, person, T0, T0 + 60, messages)


def world() -> list[Row]:
    """张三, who likes yoga and knows 李四, in a private chat and a group."""
    return [
        CHAT, GROUP, User(ZHANG), User(LI), Entity(YOGA), Entity(DOCKER), name(CHAT, ZHANG, "张三"),
        name(GROUP, LI, "李四"), name(CHAT, YOGA, "瑜伽"), name(GROUP, DOCKER, "Docker"),
        mention(CHAT, YOGA), mention(GROUP, DOCKER, "thing"), part(CHAT, ZHANG, 3),
        part(GROUP, ZHANG, 2), part(GROUP, LI),
        fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽", importance=0.8),
        fact(CHAT, ZHANG, YOGA, "张三每周三练瑜伽", predicate="habit"),
        fact(GROUP, ZHANG, LI, "张三是李四的同事", predicate="friend_of"),
        fact(GROUP, DOCKER, YOGA, "Docker 和瑜伽都需要练习", predicate="other"),
        replace(fact(CHAT, ZHANG, DOCKER, "张三讨厌 Docker"), status="archived", archived_at=T0),
    ]  # fmt: skip


def build_at(path: Path, journal: Journal) -> Database:
    """A new graph of everything in the journal. Blocks."""
    with journal.snapshot() as rows:
        return build(path, rows, rows.identities().canonical, threading.Event())


Tables = dict[str, Counter[tuple[object, ...]]]
"""Records by table; an edge's begin with the ids of its ends."""


def contents(database: Database) -> Tables:
    """All that a graph holds."""
    tables: Tables = {}
    for table, shown in NODES.items():
        columns = ", ".join(f"n.{name}" for name in shown)
        tables[table] = Counter(map(tuple, database.run(f"MATCH (n:{table}) RETURN {columns}")))
    for table, (told, pairs) in EDGES.items():
        columns = ", ".join(f"f.{name}" for name in told)
        tables[table] = Counter()
        for source, target in pairs:
            ends = f"(a:{source})-[f:{table}]->(b:{target})"
            found = database.run(f"MATCH {ends} RETURN a.id, b.id, {columns}")
            tables[table].update(map(tuple, found))
    return tables


async def held(store: GraphStore) -> Tables:
    """All that a graph holds which reflects the whole journal."""
    await store.settle()

    def look() -> Tables:
        assert store._database is not None
        return contents(store._database)

    return await asyncio.get_running_loop().run_in_executor(store._reader, look)


async def differences(store: GraphStore) -> list[str]:
    """Tables in which a graph that is up to date differs from one built anew."""
    settled = await held(store)
    await store.rebuild()
    built = await held(store)
    return [
        f"{table}: lacks {list(built[table] - settled[table])[:3]},"
        f" has too much {list(settled[table] - built[table])[:3]}"
        for table in built
        if built[table] != settled[table]
    ]


@asynccontextmanager
async def opened(directory: Path, *rows: Row) -> AsyncIterator[tuple[Journal, GraphStore]]:
    """A journal with ``rows`` and a graph that follows it."""
    directory.mkdir(parents=True, exist_ok=True)
    journal = await Journal.open(directory / "journal.sqlite3")
    try:
        if rows:
            await put(journal, *rows)
        store = GraphStore(directory, journal)
        journal.listen(lambda event: store.outdate() if isinstance(event, Change) else None)
        await store.start()
        try:
            await store.settle()
            yield journal, store
        finally:
            await store.close()
    finally:
        await journal.close()
