"""Correcting: what is said now replaces what was, which stays as history."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.errors import ConflictError
from graph_memory.library import Library
from graph_memory.model import Change, Episode, Fact, Forgotten, Session, Turn, asker_of
from graph_memory.retention import DAY
from graph_memory.store import Journal, Rows

from ..cases import cases
from ..learning.story import Story
from ..makers import (
    T0,
    Clock,
    context,
    entity,
    fact,
    group,
    message,
    name,
    private,
    put,
    scan,
    user,
)

ZHANG, LI = user("zhang"), user("li")
HOME, ROOM = private("zhang"), group("1")
NOW = T0 + 10 * DAY
CASES = cases(Path(__file__).with_name("corrections.txt"))
SPICY, BEIJING = entity("辣"), entity("北京")


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def library(journal: Journal) -> Library:
    return Library(context(journal, now=lambda: NOW))


async def stands(journal: Journal, id: str) -> Fact:
    found = await journal.read(lambda them: them.get(Fact, id))
    assert found
    return found


def correction(old: Fact, words: str, here: Session = HOME, ref: str = "") -> tuple[str, str, Turn]:
    return old.id, words, Turn(here, ZHANG, "张三", ref=ref)


async def newest(journal: Journal, change: Change) -> Fact:
    (id,) = [op.id for op in change.ops if op.kind == Fact.kind]
    return await stands(journal, id)


async def world(journal: Journal) -> Fact:
    """张三 said at home that he likes it hot, and the summary tells so."""
    await journal.append(message(HOME, ZHANG, "我爱吃辣", T0), HOME)
    old = fact(HOME, ZHANG, SPICY, "张三爱吃辣", evidence=(1,), importance=0.7)
    told = Episode("ep:1", HOME.id, T0, T0, 1, 1, 1, summary="张三聊到爱吃辣")
    await put(journal, old, told, name(HOME, ZHANG, "张三"), name(HOME, SPICY, "辣"))
    return old


@pytest.mark.parametrize("name", CASES)
async def test_what_becomes_of_it(journal: Journal, name: str) -> None:
    await Story(journal).play(CASES[name])


async def test_what_a_correction_is(journal: Journal, library: Library) -> None:
    old = await world(journal)
    change = await library.correct(*correction(old, "我现在不吃辣了", ref="77@1"))
    new = await newest(journal, change)
    assert (change.actor, change.reason) == (ZHANG, "correct")
    assert (new.subject, new.predicate, new.object) == (ZHANG, "likes", SPICY)
    assert new.statement == "张三：我现在不吃辣了"
    assert (new.session, new.speaker, new.supersedes) == (HOME.id, ZHANG, (old.id,))
    assert (new.said_at, new.valid_from, new.valid_to, new.importance) == (NOW, NOW, None, 0.7)
    assert await stands(journal, old.id) == old, "the old one is not altered"
    (said,) = await journal.messages(new.evidence)
    assert (said.text, said.sender, said.ref) == ("我现在不吃辣了", ZHANG, "77@1")
    assert said.batch is not None, "nothing else is learned from it"
    assert await journal.queue() == []
    lines = await library.mine(asker_of(HOME, ZHANG))
    assert [line.fact.id for line in lines] == [new.id]
    # And the old words do not come back.
    assert {row.message for row in await scan(journal, Forgotten)} == {1, *new.evidence}
    assert [row.summary for row in await scan(journal, Episode)] == [""]


async def test_the_past_is_corrected_as_the_past(journal: Journal, library: Library) -> None:
    old = fact(HOME, ZHANG, BEIJING, "张三住在北京", predicate="lives_in", at=T0)
    now = fact(
        HOME, ZHANG, entity("上海"), "张三住在上海", predicate="lives_in", at=T0 + DAY,
        valid_from=T0 + DAY, supersedes=(old.id,),
    )  # fmt: skip
    over = fact(HOME, ZHANG, SPICY, "张三以前爱吃辣", valid_to=T0 - DAY)
    await put(journal, HOME, old, now, over, name(HOME, BEIJING, "北京"))
    first = await newest(journal, await library.correct(*correction(old, "我以前住在天津")))
    second = await newest(journal, await library.correct(*correction(over, "我以前爱吃甜")))
    assert (first.valid_to, second.valid_to) == (T0 + DAY, T0 - DAY)
    assert first.expires is None


async def test_taking_the_command_back_takes_the_correction_back(journal, library):
    old = await world(journal)
    change = await library.correct(*correction(old, "我不吃辣", ref="77@1"))
    new = await newest(journal, change)
    assert await library.retract(HOME.circle, "77")
    assert [f.id for f in await scan(journal, Fact)] == [old.id]
    assert await journal.messages(new.evidence) == []
    with pytest.raises(ConflictError):
        await library.undo(change.id, ZHANG)


async def test_only_summaries_that_tell_of_it_are_looked_at(journal, library):
    """Forgetting does not read through all there ever was: here one could not be read."""
    said = [await journal.append(message(HOME, ZHANG, f"第{n}句"), HOME) for n in range(4)]

    def summed_up(id: str, first: int, last: int, level: str = "episode") -> Episode:
        begun, over = said[first].id, said[last].id
        return Episode(id, HOME.id, T0, T0, begun, over, 1, f"概括{id}", (ZHANG,), level)

    await put(journal, summed_up("p:0", 0, 0), summed_up("p:1", 1, 2), summed_up("p:2", 3, 3),
              summed_up("p:3", 1, 3, "day"))  # fmt: skip
    broken = json.dumps({"first_message": said[0].id, "last_message": said[0].id})
    await journal.alter(
        lambda db, _tell: db.execute("UPDATE row SET data = ? WHERE id = 'p:0'", (broken,)).rowcount
    )
    await library.forget([], asker_of(HOME, ZHANG), ZHANG, [said[2].id])

    def summaries(rows: Rows) -> dict[str, str]:
        found = (rows.get(Episode, f"p:{n}") for n in (1, 2, 3))
        return {episode.id: episode.summary for episode in found if episode}

    assert await journal.read(summaries) == {"p:1": "zhang: 第1句", "p:2": "概括p:2", "p:3": ""}
    assert await journal.read(lambda rows: rows.episodes_of(HOME.id, [])) == []


async def test_a_group_keeps_its_name_though_a_command_does_not_tell_it(journal, library):
    old = fact(ROOM, ZHANG, SPICY, "张三爱吃辣")
    await put(journal, old, replace(ROOM, title="读书会"))
    await library.correct(*correction(old, "我不吃辣", replace(ROOM, title="")))
    assert [session.title for session in await scan(journal, Session)] == ["读书会"]
