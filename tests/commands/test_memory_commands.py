"""``/memory``, on a real memory: who is told what, and who may change what."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.access import Access
from graph_memory.commands.memory_commands import Commands
from graph_memory.errors import GraphMemoryError
from graph_memory.model import Entity, Episode, Fact, Quote, Turn, User
from graph_memory.retention import DAY
from graph_memory.service import MemoryService
from graph_memory.store import Draft

from ..cases import rows as table
from ..makers import T0, Clock, entity, fact, name, put
from ..world import living, opened
from . import CLUB, HOME, LI, ZHANG, admin, zhang, zhang_in_club

CLIMBING, PEANUTS, TEA = entity("爬山"), entity("花生"), entity("龙井")

admin_in_club = replace(admin, session=CLUB)


def rows(*facts: Fact) -> list[object]:
    sessions = (HOME, CLUB)
    nodes = [User(ZHANG), User(LI), *(Entity(e) for e in (CLIMBING, PEANUTS, TEA))]
    return [*sessions, *nodes, name(HOME, ZHANG, "张三"), name(CLUB, ZHANG, "张三"), *facts]


SECRET = fact(HOME, ZHANG, PEANUTS, "张三对花生过敏", predicate="allergic_to", importance=0.9)
HOBBY = fact(CLUB, ZHANG, CLIMBING, "张三喜欢爬山\n第二行{x}", importance=0.3)
OTHERS = fact(CLUB, LI, TEA, "李四爱喝龙井")


@pytest.fixture
async def memory(tmp_path: Path, clock: Clock) -> AsyncIterator[MemoryService]:
    async with opened(tmp_path, now=clock) as memory:
        for account in (ZHANG, LI):
            await memory.learning.hear(Turn(CLUB, account, account, "大家好"), at=T0 - 10)
        await put(memory.journal, *rows(SECRET, HOBBY, OTHERS))
        await memory.recall.settle()
        yield memory


async def test_a_word_that_was_said_is_found(commands: Commands, memory: MemoryService) -> None:
    """Beside many others, as the only word of a question, in every spelling."""
    for number, text in enumerate(table(__file__, "said")):
        await memory.learning.hear(replace(zhang, text=text, ref=f"8@{number}"))
    await memory.recall.settle()
    for word in table(__file__, "searched"):
        found = await commands.search(zhang, word)
        assert "找到 1 条" in found, (word, found)
        assert len(found.splitlines()) <= 7, found  # three that are similar, two headings, a hint
    assert "没有找到" in await commands.search(zhang, "ike")


async def test_status(commands: Commands) -> None:
    commands.web = "http://127.0.0.1:6190"
    wrong = GraphMemoryError("it is used").told("webui", where="port 6199")
    commands.memory.problems["webui"] = wrong
    assert "2 条" in await commands.status(zhang)
    assert "port 6199" not in await commands.status(zhang)
    assert "1 条" in await commands.status(zhang_in_club)
    details = await commands.status(admin)
    assert "事实 3" in details
    assert "port 6199" in details
    assert "http://127.0.0.1:6190" in details
    in_club = await commands.status(admin_in_club)
    assert "事实" not in in_club
    assert "私聊" in in_club


async def test_the_owner_gets_a_login_link_in_private(commands: Commands, tmp_path: Path) -> None:
    assert "webui_port" in await commands.page(admin)
    commands.memory.problems["webui"] = GraphMemoryError("").told("webui", where="6199")
    assert "打不开" in await commands.page(admin)
    commands.web, commands.access = "http://127.0.0.1:6190", Access.open(tmp_path, "12345678")
    for who in (zhang, zhang_in_club, admin_in_club):
        told = await commands.page(who)
        assert "私聊" in told
        assert "login" not in told
    told = await commands.page(admin)
    (code,) = re.findall(r"http://127\.0\.0\.1:6190/login\?link=(\S+)", told)
    assert "10 分钟" in told
    assert commands.access.redeem(code)


async def test_status_tells_what_upkeep_wrote_and_let_go(commands, memory):
    before = await commands.status(admin)
    assert "摘要 0" in before
    assert "删去旧消息 0 条" in before
    talk = Episode("ep:1", CLUB.id, T0, T0 + 1, 1, 2, 2, "聊了爬山", (ZHANG,))
    day = replace(talk, id="ep:2", level="day", parts=(talk.id,))
    await memory.journal.commit(lambda _: Draft("upkeep", "records", [CLUB, talk, day]))
    await memory.journal.set_note("thinned messages", "7")
    details = await commands.status(admin)
    assert "对话 1 · 日、周、月摘要 1" in details
    assert "删去旧消息 7 条" in details
    assert (await memory.journal.counts())["episode"] == 1, "a record is no conversation"
    assert "总结" not in await commands.status(admin_in_club)


async def test_preview(commands: Commands, clock: Clock) -> None:
    clock.now = T0 + 300 * DAY
    told = await commands.preview(admin)
    assert "现在就会归档：0 条" in told
    assert "90 天内会归档：1 条" in told
    assert told.count("爬山") == 1  # listed once, not again for a year
    assert "花生" not in told
    in_club = await commands.preview(admin_in_club)
    assert "私聊" in in_club
    assert "1 条" not in in_club  # not even how much there is


async def test_this_is_something_to_remember_where_something_is_quoted(commands: Commands) -> None:
    this = replace(zhang, text="这个")
    assert "要记住什么" in await commands.remember(this)
    assert "记住了" in await commands.remember(replace(this, quote=Quote(LI, "李四", "1", "牛奶")))


@pytest.mark.parametrize("is_forgotten", [False, True])
async def test_what_is_taken_back_while_it_is_learned_is_not_remembered(tmp_path, is_forgotten):
    async with living(tmp_path) as world:
        world.model.gate = asyncio.Event()
        turn = replace(zhang, text="记住我的生日是5月3日", ref="7@1")
        asked = asyncio.create_task(world.commands.remember(turn))
        await world.model.asked.wait()
        if is_forgotten:
            await world.memory.forget_me.forget(ZHANG)
        else:
            await world.memory.library.retract(HOME.circle, "7")
        world.model.gate.set()
        assert "没有记" in await asked
        assert not await world.memory.library.mine(zhang.asker)
