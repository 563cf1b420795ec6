"""The life of a graph: wait, build, follow, swap, fail, recover, close."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from graph_memory.errors import ClosedError, GraphError
from graph_memory.graph import GraphNode, GraphQueries, GraphState, GraphStore, graph_store
from graph_memory.graph.database import Database
from graph_memory.model import User
from graph_memory.store import Journal, copies
from tests.makers import T0, fact, name, user
from tests.waiting import until

from .support import CHAT, DOCKER, GROUP, LI, YOGA, ZHANG, differences, held, opened, put, world

Pair = tuple[Journal, GraphStore]


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    async with opened(tmp_path, *world()) as found:
        yield found


@pytest.fixture
async def journal(journal: Journal) -> Journal:
    await put(journal, *world())
    return journal


@pytest.fixture
async def store(tmp_path: Path, journal: Journal) -> AsyncIterator[GraphStore]:
    """A graph that is not started yet."""
    store = GraphStore(tmp_path, journal)
    yield store
    await store.close()


def files(directory: Path) -> list[str]:
    """Names of the graph's files; beside one that is open there may be its log."""
    return sorted({path.name.removesuffix(".wal") for path in (directory / "graph").iterdir()})


async def people(store: GraphStore, query: str = "") -> list[GraphNode]:
    return await store.ask(lambda graph: graph.nodes(query))


# ------------------------------------------------------------------ life cycle


async def test_it_is_built_when_somebody_asks(tmp_path: Path, store: GraphStore) -> None:
    assert store.state is GraphState.CLOSED
    with pytest.raises(GraphError, match="closed"):
        await people(store)
    await store.start()
    await asyncio.sleep(0.05)
    assert store.state is GraphState.WAITING
    assert files(tmp_path) == []
    asking = asyncio.create_task(people(store, "张三"))
    await asyncio.sleep(0)
    assert store.state is GraphState.BUILDING
    assert [node.id for node in await asking] == [ZHANG]
    assert store.state is GraphState.READY
    assert files(tmp_path) == ["graph-1.kuzu"]
    await store.close()
    await store.close()
    assert store.state is GraphState.CLOSED
    assert files(tmp_path) == []
    for question in (lambda: people(store), store.settle, store.rebuild):
        with pytest.raises(GraphError, match="closed"):
            await question()
    with pytest.raises(ClosedError):
        await store.start()


async def test_a_graph_that_nobody_asks_is_closed_and_built_anew(tmp_path, store, monkeypatch):
    monkeypatch.setattr(graph_store, "REST", 0.3)
    await store.start()
    for number in (1, 2):
        assert [node.id for node in await people(store, "张三")] == [ZHANG]
        assert files(tmp_path) == [f"graph-{number}.kuzu"]
        await until(lambda: store.state is GraphState.WAITING)
        assert files(tmp_path) == []


async def test_who_asks_while_it_is_closed_is_answered(store, monkeypatch):
    await store.start()
    await people(store)
    replace, closes, goes_on = store._replace, threading.Event(), threading.Event()

    def slow(*new: Any) -> None:
        replace(*new)
        closes.set()
        goes_on.wait(10)

    monkeypatch.setattr(store, "_replace", slow)
    monkeypatch.setattr(graph_store, "REST", 0.0)
    store._job.wake()
    await asyncio.to_thread(closes.wait)
    monkeypatch.setattr(graph_store, "REST", 600.0)
    asking = asyncio.create_task(people(store, "张三"))
    await asyncio.sleep(0.05)
    goes_on.set()
    assert [node.id for node in await asking] == [ZHANG]


async def test_a_question_does_not_wait_for_ever(store, monkeypatch):
    monkeypatch.setattr(graph_store, "PATIENCE", 0.01)
    hanging = asyncio.Event()

    async def refresh(_: Any) -> None:
        await hanging.wait()

    monkeypatch.setattr(GraphStore, "_refresh", refresh)
    await store.start()
    with pytest.raises(GraphError, match="being built"):
        await people(store)
    hanging.set()


async def test_what_was_left_is_deleted(tmp_path: Path, store: GraphStore) -> None:
    """Files of a process that was killed, and of the versions that kept theirs."""
    home, outside = tmp_path / "graph", tmp_path / "outside"
    (home / "graph-3.csv").mkdir(parents=True)
    (home / "graph-3.csv" / "User.csv").write_text("张三")
    outside.mkdir()
    (outside / "keep").write_text("x")
    (home / "graph-5.kuzu").symlink_to(outside)
    for left in ("graph-1.kuzu", "graph-1.kuzu.wal", "graph-1.seal", "graph-2.kuzu"):
        (home / left).write_bytes(b"\0broken\xff" * 1_000)
    (home / "mine.txt").write_text("not ours")
    await store.start()
    assert files(tmp_path) == ["mine.txt"]
    assert (outside / "keep").exists()
    assert len(await people(store, "张三")) == 1


async def test_closing_at_once_leaves_no_file(tmp_path: Path, journal: Journal) -> None:
    for pause in (None, 0.0, 0.02):
        store = GraphStore(tmp_path, journal)
        await store.start()
        asking = asyncio.create_task(people(store))
        if pause is not None:
            await asyncio.sleep(pause)
        await store.close()
        assert files(tmp_path) == []
        await asyncio.gather(asking, return_exceptions=True)


async def test_closing_waits_for_questions(tmp_path: Path) -> None:
    """Closing Kùzu under a query would crash the process."""
    async with opened(tmp_path, *world()) as (_, store):
        asked = [asyncio.create_task(people(store, "三")) for _ in range(50)]
        await asyncio.sleep(0)
        await store.close()
        answers = await asyncio.gather(*asked)
    assert all(len(answer) == 1 for answer in answers)


async def test_closing_that_is_cancelled_still_deletes(tmp_path: Path) -> None:
    async with opened(tmp_path, *world()) as (_, store):
        closing = asyncio.create_task(store.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await asyncio.to_thread(store._writer.shutdown)
    assert files(tmp_path) == []


# ------------------------------------------------------------------ keeping up


async def test_a_question_gets_what_has_just_changed(pair: Pair) -> None:
    journal, store = pair
    wang = user("10003")
    change = await put(
        journal, User(wang), name(GROUP, wang, "王五"), fact(GROUP, wang, LI, "认识")
    )
    assert store.applied < change.id, "nobody has asked"
    assert [node.id for node in await people(store, "王五")] == [wang]
    assert store.applied == change.id
    await put(journal, replace(name(GROUP, wang, "老王"), last_at=T0 + 1))
    assert [node.name for node in await people(store, "王五")] == ["老王"]
    await put(journal, drop=world()[2:])
    assert (await held(store))["KNOWS"].total() == 1


async def test_a_question_in_a_hurry_is_answered_by_the_graph_there_is(pair: Pair) -> None:
    journal, store = pair
    await put(journal, name(GROUP, LI, "小李", T0 + 9))
    assert (await store.ask(lambda graph: graph.nodes("李"), fresh=0))[0].name == "李四"
    async with asyncio.timeout(20):
        while (await store.ask(lambda graph: graph.nodes("李"), fresh=0))[0].name != "小李":
            await asyncio.sleep(0.01)


async def test_questions_are_answered_during_a_rebuild(tmp_path: Path, pair: Pair) -> None:
    journal, store = pair
    await put(journal, User(user("10003")))
    rebuilding = asyncio.create_task(store.rebuild())
    answers = 0
    while not rebuilding.done():
        assert (await store.ask(lambda graph: graph.neighbourhood(ZHANG), fresh=0)).total == 3
        answers += 1
    await rebuilding
    assert answers > 1
    assert files(tmp_path) == ["graph-2.kuzu"], "the old one is gone"


# ------------------------------------------------------------------ trouble


async def test_a_full_disk_is_waited_for(pair, monkeypatch, caplog):
    journal, store = pair
    full = Mock(return_value=SimpleNamespace(free=1 << 20))
    monkeypatch.setattr(copies.shutil, "disk_usage", full)
    await put(journal, User(user("10003")))
    for _ in range(3):
        with pytest.raises(GraphError, match="MiB are free"):
            await store.settle(0.2)
    assert store.state is GraphState.READY
    assert len(await people(store, "张三")) == 1, "what it knew it still answers"
    with pytest.raises(GraphError, match="MiB are free"):
        await store.rebuild()
    assert len(caplog.records) == 1
    monkeypatch.undo()
    await store.settle()
    assert store.problem == ""
    assert await differences(store) == []


async def test_a_graph_that_is_behind_is_not_called_ready(pair, monkeypatch):
    journal, store = pair
    take = journal.snapshot

    def slowly() -> Any:
        time.sleep(0.5)
        return take()

    monkeypatch.setattr(journal, "snapshot", slowly)
    await put(journal, User(user("10003")))
    with pytest.raises(GraphError, match="the newest yet: it was not built"):
        await store.settle(0.05)
    await store.settle()


async def test_a_full_disk_at_the_start(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Mock(return_value=SimpleNamespace(free=1 << 20))
    monkeypatch.setattr(copies.shutil, "disk_usage", full)
    await store.start()
    with pytest.raises(GraphError, match="MiB are free"):
        await people(store)
    assert store.state is GraphState.FAILED
    monkeypatch.undo()
    await store.settle()
    assert store.state is GraphState.READY


async def test_a_failed_question_is_an_error_of_ours(pair: Pair) -> None:
    _, store = pair
    for statement, parameters in (
        ("MATCH (n:Nothing) RETURN n", None),
        ("RETURN $a", {"a": "\ud800"}),
        ("RETURN CAST($a AS INT64)", {"a": "no number"}),
    ):

        def ask(graph: GraphQueries, s: str = statement, p: Any = parameters) -> object:
            return graph._db.run(s, p)

        with pytest.raises(GraphError):
            await store.ask(ask)
    assert len(await people(store, "张三")) == 1


async def test_a_question_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    database = Database(tmp_path / "graph-1.kuzu")
    database.limit(0.5)
    slow = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b)"
    with pytest.raises(GraphError):
        await asyncio.to_thread(database.run, slow)
    assert database.run("RETURN 1") == [[1]]
    database.discard()


async def test_a_surprise_does_not_end_the_worker(pair, monkeypatch, caplog):
    journal, store = pair

    def fail() -> Any:
        raise RuntimeError("a surprise")

    monkeypatch.setattr(journal, "snapshot", fail)
    await put(journal, User(user("10003")))
    with pytest.raises(GraphError, match="RuntimeError"):
        await store.settle(0.2)
    monkeypatch.undo()
    assert await differences(store) == []
    assert len(caplog.records) == 1


async def test_no_deleted_text_is_left_after_a_rebuild(tmp_path: Path, pair: Pair) -> None:
    journal, store = pair
    secret = fact(CHAT, ZHANG, YOGA, "张三的口令是芝麻开门九八七")
    await put(journal, secret)
    await store.settle()
    await put(journal, drop=[secret])
    await store.rebuild()
    held_bytes = b"".join(path.read_bytes() for path in (tmp_path / "graph").glob("graph-*"))
    assert "瑜伽".encode() in held_bytes or held_bytes
    assert "芝麻开门".encode() not in held_bytes


# ------------------------------------------------------------------------ map


async def test_the_map_is_made_once_for_each_state(pair: Pair) -> None:
    journal, store = pair
    first, again = await asyncio.gather(store.map(), store.map())
    assert first is again
    assert [node.id for node in first.whole.nodes] == [ZHANG, YOGA, DOCKER, LI]
    assert {node.id: node.degree for node in first.whole.nodes}[ZHANG] == 4
    assert first.places.keys() == {node.id for node in first.whole.nodes}
    assert len({place[:2] for place in first.places.values()}) == 4
    (away,) = [edge for edge in first.whole.edges if edge.status == "archived"]
    assert away.until == T0
    assert first.whole.sessions[away.session][3] == "mei"
    await put(journal, fact(CHAT, ZHANG, LI, "张三借给李四一本书"))
    later = await store.map()
    assert len(later.whole.edges) == len(first.whole.edges) + 1
    assert await store.map() is later


async def test_of_a_large_graph_the_map_has_the_best_connected(pair, monkeypatch):
    _, store = pair
    monkeypatch.setattr(graph_store, "MAP_NODES", 2)
    monkeypatch.setattr(graph_store, "MAP_EDGES", 1)
    drawn = await store.map()
    assert ({node.id for node in drawn.whole.nodes}, len(drawn.whole.edges)) == ({YOGA, ZHANG}, 1)
    assert drawn.whole.total == 4
