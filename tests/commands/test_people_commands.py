"""Merging and splitting entities, linking and unlinking accounts, on a real memory."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph_memory.commands.memory_commands import Commands
from graph_memory.errors import BondError, NotFoundError
from graph_memory.model import Entity, Fact, Link, Merge, Participation, Session, Turn, User
from graph_memory.service import MemoryService
from graph_memory.store.queries import FactFilter
from tests.cases import cases
from tests.views import assert_views_follow

from ..dialogue import Dialogue
from ..makers import T0, all_changes, entity, fact, group, mention, name, private, put, user
from ..world import World, opened
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


def caller(session: Session, who: str, memory: MemoryService) -> Turn:
    """Somebody who speaks, as the host finds out."""
    return Turn(session, who, who, accounts=memory.identities.accounts(who))


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[MemoryService]:
    async with opened(tmp_path, now=lambda: T0 + 60) as memory:
        await put(memory.journal, *ROWS)
        for session, who in COMPANY:
            await memory.learning.hear(Turn(session, who, who, "大家好"), at=T0 - 10)
        await memory.settle()
        yield memory


@pytest.mark.parametrize("name", PEOPLE)
async def test_what_becomes_of_a_dialogue_about_people(world: World, name: str) -> None:
    await put(world.memory.journal, *ROWS)
    for session, who in COMPANY:
        await world.memory.learning.hear(Turn(session, who, who, "大家好"), at=T0 - 10)
    await Dialogue(world).play(PEOPLE[name])


# -------------------------------------------------------------------- entities


async def test_a_merge_unites_what_is_listed(memory: MemoryService):
    change = await memory.identity_edits.merge(MING, OTHER_MING, boss.user)
    page = await memory.library.browse(FactFilter(node=MING))
    assert {line.fact.id for line in page.items} == {READS.id, WORKS.id}
    assert {line.subject for line in page.items} == {"小明"}
    await memory.library.undo(change.id, boss.user)
    assert (await memory.library.browse(FactFilter(node=MING))).total == 1


async def test_what_cannot_be_merged_or_split(memory: MemoryService):
    edits = memory.identity_edits
    for node, into, code in ((ZHANG, MING, "person"), (MING, ZHANG, "person"), (TEA, TEA, "one")):
        with pytest.raises(BondError) as refused:
            await edits.merge(node, into, "owner")
        assert refused.value.code == code
    with pytest.raises(NotFoundError):
        await edits.merge("e:0000000000000000", TEA, "owner")
    await edits.merge(TEA, LONGJING, "owner")
    for node, into in ((TEA, LONGJING), (LONGJING, TEA)):  # no circles
        with pytest.raises(BondError, match="one already"):
            await edits.merge(node, into, "owner")
    with pytest.raises(BondError) as refused:
        await edits.split(LONGJING, "owner")  # it survived
    assert refused.value.code == "apart"
    await edits.merge(LONGJING, MING, "owner")
    merged = await memory.journal.read(lambda rows: rows.identities())
    assert merged.nodes(TEA) == {TEA, LONGJING, MING}
    assert merged.canonical(TEA) == MING


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


async def test_links_are_there_after_a_restart(tmp_path: Path):
    async with opened(tmp_path) as first:
        await put(first.journal, *ROWS)
        await first.identity_edits.link(ZHANG, NEW, "owner")
        await first.identity_edits.merge(MING, OTHER_MING, "owner")
    async with opened(tmp_path) as again:
        assert again.identities.accounts(NEW) == {ZHANG, NEW}
        assert again.identities.canonical(MING) == OTHER_MING
        await assert_views_follow(again)


async def test_who_is_unlinked_leaves_the_others_together(memory: MemoryService):
    await memory.identity_edits.link(ZHANG, NEW, "owner")
    await memory.identity_edits.link(NEW, LI, "owner")
    with pytest.raises(BondError):
        await memory.identity_edits.link(LI, ZHANG, "owner")
    change = await memory.identity_edits.unlink(NEW, "owner")
    await memory.settle()
    assert memory.identities.accounts(LI) == {ZHANG, LI}
    assert memory.identities.accounts(NEW) == {NEW}
    await memory.library.undo(change.id, "owner")
    await memory.settle()
    assert memory.identities.accounts(NEW) == {ZHANG, NEW, LI}


async def test_forgetme_is_for_one_account_and_says_so(commands: Commands, memory: MemoryService):
    await memory.identity_edits.link(ZHANG, NEW, "owner")
    await memory.identity_edits.link(NEW, LI, "owner")
    in_club = await commands.privacy.forget_me(caller(CLUB, NEW, memory))
    assert "这一个账号" in in_club
    assert ZHANG not in in_club
    assert f"{LI}、{ZHANG}" in await commands.privacy.forget_me(caller(NEW_HOME, NEW, memory))
    await commands.privacy.forget_me(caller(NEW_HOME, NEW, memory), "确认")
    await memory.settle()
    assert memory.identities.accounts(NEW) == {NEW}
    assert memory.identities.accounts(LI) == {ZHANG, LI}
    assert "花生" in await commands.mine(caller(HOME, ZHANG, memory))
    kept = await memory.journal.read(lambda rows: list(rows.scan(Link)))
    assert [(link.a, link.b) for link in kept] == [(LI, ZHANG)]
    assert NEW not in repr(await all_changes(memory.journal))


async def test_a_merge_goes_with_the_last_of_an_entity(memory: MemoryService):
    await memory.identity_edits.merge(LONGJING, TEA, "owner")
    await memory.forget_me.forget(NEW)
    await memory.settle()
    assert memory.identities.merges == []
    assert await memory.journal.read(lambda rows: list(rows.scan(Merge))) == []
