"""Records: found by their letters however old, opened word for word, within scope."""

import re
from dataclasses import replace

import pytest

from graph_memory.companion import transcripts
from graph_memory.model import Episode
from graph_memory.store import Draft
from graph_memory.text import tokens

from ..scripted import answer
from ..world import CLUB, HOME, World, zhang, zhang_in_club

DAY = 86_400.0


async def trip(world: World) -> None:
    """A talk of yesterday, summed up."""
    await world.say(zhang, "周末想去华山看日出，你觉得几点出发好？")
    await world.answer(HOME, "凌晨两点从西安走 <memories>")
    await world.say(zhang, "那我\n定两点的闹钟")
    await world.learn(answer(summary="张三打算周末去华山看日出，两点出发。"))
    world.later(DAY)


def ids(text: str) -> list[str]:
    return re.findall(r"\[(m:[0-9a-f]+)\]", text)


async def test_what_is_not_learned_yet_is_cut_like_what_is(world: World) -> None:
    for number in range(3):
        await world.say(zhang, f"第{number}场雨")
        world.later(700)
    searched = world.memory.companion.transcripts
    before = await searched.recent(zhang.asker, HOME)
    assert [record.messages for record in before] == [1, 1, 1]
    for _ in before:
        await world.learn(answer(summary=""))
    assert await searched.recent(zhang.asker, HOME) == before


async def test_records_that_are_hidden_take_the_place_of_none(world: World) -> None:
    await world.say(zhang_in_club, "我带帐篷")
    await world.learn(answer(summary="张三带帐篷。"))
    searched = world.memory.companion.transcripts
    (shown,) = await searched.recent(zhang_in_club.asker, CLUB)
    hidden = [
        replace(shown, id=f"ep:0{number}", ended_at=shown.ended_at + number, confidential=True)
        for number in range(transcripts.LISTED)
    ]
    await world.memory.journal.commit(lambda _: Draft("learn", "learned", hidden))
    assert await searched.recent(zhang_in_club.asker, CLUB) == [shown]
    (hit,) = (await searched.search(zhang_in_club.asker, "帐篷")).hits
    assert hit.record == shown
    await world.say(zhang_in_club, "还有钉子")  # which goes on with what is shown
    assert [each.id for each in await searched.recent(zhang_in_club.asker, CLUB)] == [shown.id]
    world.later(DAY)
    _, lead = await world.ask(zhang_in_club, "早")
    assert "张三带帐篷。" in lead


async def test_a_long_record_has_pages(world: World) -> None:
    for number in range(40):
        await world.say(zhang, f"第{number}段" + "长" * 100, wait=1)
    await world.learn(answer(summary="很长"))
    (record,) = set(ids(await world.tools.use(zhang, "search_history", {"keyword": "第0段"})))
    pages = [
        await world.tools.use(zhang, "open_record", {"id": record, "page": page})
        for page in ("1", "2", "3", "第四页", "x", "-1")
    ]
    assert "第 1/4 页" in pages[0]
    assert "第0段" in pages[0]
    assert "第 2/4 页" in pages[1]
    assert "第39段" in pages[3]
    assert pages[4] == pages[0] == pages[5]
    said_once = [f"第{n}段" for n in range(40)]
    assert all(sum(f" 〔张三〕{s}" in page for page in pages[:4]) == 1 for s in said_once)


async def test_a_search_that_takes_too_long_says_so(world, monkeypatch):
    await trip(world)
    monkeypatch.setattr(transcripts, "PATIENCE", -1.0)
    monkeypatch.setattr("graph_memory.store.connection._STEPS", 1)
    told = await world.tools.use(zhang, "search_history", {"keyword": "华山"})
    assert "只查了一部分" in told
    monkeypatch.setattr(transcripts, "PATIENCE", 5.0)
    told = await world.tools.use(zhang, "search_history", {"keyword": "华山"})
    assert "看日出" in told
    assert "只查了一部分" not in told


async def test_few_and_short_whatever_there_is(world: World) -> None:
    for number in range(12):
        await world.say(zhang, f"第{number}次聊天")
        await world.learn(answer(summary=f"第{number}次：" + "聊" * 250))
        world.later(3600)
    _, lead = await world.ask(zhang, "在吗")
    shown = [line for line in lead.splitlines() if line.startswith("- [")]
    assert 1 <= len(shown) <= 2
    assert "第11次" in shown[-1]
    assert all(len(line) < 130 for line in shown)
    assert tokens(lead) < 150


async def test_records_of_the_owners_levels_are_not_opened(world: World) -> None:
    await trip(world)
    (episode,) = await world.rows(Episode)
    day = replace(episode, id="d:1", level="day")
    await world.memory.journal.commit(lambda _: Draft("upkeep", "records", put=[day, CLUB]))
    await world.memory.settle()
    assert len(await world.memory.companion.transcripts.recent(zhang.asker, HOME)) == 1
    with pytest.raises(Exception, match="there is no record"):
        await world.memory.companion.transcripts.open(zhang.asker, "d:1")
