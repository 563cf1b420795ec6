"""A graph built from rows: what is in it, and that every text survives."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graph_memory.graph import seal
from graph_memory.graph.build import Stopped, build
from graph_memory.graph.check import Tables, differences, from_graph, from_journal
from graph_memory.graph.engine import Engine
from graph_memory.journal import Journal
from graph_memory.model import Fact, Row, User
from tests.makers import T0, entity, fact, group, name, user

from .support import CHAT, DOCKER, GROUP, YOGA, ZHANG, build_at, mention, part, put, world

T = TypeVar("T")


async def built(home: Path, rows: list[Row], look: Callable[[Engine], T]) -> T:
    """What ``look`` says about the graph of ``rows``."""
    home.mkdir(parents=True, exist_ok=True)
    journal = await Journal.open(home / "journal.sqlite3")
    try:
        await put(journal, *rows)
        engine = await asyncio.to_thread(build_at, home / "graph", journal)
        try:
            assert differences(await journal.read(from_journal), from_graph(engine.reader)) == []
            return look(engine)
        finally:
            engine.close()
    finally:
        await journal.close()


def tables(engine: Engine) -> Tables:
    return from_graph(engine.reader)


async def test_every_kind_of_row_arrives(tmp_path: Path) -> None:
    found = await built(tmp_path, world(), tables)
    counts = {table: records.total() for table, records in found.items()}
    assert counts == {
        "User": 2,
        "Entity": 2,
        "Session": 2,
        "Episode": 1,
        "KNOWS": 4,
        "RELATED_TO": 1,
        "MENTIONED_IN": 2,
        "PARTICIPATED_IN": 3,
        "PART_OF": 1,
    }
    assert (ZHANG, True, "张三", "张三") in found["User"]
    assert (YOGA, True, "瑜伽", "瑜伽", "topic") in found["Entity"]
    assert (DOCKER, True, "Docker", "docker", "thing") in found["Entity"]


async def test_a_fact_keeps_all_its_values(tmp_path: Path) -> None:
    made = Fact(
        id="f:1",
        session=CHAT.id,
        subject=ZHANG,
        predicate="age",
        object=YOGA,
        statement="张三三十岁",
        speaker="bot",
        said_at=T0 + 0.1,
        recorded_at=T0 + 0.2,
        last_used=T0 + 1 / 3,
        half_life=123.456,
        importance=1,  # a whole number is what a model may answer
        use_count=7,
        pinned=True,
        valid_from=T0 - 5,
        valid_to=None,
        supersedes=("f:0", "f:“x”"),
        evidence=(1, 2),
    )
    (found,) = (await built(tmp_path, [CHAT, made], tables))["KNOWS"]
    wanted = (
        *(ZHANG, YOGA, "f:1", CHAT.id, "age", "张三三十岁", "bot"),
        *(T0 + 0.1, T0 + 0.2, T0 + 1 / 3, 123.456, 1.0, 7, True, T0 - 5, None),
        *("active", '["f:0", "f:“x”"]', None),
    )
    assert found == wanted


async def test_the_newest_name_and_type_are_shown(tmp_path: Path) -> None:
    rows = [
        *world(),
        name(GROUP, ZHANG, "张总", T0 + 9),
        name(CHAT, ZHANG, "三哥", T0 + 5),
        replace(mention(GROUP, YOGA, "event", T0 + 9), id="m:newer"),
    ]
    found = await built(tmp_path, rows, tables)
    assert (ZHANG, True, "张总", "三哥\n张三\n张总") in found["User"]
    assert (YOGA, True, "瑜伽", "瑜伽", "event") in found["Entity"]


async def test_an_edge_without_its_nodes_is_not_lost(tmp_path: Path) -> None:
    rows: list[Row] = [
        fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽"),
        fact(CHAT, DOCKER, ZHANG, "Docker 是张三装的"),
        mention(GROUP, entity("孤儿")),
        part(group("9"), user("8")),
        name(CHAT, ZHANG, "张三"),
    ]
    found = await built(tmp_path, rows, tables)
    assert found["KNOWS"].total() == found["RELATED_TO"].total() == 1
    assert (ZHANG, False, "张三", "张三") in found["User"]
    assert {record[0] for record in found["Entity"]} == {YOGA, DOCKER, entity("孤儿")}
    assert {record[0] for record in found["Session"]} == {GROUP.id, group("9").id}
    assert not any(record[1] for record in (*found["Entity"], *found["Session"]))


async def test_a_person_may_know_themselves(tmp_path: Path) -> None:
    rows: list[Row] = [User(ZHANG), fact(CHAT, ZHANG, ZHANG, "张三觉得自己很累")]
    assert (await built(tmp_path, rows, tables))["KNOWS"].total() == 1


async def test_an_empty_journal_makes_an_empty_graph(tmp_path: Path) -> None:
    found = await built(tmp_path, [CHAT], tables)
    assert [table for table, records in found.items() if records] == ["Session"]


NASTY = [
    *("", " ", "\n", "\r\n", "\r", "\t", "\0", "a\0b", "\x1f", "\ufeff", "\u2028"),
    *('"', '""', 'a"b', '\\"', '"\\', "\\", "\\\\", "\\n", "\\N", "'", "`", ",", '",', ',"'),
    *("NULL", "null", "None", "nan", "true", "1", "1.5", "[]", "{}", "[1,2]", "{a: 1}"),
    *(
        "'; MATCH (n) DETACH DELETE n; //",
        "$id",
        "{0}",
        "张三说：“你好，\n世界”",
        "👨‍👩‍👧",
        "e\u0301",
    ),
]
TEXT = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"])))


@settings(max_examples=25)
@example(NASTY)
@given(st.lists(TEXT, min_size=1, max_size=20))
def test_hostile_text_survives_exactly(texts: list[str]) -> None:
    rows: list[Row] = [
        replace(fact(CHAT, ZHANG, YOGA, "x"), id=f"f:{i}", statement=text, speaker=text)
        for i, text in enumerate(texts)
    ]
    rows += [replace(name(CHAT, f"qq:{i}", text), id=f"n:{i}") for i, text in enumerate(texts)]
    rows += [User(f"qq:{i}") for i in range(len(texts))]
    rows += [User(f"hostile id {text}") for text in set(texts)]
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(built(Path(folder), rows, tables))
    assert {record[2]: record[5:7] for record in found["KNOWS"]} == {
        f"f:{i}": (text, text) for i, text in enumerate(texts)
    }
    names = {record[0]: record[2] for record in found["User"]}
    assert [names[f"qq:{i}"] for i in range(len(texts))] == texts
    assert {f"hostile id {text}" for text in texts} <= names.keys()


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
            st.integers(-(2**53), 2**53),
            st.booleans(),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_numbers_survive_exactly(numbers: list[tuple[float, float | None, int, bool]]) -> None:
    rows: list[Row] = [
        replace(
            fact(CHAT, ZHANG, YOGA, "x"),
            id=f"f:{i}",
            said_at=at,
            valid_from=since,
            use_count=count,
            pinned=pinned,
        )
        for i, (at, since, count, pinned) in enumerate(numbers)
    ]
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(built(Path(folder), rows, tables))
    assert {
        record[2]: (record[7], record[14], record[12], record[13]) for record in found["KNOWS"]
    } == {f"f:{i}": numbers_ for i, numbers_ in enumerate(numbers)}


@pytest.mark.parametrize("folder", ["a b", "[1]", "a*?b", "{x,y}", "引'号\"", "back\\slash", "#%"])
async def test_any_data_directory_will_do(tmp_path: Path, folder: str) -> None:
    found = await built(tmp_path / folder, world(), tables)
    assert found["KNOWS"].total() == 4


async def test_nothing_but_the_file_stays(tmp_path: Path) -> None:
    files = await built(tmp_path, world(), lambda engine: sorted(engine.path.parent.iterdir()))
    assert [path.name for path in files] == ["graph-1.kuzu"]


async def test_a_build_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    await put(journal, *world())
    stop = threading.Event()
    stop.set()
    home = tmp_path / "graph"
    home.mkdir()
    with journal.snapshot() as snapshot, pytest.raises(Stopped):
        build(seal.database(home, 1), snapshot.rows, 64, stop)
    assert list(home.iterdir()) == []
    await journal.close()
