"""The life of a graph: start, follow, swap, fail, recover, close."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_memory.errors import ClosedError, GraphError, LockedError
from graph_memory.graph import GraphState, GraphStore, check, follower, keeper, queries
from graph_memory.graph.engine import Connection, Engine
from graph_memory.journal import Journal
from graph_memory.model import User
from tests.makers import T0, fact, name, user

from .support import CHAT, GROUP, LI, POOL, YOGA, ZHANG, opened, put, world

ROOT = Path(__file__).parents[2]
Pair = tuple[Journal, GraphStore]


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    async with opened(tmp_path, *world()) as found:
        yield found


def files(directory: Path) -> list[str]:
    """Names of the graph's files."""
    return sorted(path.name for path in (directory / "graph").iterdir() if path.name != "lock")


async def test_it_follows_the_journal(pair: Pair) -> None:
    journal, store = pair
    wang = user("10003")
    change = await put(
        journal, User(wang), name(GROUP, wang, "王五"), fact(GROUP, wang, LI, "认识")
    )
    await store.settle()
    assert store.applied == change.id
    assert [node.id for node in await store.nodes("王五")] == [wang]
    await put(journal, replace(name(GROUP, wang, "老王"), last_at=T0 + 1))
    await store.settle()
    assert (await store.neighbourhood(wang)).centre.name == "老王"
    assert await check(store, journal) == []


async def test_it_is_told_of_changes(pair: Pair) -> None:
    """Without anybody waiting for it, a change arrives."""
    journal, store = pair
    change = await put(journal, User(user("10003")))
    async with asyncio.timeout(20):
        while store.applied < change.id:
            await store._follower.moved()


async def test_undo(pair: Pair) -> None:
    journal, store = pair
    change = await put(journal, drop=world()[2:])
    await store.settle()
    assert (await store.statistics())["knows"] == 0
    await journal.undo(change.id, "owner")
    await store.settle()
    assert (await store.statistics())["knows"] == 4
    assert await check(store, journal) == []


async def test_check_sees_a_difference(pair: Pair) -> None:
    journal, store = pair

    def spoil(reader: Connection) -> None:
        reader.run("MATCH (n:User {id: $id}) SET n.name = $name", {"id": ZHANG, "name": "张四"})

    await store.ask(spoil)
    (line,) = await check(store, journal)
    assert line.startswith("User: 1/1: ")
    assert "张四" in line


async def test_while_it_is_built_it_says_so(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    store = GraphStore(tmp_path, journal, buffer_pool_mb=POOL)
    assert store.state is GraphState.CLOSED
    with pytest.raises(GraphError, match="closed"):
        await store.nodes()
    await store.start()
    assert store.state is GraphState.BUILDING
    with pytest.raises(GraphError, match="being rebuilt"):
        await store.nodes()
    await store.settle()
    assert store.state is GraphState.READY
    await store.close()
    await store.close()
    assert store.state is GraphState.CLOSED
    for question in (store.nodes, store.statistics, store.settle, store.rebuild):
        with pytest.raises(GraphError, match="closed"):
            await question()
    with pytest.raises(ClosedError):
        await store.start()
    await journal.close()


async def test_one_store_for_a_directory(tmp_path: Path, pair: Pair) -> None:
    journal, store = pair
    other = GraphStore(tmp_path, journal)
    with pytest.raises(LockedError):
        await other.start()
    await other.close()
    assert len(await store.nodes("张三")) == 1
    await store.close()
    async with asyncio.timeout(20):
        third = GraphStore(tmp_path, journal, buffer_pool_mb=POOL)
        await third.start()
        await third.settle()
        await third.close()


async def test_closing_at_once_leaves_no_file(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    await put(journal, *world())
    for _ in range(3):
        store = GraphStore(tmp_path, journal, buffer_pool_mb=POOL)
        await store.start()
        await asyncio.sleep(0)
        await store.close()
        assert files(tmp_path) in ([], ["graph-1.kuzu", "graph-1.seal"])
    await journal.close()


async def test_closing_catches_up_first(tmp_path: Path) -> None:
    async with opened(tmp_path, *world()) as (journal, store):
        changes = [await put(journal, User(user(f"8{i}"))) for i in range(5)]
        await store.close()
        assert store.applied == changes[-1].id
    assert files(tmp_path) == ["graph-1.kuzu", "graph-1.seal"]


async def test_closing_waits_for_questions(tmp_path: Path) -> None:
    """Closing Kùzu under a query would crash the process."""
    async with opened(tmp_path, *world()) as (_, store):
        asked = [asyncio.create_task(store.nodes("三")) for _ in range(50)]
        await asyncio.sleep(0)
        await store.close()
        answers = await asyncio.gather(*asked)
    assert all(len(answer) == 1 for answer in answers)


async def test_closing_that_is_cancelled_still_seals(tmp_path: Path) -> None:
    async with opened(tmp_path, *world()) as (_, store):
        closing = asyncio.create_task(store.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await asyncio.to_thread(store._writer.shutdown)
    assert files(tmp_path) == ["graph-1.kuzu", "graph-1.seal"]


async def test_a_rebuild_takes_the_place_of_the_old_file(tmp_path: Path, pair: Pair) -> None:
    journal, store = pair
    await put(journal, User(user("10003")))
    await store.rebuild()
    assert files(tmp_path) == ["graph-2.kuzu"]
    assert await check(store, journal) == []


async def test_questions_are_answered_during_a_rebuild(pair: Pair) -> None:
    _, store = pair
    rebuilding = asyncio.create_task(store.rebuild())
    answers = 0
    while not rebuilding.done():
        assert (await store.neighbourhood(ZHANG)).total == 3
        answers += 1
    await rebuilding
    assert answers > 1


async def test_many_commits_make_a_new_file(
    tmp_path: Path, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "MAX_COMMITS", 3)
    journal, store = pair
    for i in range(8):
        await put(journal, fact(CHAT, ZHANG, YOGA, f"第{i}次"))
        await store.settle()
    assert files(tmp_path) == ["graph-3.kuzu"]
    assert await check(store, journal) == []


async def test_a_large_change_makes_a_new_file(
    tmp_path: Path, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "MAX_STATEMENTS", 20)
    journal, store = pair
    await put(journal, *(fact(CHAT, ZHANG, YOGA, f"第{i}次") for i in range(30)))
    await store.settle()
    assert files(tmp_path) == ["graph-2.kuzu"]
    assert await check(store, journal) == []


async def test_a_long_absence_makes_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, *world()):
        pass
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    for i in range(4):
        await put(journal, User(user(f"8{i}")))
    await journal.close()
    monkeypatch.setattr(follower, "MAX_BEHIND", 3)
    async with opened(tmp_path) as (journal, store):
        assert await check(store, journal) == []
        assert store._keeper.commits == 0


async def test_a_write_that_fails_makes_a_new_file(
    tmp_path: Path, pair: Pair, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    journal, store = pair
    # A graph that has lost an edge: the next change of that edge cannot be applied.
    held = store._keeper.engine
    assert held is not None
    await asyncio.to_thread(held.writer.run, "MATCH (:User)-[f:KNOWS]->() DELETE f")
    await put(journal, fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽", use_count=2, importance=0.8))
    await store.settle()
    assert files(tmp_path) == ["graph-2.kuzu"]
    assert await check(store, journal) == []
    assert [record.message.split(":")[0] for record in caplog.records] == ["the graph is rebuilt"]


async def test_a_full_disk_is_waited_for(
    tmp_path: Path, pair: Pair, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    journal, store = pair
    free = keeper._free(tmp_path)
    monkeypatch.setattr(keeper, "_free", lambda _: 1 << 20)
    await put(journal, User(user("10003")))
    for _ in range(3):
        with pytest.raises(GraphError, match="MiB free"):
            await store.settle(0.2)
    assert store.state is GraphState.READY  # what it knew it still answers
    assert (await store.statistics())["users"] == 2
    with pytest.raises(GraphError, match="MiB free"):
        await store.rebuild()
    assert len(caplog.records) == 1
    monkeypatch.setattr(keeper, "_free", lambda _: free)
    await store.settle()
    assert store.problem == ""
    assert await check(store, journal) == []


async def test_a_full_disk_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "_free", lambda _: 1 << 20)
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    store = GraphStore(tmp_path, journal, buffer_pool_mb=POOL)
    await store.start()
    with pytest.raises(GraphError):
        await store.settle(0.5)
    assert store.state is GraphState.FAILED
    with pytest.raises(GraphError, match="MiB free"):
        await store.nodes()
    monkeypatch.undo()
    await store.settle()
    assert store.state is GraphState.READY
    await store.close()
    await journal.close()


async def test_a_full_disk_at_the_end_leaves_no_seal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, *world()) as (_, store):
        monkeypatch.setattr(keeper, "_free", lambda _: 1 << 20)
        await store.close()
    assert files(tmp_path)[0].endswith(".kuzu")
    assert not any(name.endswith(".seal") for name in files(tmp_path))
    monkeypatch.undo()
    async with opened(tmp_path) as (journal, store):
        assert await check(store, journal) == []


async def test_a_failed_question_is_an_error_of_ours(pair: Pair) -> None:
    _, store = pair
    for statement, parameters in (
        ("MATCH (n:Nothing) RETURN n", None),
        ("RETURN $a", {"a": "\ud800"}),
        ("RETURN 1", {"b": 2}),
    ):
        with pytest.raises(GraphError):
            await store.ask(lambda reader, s=statement, p=parameters: reader.run(s, p))  # type: ignore[misc]
    assert (await store.statistics())["users"] == 2


async def test_reading_and_writing_at_once(pair: Pair) -> None:
    journal, store = pair
    done = asyncio.Event()

    async def read() -> int:
        count = 0
        while not done.is_set():
            found = await store.neighbourhood(ZHANG)
            assert len(found.nodes) == found.total
            count += 1
        return count

    reading = asyncio.create_task(read())
    for i in range(20):
        person = user(f"7{i}")
        await put(journal, User(person), fact(GROUP, ZHANG, person, f"认识第{i}个人"))
    await store.settle()
    done.set()
    assert await reading > 1
    assert (await store.neighbourhood(ZHANG)).total == 23


async def test_a_question_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "graph-1.kuzu", POOL, read_timeout=0.5)
    slow = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b)"
    with pytest.raises(GraphError):
        await asyncio.to_thread(engine.reader.run, slow)
    assert engine.reader.run("RETURN 1") == [[1]]
    engine.close()


@pytest.mark.parametrize("acknowledged", [1, 7])
async def test_a_kill_loses_nothing(tmp_path: Path, acknowledged: int) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.graph.writer", str(tmp_path)),
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        said = [await process.stdout.readline() for _ in range(acknowledged)]
    finally:
        process.kill()
        await process.wait()
    assert all(said), "the writer died by itself"
    assert any(name.endswith(".kuzu") for name in files(tmp_path))
    assert not any(name.endswith(".seal") for name in files(tmp_path))
    async with opened(tmp_path) as (journal, store):
        assert store.applied >= int(said[-1])
        assert await check(store, journal) == []
        assert sum(name.endswith(".kuzu") for name in files(tmp_path)) == 1
        await put(journal, User(user("10003")))
    async with opened(tmp_path) as (journal, store):
        assert await check(store, journal) == []


async def test_a_damaged_journal_does_not_end_the_worker(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    journal, store = pair

    async def fail(*_: Any) -> Any:
        raise RuntimeError("a surprise")

    monkeypatch.setattr(journal, "changes", fail)
    await put(journal, User(user("10003")))
    with pytest.raises(GraphError, match="RuntimeError"):
        await store.settle(0.2)
    monkeypatch.undo()
    await store.settle()
    assert await check(store, journal) == []
    assert len(caplog.records) == 1


def test_questions_never_write() -> None:
    texts = [
        text
        for value in vars(queries).values()
        for text in (value.values() if isinstance(value, dict) else [value])
        if isinstance(text, str) and "MATCH" in text
    ]
    assert len(texts) > 10
    words = {word for text in texts for word in text.replace("(", " ").split()}
    assert not words & {"CREATE", "MERGE", "SET", "DELETE", "COPY", "LOAD", "CALL", "EXPORT"}
