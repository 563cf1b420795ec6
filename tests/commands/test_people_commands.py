"""Merging and splitting entities, linking and unlinking accounts, on a real memory."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph_memory.model import Entity, Fact, Participation, Turn, User
from graph_memory.service import MemoryService
from tests.cases import cases

from ..dialogue import played
from ..makers import T0, entity, fact, group, mention, name, private, put, user
from ..world import opened
from . import CLUB, HOME, LI, ZHANG
from . import admin as boss

NEW, NEW_HOME, WORK = user("zhang2"), private("zhang2"), group("同事")
MING, OTHER_MING = entity("小明", CLUB.circle), entity("小明", WORK.circle)
TEA, LONGJING = entity("茶"), entity("龙井茶")


READS = fact(CLUB, MING, TEA, "小明爱读侦探小说")
WORKS = fact(WORK, OTHER_MING, TEA, "小明负责测试", at=T0 + 5)
NUTS = fact(HOME, ZHANG, TEA, "张三对花生过敏")
MOVED = fact(NEW_HOME, NEW, LONGJING, "张三搬到了杭州")
ROWS = [
    *(HOME, NEW_HOME, CLUB, WORK),
    *(User(each) for each in (ZHANG, NEW, LI)),
    *(Entity(each) for each in (MING, OTHER_MING, TEA, LONGJING)),
    name(CLUB, MING, "小明"),
    name(WORK, OTHER_MING, "小明", T0 + 1),
    name(WORK, OTHER_MING, "阿哲"),
    name(HOME, TEA, "茶"),
    name(NEW_HOME, LONGJING, "龙井 茶"),
    name(HOME, ZHANG, "张三"),
    name(NEW_HOME, NEW, "三哥"),
    *(mention(place, node, "person") for place, node in ((CLUB, MING), (WORK, OTHER_MING))),
    *(READS, WORKS, NUTS, MOVED),
    *(Participation(f"p:{n}", place.id, LI, T0, T0 + n, 2) for n, place in enumerate((CLUB, WORK))),
]
COMPANY = ((CLUB, LI), (WORK, LI), (CLUB, NEW))
PEOPLE = cases(Path(__file__).with_name("people.txt"))


async def known(memory: MemoryService) -> None:
    """The people are there, and what is known of them."""
    await put(memory.journal, *ROWS)
    for session, who in COMPANY:
        await memory.learning.hear(Turn(session, who, who, "大家好"), at=T0 - 10)
    await memory.settle()


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[MemoryService]:
    async with opened(tmp_path, now=lambda: T0 + 60) as memory:
        await known(memory)
        yield memory


@pytest.mark.parametrize("name", PEOPLE)
async def test_what_becomes_of_a_dialogue_about_people(tmp_path: Path, name: str) -> None:
    await played(tmp_path, PEOPLE[name], lambda world: known(world.memory))


# -------------------------------------------------------------------- entities


async def test_a_split_takes_apart_what_replaced_what(memory: MemoryService):
    old = fact(CLUB, MING, TEA, "小明住在北京", predicate="lives_in")
    new = fact(CLUB, OTHER_MING, LONGJING, "小明住在上海", supersedes=(old.id,))
    own = fact(CLUB, OTHER_MING, TEA, "小明住在杭州", supersedes=(new.id,))
    await memory.identity_edits.merge(MING, OTHER_MING, "owner")
    await put(memory.journal, old, new, own)
    change = await memory.identity_edits.split(MING, "owner")

    async def links() -> dict[str, tuple[str, ...]]:
        facts = await memory.journal.read(lambda rows: list(rows.find(Fact, session=CLUB.id)))
        return {fact.id: fact.supersedes for fact in facts if fact.id in (new.id, own.id)}

    assert await links() == {new.id: (), own.id: (new.id,)}
    await memory.library.undo(change.id, "owner")
    assert await links() == {new.id: (old.id,), own.id: (new.id,)}


# -------------------------------------------------------------------- accounts


async def test_linking_asks_about_namesakes_of_one_chat(commands, memory):
    names = [name(CLUB, LI, "三哥"), name(CLUB, NEW, "叁哥"), name(WORK, NEW, "三 哥")]
    await put(memory.journal, *names)
    assert "关联了" in await commands.people.answer(boss, "关联 li zhang2")
    await commands.people.answer(boss, "取消关联 li")
    await put(memory.journal, name(CLUB, NEW, "三 哥"))
    asked = await commands.people.answer(boss, "关联 li zhang2")
    assert "冒充" in asked
    assert "（群100）" in asked
    assert f"· {LI}：" in asked
    assert f"· {NEW}：" in asked
    assert memory.identities.accounts(LI) == {LI}
    assert "关联了" in await commands.people.answer(boss, "关联 li zhang2 确认")
