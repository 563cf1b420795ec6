"""A graph built from rows: what is in it, and that texts survive."""

import asyncio
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graph_memory.graph import database
from graph_memory.graph.database import Stopped, build
from graph_memory.model import Row, User
from graph_memory.store import Journal
from tests.cases import examples
from tests.cases import rows as table
from tests.makers import T0, entity, fact, group, mention, name, put, user
from tests.transfer.support import opened

from .support import CHAT, DOCKER, GROUP, YOGA, ZHANG, Tables, build_at, contents, part, world


async def built(home: Path, rows: Iterable[Row]) -> Tables:
    """What the graph of some rows holds, be they few or many."""
    found = []
    async with opened(home) as journal:
        await put(journal, *rows)
        for few in (database.FEW, 3):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(database, "FEW", few)
                made = await asyncio.to_thread(build_at, home / "graph-1.kuzu", journal)
            found.append(contents(made))
            assert not list(home.glob("*.csv")), "nothing but the file stays"
            made.discard()
            assert not list(home.glob("graph*"))
    assert found[0] == found[1]
    return found[0]


async def test_every_kind_of_row_arrives(tmp_path: Path) -> None:
    rows = [
        *world(),
        name(GROUP, ZHANG, "张总", T0 + 9),
        name(CHAT, ZHANG, "三哥", T0 + 5),
        replace(mention(GROUP, YOGA, "event", T0 + 9), id="m:newer"),
    ]
    found = await built(tmp_path, rows)
    assert {table: records.total() for table, records in found.items()} == {
        "User": 2, "Entity": 2, "Session": 2, "KNOWS": 4, "RELATED_TO": 1, "MENTIONED_IN": 3,
        "PARTICIPATED_IN": 3,
    }  # fmt: skip
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
        *("active", T0 + 1 / 3, None, T0, made.half_life, False, '["f:0", "f:“x”"]'),
    )


async def test_an_edge_without_its_nodes_is_not_lost(tmp_path: Path) -> None:
    rows: list[Row] = [
        fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽"), fact(CHAT, DOCKER, ZHANG, "Docker 是张三装的"),
        fact(CHAT, ZHANG, ZHANG, "张三觉得自己很累"), mention(GROUP, entity("孤儿")),
        part(group("9"), user("8")), name(CHAT, ZHANG, "张三"),
    ]  # fmt: skip
    found = await built(tmp_path, rows)
    assert (found["KNOWS"].total(), found["RELATED_TO"].total()) == (2, 1)
    assert (ZHANG, "张三", "张三") in found["User"]
    assert {record[0] for record in found["Entity"]} == {YOGA, DOCKER, entity("孤儿")}
    assert {record[0] for record in found["Session"]} == {GROUP.id, group("9").id}


NASTY = table(__file__, "nasty")
TEXT = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"])))


FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBER = st.tuples(FINITE, st.one_of(st.none(), FINITE), st.integers(-(2**53), 2**53))
HOSTILE = st.lists(st.tuples(TEXT, NUMBER), min_size=1, max_size=20)


@settings(max_examples=examples(25))
@example([(text, (0.1, None, 1)) for text in NASTY])
@given(HOSTILE)
def test_hostile_text_and_numbers_survive_exactly(given):
    texts = [text for text, _ in given]
    rows: list[Row] = []
    for i, (text, (at, until, count)) in enumerate(given):
        said = replace(fact(CHAT, ZHANG, YOGA, "x"), statement=text, predicate=text)
        rows.append(replace(said, id=f"f:{i}", recorded_at=at, valid_to=until, use_count=count))
    rows += [replace(name(CHAT, f"qq:{i}", text), id=f"n:{i}") for i, text in enumerate(texts)]
    rows += [User(f"qq:{i}") for i in range(len(texts))]
    rows += [User(f"hostile id {text}") for text in set(texts)]
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(built(Path(folder), rows))
    facts = {r[2]: (r[4], r[5], (r[10], r[8], r[7])) for r in found["KNOWS"]}
    assert facts == {f"f:{i}": (text, text, n) for i, (text, n) in enumerate(given)}
    names = {record[0]: record[1] for record in found["User"]}
    assert [names[f"qq:{i}"] for i in range(len(texts))] == texts
    assert {f"hostile id {text}" for text in texts} <= names.keys()


@pytest.mark.parametrize("folder", ["a b", "[1]", "a*?b", "{x,y}", "引'号\"", "back\\slash", "#%"])
async def test_any_data_directory_will_do(tmp_path: Path, folder: str) -> None:
    assert (await built(tmp_path / folder, world()))["KNOWS"].total() == 4


async def test_a_build_that_is_stopped_leaves_nothing(journal: Journal, tmp_path: Path) -> None:
    await put(journal, *world())
    stop = threading.Event()
    stop.set()
    home = tmp_path / "graph"
    with journal.snapshot() as snapshot, pytest.raises(Stopped):
        build(home / "graph-1.kuzu", snapshot, str, stop)
    assert list(home.iterdir()) == []
