"""What the owner does with facts: one change for many, undone by one undo."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from graph_memory.errors import NotFoundError
from graph_memory.library import OWNER, Action, Effect, Library
from graph_memory.model import Entity, Episode, Fact, Forgotten, Row, asker_of
from graph_memory.retention import DAY
from graph_memory.store import Draft, Journal

from .makers import T0, context, entity, fact, group, message, name, private, user

ZHANG = user("zhang")
HOME, ROOM = private("zhang"), group("1")
NOW = T0 + 10 * DAY
CAT = fact(HOME, ZHANG, entity("猫"), "张三喜欢猫", evidence=(1,))
DOG = fact(HOME, ZHANG, entity("狗"), "张三怕狗", evidence=(2,))
TEA = fact(ROOM, ZHANG, entity("茶"), "张三喜欢喝茶")


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    opened = await Journal.open(tmp_path / "journal.sqlite3", lambda: T0)
    for number, text in enumerate(("我喜欢猫", "我怕狗"), 1):
        await opened.append(message(HOME, ZHANG, text, T0 + number), HOME)
    rows: list[Row] = [
        HOME, ROOM, name(HOME, ZHANG, "张三"), name(HOME, entity("猫"), "猫"), CAT, DOG, TEA,
        Episode("ep:1", HOME.id, T0, T0, 1, 2, 2, "聊了猫和狗"),
    ]  # fmt: skip
    await opened.commit(lambda _: Draft("learn", "learned", put=rows))
    yield opened
    await opened.close()


@pytest.fixture
def library(journal: Journal) -> Library:
    return Library(context(journal, now=lambda: NOW))


async def standing(journal: Journal) -> list[Row]:
    """All rows there are."""
    kinds = (Fact, Forgotten, Episode, Entity)
    return await journal.read(lambda rows: [row for kind in kinds for row in rows.scan(kind)])


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("pin", Effect(3, 1, 0, 0)),
        ("unpin", Effect(0, 4, 0, 0)),
        ("archive", Effect(3, 1, 0, 0)),
        ("restore", Effect(0, 4, 0, 0)),
        ("forget", Effect(3, 1, 2, 1)),
    ],
)
async def test_what_is_weighed_is_what_is_done_and_undone(
    journal: Journal, library: Library, action: Action, expected: Effect
) -> None:
    ids = [CAT.id, DOG.id, TEA.id, CAT.id, "f:gone"]
    before = await standing(journal)
    assert await library.weigh(action, ids) == expected
    assert await standing(journal) == before
    if not expected.facts:
        with pytest.raises(NotFoundError):
            await library.act(action, ids, OWNER)
        return
    change = await library.act(action, ids, OWNER)
    done = [op.kind for op in change.ops]
    assert (done.count("fact"), done.count("forgotten"), done.count("episode")) == (
        expected.facts,
        expected.messages,
        expected.summaries,
    )
    assert await library.weigh(action, ids) == Effect(0, 4, 0, 0)
    await library.undo(change.id, OWNER)
    assert await standing(journal) == before


async def test_an_amended_fact_takes_the_place_of_the_old_one(
    journal: Journal, library: Library
) -> None:
    await library.act("pin", [CAT.id], OWNER)
    before = await standing(journal)
    change = await library.amend(CAT.id, "张三喜欢两只猫", OWNER)
    old = await library.fact(CAT.id)
    (new,) = old.replaced_by
    assert new.fact.statement == "张三喜欢两只猫"
    for same in ("session", "subject", "object", "predicate", "speaker", "said_at", "evidence"):
        assert getattr(new.fact, same) == getattr(CAT, same)
    assert (new.fact.pinned, old.line.fact.pinned) == (True, False)
    assert (new.state, old.line.state) == ("active", "superseded")
    muted = [row.message for row in await standing(journal) if isinstance(row, Forgotten)]
    assert muted == [1]
    # Whoever saw the old one sees the new one, and nobody else.
    assert new.fact.id in {line.fact.id for line in await library.mine(asker_of(HOME, ZHANG))}
    await library.undo(change.id, OWNER)
    assert await standing(journal) == before


async def test_an_amended_past_stays_past(journal: Journal, library: Library) -> None:
    await library.amend(CAT.id, "张三喜欢两只猫", OWNER, mute=False)
    await library.amend(CAT.id, "张三从前喜欢一只猫", OWNER, mute=False)
    states = {
        line.fact.statement: line.state
        for line in (await library.browse()).items
        if "猫" in line.fact.statement
    }
    assert states == {
        "张三喜欢猫": "superseded",
        "张三从前喜欢一只猫": "superseded",
        "张三喜欢两只猫": "active",
    }
    assert not [row for row in await standing(journal) if isinstance(row, Forgotten)]


async def test_what_is_not_about_the_old_thing_hangs_on_a_new_one(
    journal: Journal, library: Library
) -> None:
    await library.amend(CAT.id, "张三喜欢鹦鹉", OWNER)
    (new,) = (await library.fact(CAT.id)).replaced_by
    assert new.fact.object != CAT.object
    assert new.object == "张三喜欢鹦鹉"


@pytest.mark.parametrize("words", ["", "  \n ", "张三喜欢猫"])
async def test_saying_nothing_new_changes_nothing(library: Library, words: str) -> None:
    with pytest.raises(NotFoundError):
        await library.amend(CAT.id, words, OWNER)


async def test_a_statement_is_one_line_of_bounded_length(library: Library) -> None:
    await library.amend(CAT.id, "张三\n喜欢\u202e猫" + "喵" * 900, OWNER)
    (new,) = (await library.fact(CAT.id)).replaced_by
    assert "\n" not in new.fact.statement
    assert len(new.fact.statement) <= 300
