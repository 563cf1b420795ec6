"""Applying changes one by one makes the graph that a build would make."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_memory.companion import CoreFact, FollowUp, InnerState, Mood
from graph_memory.errors import GraphError
from graph_memory.graph import records
from graph_memory.graph.apply import apply, delta
from graph_memory.graph.check import differences, from_graph, from_journal
from graph_memory.graph.engine import Engine
from graph_memory.identity import Identities
from graph_memory.journal import Draft, Journal, Rows
from graph_memory.model import (
    Change,
    Entity,
    Fact,
    Forgotten,
    Link,
    Merge,
    Op,
    Row,
    Session,
    User,
    encode,
)
from tests.makers import T0, fact, name

from .support import CHAT, DOCKER, GROUP, LI, YOGA, ZHANG, build_at, episode, mention, part, put

NODES = (ZHANG, LI, YOGA, DOCKER)
MERGE = Merge("j:1", DOCKER, YOGA, T0)
SESSIONS = (CHAT, GROUP)


@st.composite
def some_row(draw: Any) -> Row:
    """One of the few rows of a small world, with values that vary."""
    session: Session = draw(st.sampled_from(SESSIONS))
    at = T0 + draw(st.integers(0, 3))
    word = draw(st.sampled_from(["甲", "乙", "", 'it\'s "丙"\n\\']))
    node = draw(st.sampled_from(NODES))
    thing = draw(st.sampled_from((YOGA, DOCKER)))
    person = draw(st.sampled_from((ZHANG, LI)))
    match draw(st.integers(0, 8)):
        case 0:
            return replace(session, title=word)
        case 1:
            return User(person)
        case 2:
            return Entity(thing)
        case 3:
            return replace(name(session, node, word, at), id=f"n:{draw(st.integers(0, 3))}")
        case 4:
            kind = draw(st.sampled_from(["topic", "place"]))
            return replace(mention(session, thing, kind, at), id=f"m:{draw(st.integers(0, 2))}")
        case 5:
            return part(session, person, draw(st.integers(1, 3)))
        case 6:
            return episode(session, draw(st.integers(1, 2)), word)
        case _:
            # Few ids for many places: the same fact moves between nodes and tables.
            return replace(
                fact(session, node, draw(st.sampled_from(NODES)), word, at=at),
                id=f"f:{draw(st.integers(0, 4))}",
                status=draw(st.sampled_from(["active", "archived"])),
                valid_to=draw(st.sampled_from([None, at])),
                use_count=draw(st.integers(1, 3)),
            )


CHANGE = st.lists(st.tuples(st.booleans(), some_row()), min_size=1, max_size=6)


async def follow(journal: Journal, engine: Engine, after: int, limit: int) -> int | None:
    """Apply the next changes; returns the number of the last one, or nothing if the graph
    has to be built anew."""
    changes = await journal.changes(after, limit)
    if not changes:
        return after
    identities = await journal.read(Rows.identities)
    net = delta(changes, identities)
    if net.anew:
        return None
    ids = {id for _, id in net.painted}
    portraits = await journal.read(partial(records.portraits, ids=ids, identities=identities))
    await asyncio.to_thread(apply, engine.writer, net, portraits)
    return changes[-1].id


async def play(
    folder: Path, history: list[list[tuple[bool, Row]]], chunk: int, merge: Merge | None
) -> None:
    journal = await Journal.open(folder / "journal.sqlite3")
    applied = (await put(journal, merge)).id if merge else 0
    engine = build_at(folder / "graph", journal)
    try:
        for step in history:
            puts = [row for drop, row in step if not drop]
            drops = [(row.kind, row.id) for drop, row in step if drop]
            await journal.commit(lambda _, p=puts, d=drops: Draft("test", "test", p, d))  # type: ignore[misc]
        while applied < await journal.last_change():
            reached = await follow(journal, engine, applied, chunk)
            if reached is None:
                engine.close()
                engine = build_at(folder / f"graph{applied}", journal)
                reached = await journal.last_change()
            applied = reached
        wanted = await journal.read(from_journal)
        assert differences(wanted, from_graph(engine.reader)) == []
        engine.checkpoint()
        engine.close()
        engine = Engine(engine.path, 64)
        assert differences(wanted, from_graph(engine.reader)) == []
    finally:
        engine.close()
        await journal.close()


@settings(max_examples=25)
@given(
    st.lists(CHANGE, min_size=1, max_size=12),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([None, MERGE]),
)
def test_applying_equals_building(
    history: list[list[tuple[bool, Row]]], chunk: int, merge: Merge | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder), history, chunk, merge))


@pytest.fixture
async def journal(tmp_path: Path) -> Any:
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    yield journal
    await journal.close()


async def test_undo_brings_back_what_was(journal: Journal, tmp_path: Path) -> None:
    before = fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽")
    await put(journal, CHAT, User(ZHANG), Entity(YOGA), before)
    change = await put(journal, replace(before, status="archived", archived_at=T0))
    gone = await put(journal, drop=[before, Entity(YOGA)])
    engine = build_at(tmp_path / "graph", journal)
    undone = await journal.undo(gone.id, "owner")
    assert undone is not None
    await follow(journal, engine, gone.id, 10)
    await journal.undo(change.id, "owner") if undone.id < 0 else None
    assert differences(await journal.read(from_journal), from_graph(engine.reader)) == []
    assert from_graph(engine.reader)["KNOWS"].total() == 1
    engine.close()


def op(before: Row | None, after: Row | None) -> Op:
    row = after or before
    assert row is not None
    return Op(row.kind, row.id, before and encode(before), after and encode(after))


def change(id: int, *ops: Op) -> Change:
    return Change(id, T0, "test", "test", ops)


def test_what_was_made_and_undone_is_nothing() -> None:
    row = fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽")
    made = [change(1, op(None, row)), change(2, op(row, None))]
    assert delta(made, Identities()).size == 0
    merged = [change(1, op(None, MERGE)), change(2, op(MERGE, None))]
    assert not delta(merged, Identities()).anew


def test_only_first_and_last_count() -> None:
    one = fact(CHAT, ZHANG, YOGA, "一")
    two, three = replace(one, use_count=2), replace(one, use_count=3)
    found = delta([change(1, op(one, two)), change(2, op(two, three))], Identities())
    assert [edge.values[10] for edge in found.kept] == [3]
    assert found.new == found.gone == []


def test_rows_that_the_graph_does_not_show_are_nothing() -> None:
    rows = (
        Forgotten("fg:1", CHAT.id, 5),
        Link("k:1", LI, ZHANG),
        CoreFact("c:1", CHAT.id, ZHANG, 1, "fact", "张三怕黑", 1.0, 1.0),
        Mood("mo:1", CHAT.id, 0.1, 0.2, 1.0),
        InnerState("in:1", CHAT.id, "我", "他", "我们", 1, 1.0),
        FollowUp("fu:1", CHAT.id, ZHANG, 9.0, "问好", 0, 1.0),
    )
    assert delta([change(1, *(op(None, row) for row in rows))], Identities()).size == 0


@pytest.mark.parametrize("has_row", [True, False])
async def test_a_graph_that_lacks_an_edge_is_noticed(
    journal: Journal, tmp_path: Path, has_row: bool
) -> None:
    row: Fact = fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽")
    await put(journal, CHAT, User(ZHANG), Entity(YOGA))
    engine = build_at(tmp_path / "graph", journal)
    held = from_graph(engine.reader)
    after = replace(row, use_count=2) if has_row else None
    net = delta([change(2, op(None, User("qq:9")), op(row, after))], Identities())
    with pytest.raises(GraphError, match="not one"):
        apply(engine.writer, net, {"qq:9": records.Portrait()})
    assert from_graph(engine.reader) == held  # all or nothing
    engine.close()
