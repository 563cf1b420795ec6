"""A graph built from rows and patched by changes: what is in it, and that texts survive."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from graph_memory.companion.core_facts import CoreFact
from graph_memory.companion.inner_state import InnerState, Mood
from graph_memory.companion.proactive import FollowUp
from graph_memory.errors import GraphError
from graph_memory.graph.database import Database
from graph_memory.graph.graph_writer import Patch, Stopped, apply, build, patch_of
from graph_memory.identity import Identities
from graph_memory.model import (
    Change,
    Entity,
    Episode,
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
from graph_memory.store import Draft, Journal, Rows
from tests.makers import T0, entity, fact, group, name, user

from .support import (
    CHAT,
    DOCKER,
    GROUP,
    LI,
    POOL,
    YOGA,
    ZHANG,
    Tables,
    build_at,
    contents,
    mention,
    part,
    put,
    world,
)


async def built(home: Path, rows: Iterable[Row]) -> Tables:
    """What the graph of some rows holds."""
    home.mkdir(parents=True, exist_ok=True)
    journal = await Journal.open(home / "journal.sqlite3")
    try:
        await put(journal, *rows)
        database = await asyncio.to_thread(build_at, home / "graph-1.kuzu", journal)
        found = contents(database)
        assert not list(home.glob("*.csv")), "nothing but the file stays"
        database.discard()
        assert not list(home.glob("graph*"))
        return found
    finally:
        await journal.close()


# ------------------------------------------------------------------- building


async def test_every_kind_of_row_arrives(tmp_path: Path) -> None:
    rows = [
        *world(),
        name(GROUP, ZHANG, "张总", T0 + 9),
        name(CHAT, ZHANG, "三哥", T0 + 5),
        replace(mention(GROUP, YOGA, "event", T0 + 9), id="m:newer"),
    ]
    found = await built(tmp_path, rows)
    assert {table: records.total() for table, records in found.items()} == {
        "User": 2,
        "Entity": 2,
        "Session": 2,
        "KNOWS": 4,
        "RELATED_TO": 1,
        "MENTIONED_IN": 3,
        "PARTICIPATED_IN": 3,
    }
    assert (ZHANG, "张总", "三哥\n张三\n张总") in found["User"], "the newest name"
    assert (YOGA, "瑜伽", "瑜伽", "event") in found["Entity"], "the newest type"
    assert {record[3] for record in found["PARTICIPATED_IN"]} == {1, 2, 3}


async def test_a_fact_keeps_its_values(tmp_path: Path) -> None:
    made = replace(
        fact(CHAT, ZHANG, YOGA, "张三三十岁", predicate="age", supersedes=("f:0", "f:“x”")),
        id="f:1",
        recorded_at=T0 + 1 / 3,
        importance=1,  # a whole number is what a model may answer
        use_count=7,
    )
    (found,) = (await built(tmp_path, [CHAT, made]))["KNOWS"]
    assert found == (
        *(ZHANG, YOGA, "f:1", CHAT.id, "age", "张三三十岁", 1.0, 7, None),
        *("active", T0 + 1 / 3, '["f:0", "f:“x”"]'),
    )


async def test_an_edge_without_its_nodes_is_not_lost(tmp_path: Path) -> None:
    rows: list[Row] = [
        fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽"),
        fact(CHAT, DOCKER, ZHANG, "Docker 是张三装的"),
        fact(CHAT, ZHANG, ZHANG, "张三觉得自己很累"),
        mention(GROUP, entity("孤儿")),
        part(group("9"), user("8")),
        name(CHAT, ZHANG, "张三"),
    ]
    found = await built(tmp_path, rows)
    assert (found["KNOWS"].total(), found["RELATED_TO"].total()) == (2, 1)
    assert (ZHANG, "张三", "张三") in found["User"]
    assert {record[0] for record in found["Entity"]} == {YOGA, DOCKER, entity("孤儿")}
    assert {record[0] for record in found["Session"]} == {GROUP.id, group("9").id}


NASTY = [
    *("", " ", "\n", "\r\n", "\r", "\t", "\0", "a\0b", "\x1f", "\ufeff", "\u2028"),
    *('"', '""', 'a"b', '\\"', '"\\', "\\", "\\\\", "\\n", "\\N", "'", "`", ",", '",', ',"'),
    *("NULL", "null", "None", "nan", "true", "1", "1.5", "[]", "{}", "[1,2]", "{a: 1}"),
    *("'; MATCH (n) DETACH DELETE n; //", "$id", "{0}", "张三说：“你好，\n世界”"),
    *("👨‍👩‍👧", "e\u0301"),
]
TEXT = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"])))


@settings(max_examples=25)
@example(NASTY)
@given(st.lists(TEXT, min_size=1, max_size=20))
def test_hostile_text_survives_exactly(texts: list[str]) -> None:
    rows: list[Row] = [
        replace(fact(CHAT, ZHANG, YOGA, "x"), id=f"f:{i}", statement=text, predicate=text)
        for i, text in enumerate(texts)
    ]
    rows += [replace(name(CHAT, f"qq:{i}", text), id=f"n:{i}") for i, text in enumerate(texts)]
    rows += [User(f"qq:{i}") for i in range(len(texts))]
    rows += [User(f"hostile id {text}") for text in set(texts)]
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(built(Path(folder), rows))
    assert {record[2]: record[4:6] for record in found["KNOWS"]} == {
        f"f:{i}": (text, text) for i, text in enumerate(texts)
    }
    names = {record[0]: record[1] for record in found["User"]}
    assert [names[f"qq:{i}"] for i in range(len(texts))] == texts
    assert {f"hostile id {text}" for text in texts} <= names.keys()


FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.tuples(FINITE, st.one_of(st.none(), FINITE), st.integers(-(2**53), 2**53))


@settings(max_examples=25)
@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_numbers_survive_exactly(numbers: list[tuple[float, float | None, int]]) -> None:
    rows: list[Row] = [
        replace(
            fact(CHAT, ZHANG, YOGA, "x"),
            id=f"f:{i}",
            recorded_at=at,
            valid_to=until,
            use_count=count,
        )
        for i, (at, until, count) in enumerate(numbers)
    ]
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(built(Path(folder), rows))
    assert {record[2]: (record[10], record[8], record[7]) for record in found["KNOWS"]} == {
        f"f:{i}": each for i, each in enumerate(numbers)
    }


@pytest.mark.parametrize("folder", ["a b", "[1]", "a*?b", "{x,y}", "引'号\"", "back\\slash", "#%"])
async def test_any_data_directory_will_do(tmp_path: Path, folder: str) -> None:
    found = await built(tmp_path / folder, world())
    assert found["KNOWS"].total() == 4


async def test_a_build_that_is_stopped_leaves_nothing(tmp_path: Path, journal: Journal) -> None:
    await put(journal, *world())
    stop = threading.Event()
    stop.set()
    home = tmp_path / "graph"
    with journal.snapshot() as snapshot, pytest.raises(Stopped):
        build(home / "graph-1.kuzu", snapshot.rows, POOL, stop)
    assert list(home.iterdir()) == []


# ------------------------------------------------------------------- following

NODES = (ZHANG, LI, YOGA, DOCKER)
MERGE = Merge("j:1", DOCKER, YOGA, T0)
MOST = 1_000


@pytest.fixture
async def journal(tmp_path: Path) -> Any:
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    yield journal
    await journal.close()


@st.composite
def some_row(draw: Any) -> Row:
    """One of the few rows of a small world, with values that vary."""
    session: Session = draw(st.sampled_from((CHAT, GROUP)))
    at = T0 + draw(st.integers(0, 3))
    word = draw(st.sampled_from(["甲", "乙", "", 'it\'s "丙"\n\\']))
    node = draw(st.sampled_from(NODES))
    thing = draw(st.sampled_from((YOGA, DOCKER)))
    person = draw(st.sampled_from((ZHANG, LI)))
    match draw(st.integers(0, 7)):
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
        case _:
            # Few ids for many places: the same fact moves between nodes and tables.
            return replace(
                fact(session, node, draw(st.sampled_from(NODES)), word, at=at),
                id=f"f:{draw(st.integers(0, 4))}",
                status=draw(st.sampled_from(["active", "archived"])),
                valid_to=draw(st.sampled_from([None, at])),
                use_count=draw(st.integers(1, 3)),
            )


DROP = st.sampled_from([False] * 4 + [True])
CHANGE = st.lists(st.tuples(DROP, some_row()), min_size=1, max_size=6)


def applied_to(database: Database, patch: Patch) -> bool:
    """Apply a patch; whether Kùzu did what it was told."""
    try:
        apply(database.writer, patch)
    except GraphError as error:
        event(str(error))
        return False
    return True


async def play(
    folder: Path, history: list[list[tuple[bool, Row]]], chunk: int, merge: Merge | None
) -> None:
    journal = await Journal.open(folder / "journal.sqlite3")
    applied = (await put(journal, *([merge] if merge else []), CHAT)).id
    database = build_at(folder / "first", journal)
    try:
        for step in history:
            puts = [row for drop, row in step if not drop]
            drops = [row for drop, row in step if drop]
            await journal.commit(
                lambda _, p=puts, d=drops: Draft("t", "t", p, [(r.kind, r.id) for r in d])  # type: ignore[misc]
            )
        while changes := await journal.changes(applied, chunk):
            identities = await journal.read(Rows.identities)
            patch = await journal.read(
                lambda rows, c=changes, i=identities: patch_of(rows, c, i, MOST)
            )  # type: ignore[misc]
            event(f"new file: {patch.needs_build}")
            if patch.needs_build or not applied_to(database, patch):
                database.discard()
                database = build_at(folder / "next", journal)
                break
            applied = changes[-1].id
        wanted = build_at(folder / "wanted", journal)
        assert contents(database) == contents(wanted)
        wanted.discard()
    finally:
        database.discard()
        await journal.close()


@settings(max_examples=20)
@given(
    st.lists(CHANGE, min_size=1, max_size=12),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([None, MERGE]),
)
def test_patching_equals_building(
    history: list[list[tuple[bool, Row]]], chunk: int, merge: Merge | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder), history, chunk, merge))


def op(before: Row | None, after: Row | None) -> Op:
    row = after or before
    assert row is not None
    return Op(row.kind, row.id, before and encode(before), after and encode(after))


async def patch(journal: Journal, *ops: Op, most: int = MOST) -> Any:
    change = Change(1, T0, "test", "test", ops)
    return await journal.read(
        partial(patch_of, changes=[change], identities=Identities(), most=most)
    )


async def test_what_needs_a_new_file(journal: Journal) -> None:
    liked = fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽")
    await put(journal, CHAT, User(ZHANG), Entity(YOGA), liked)
    assert (await patch(journal, op(None, MERGE))).needs_build
    assert (await patch(journal, op(Entity(YOGA), None))).needs_build
    assert (await patch(journal, op(None, liked), most=0)).needs_build
    gone = fact(CHAT, ZHANG, DOCKER, "张三试过 Docker")
    assert (await patch(journal, op(gone, None))).needs_build, "Docker was known from it alone"
    assert not (await patch(journal, op(liked, None))).needs_build


async def test_rows_and_values_that_the_graph_does_not_show_are_nothing(journal: Journal) -> None:
    rows: tuple[Row, ...] = (
        Forgotten("fg:1", CHAT.id, 5),
        Link("k:1", LI, ZHANG),
        CoreFact("c:1", CHAT.id, ZHANG, 1, "fact", "张三怕黑", 1.0, 1.0),
        Mood("mo:1", CHAT.id, 0.1, 0.2, 1.0),
        InnerState("in:1", CHAT.id, "我", "他", "我们", 1, 1.0),
        FollowUp("fu:1", CHAT.id, ZHANG, 9.0, "问好", 0, 1.0),
        Episode("ep:1", CHAT.id, T0, T0 + 60, 1, 4, 4, "聊了瑜伽", (ZHANG,)),
    )
    found = await patch(journal, *(op(None, row) for row in rows))
    assert (found.touched, found.nodes, found.needs_build) == (set(), {}, False)
    used: Fact = fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽")
    found = await patch(journal, op(used, replace(used, last_used=T0 + 99)))
    assert found.touched == set()


async def test_a_patch_is_written_whole_or_not_at_all(journal: Journal, tmp_path: Path) -> None:
    await put(journal, *world())
    database: Database = build_at(tmp_path / "graph", journal)
    before = contents(database)
    made = await patch(journal, op(None, world()[-2]))
    made.nodes[ZHANG, ZHANG] = True  # there is no such table
    made.values[ZHANG, ZHANG] = ()
    with pytest.raises(Exception):  # noqa: B017 - whatever it is
        apply(database.writer, made)
    assert contents(database) == before
    database.discard()
