"""Looking through somebody's eyes."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from graph_memory.errors import NotFoundError
from graph_memory.inspect.view_as import NOBODY, STRANGER, Barrier, Outlook, Standing
from graph_memory.model import Asker, Fact, Link, Name, User, asker_of
from graph_memory.recall.documents import Kind
from graph_memory.recall.index import Index
from graph_memory.recall.visible import VisibleSet
from graph_memory.service import MemoryService
from graph_memory.store import Draft
from tests.makers import QQ, T0, entity, fact, group, message, name, private, put, user

from ..world import opened

DAY = 86_400.0
ZHANG, LI, WANG = user("1"), user("2"), user("3")
MEI, LAN = private("1", "mei"), private("1", "lan")
LIS = private("2", "mei")
CLUB, OTHER = group("9", "mei"), group("8", "mei")
SECOND = user("11")

OLD = fact(MEI, ZHANG, entity("北京"), "张三住在北京", at=T0 - 30 * DAY)
NEW = fact(MEI, ZHANG, entity("上海"), "张三搬到上海了", at=T0 - 10 * DAY, supersedes=(OLD.id,))
CAT = fact(LAN, ZHANG, entity("年糕"), "张三养了橘猫年糕", at=T0 - 9 * DAY)
FOOD = fact(LAN, entity("年糕"), entity("冻干"), "年糕喜欢吃冻干", at=T0 - 8 * DAY)
SECRET = fact(LIS, LI, entity("辞职"), "李四打算辞职", at=T0 - 7 * DAY)
EARLY = fact(CLUB, LI, entity("黄山"), "李四想去黄山看日出", at=T0 - 20 * DAY)
LATE = fact(CLUB, LI, entity("膝盖"), "李四膝盖有旧伤", at=T0 - 5 * DAY)
FADED = replace(
    fact(MEI, ZHANG, entity("集邮"), "张三以前集邮", at=T0 - 40 * DAY),
    status="archived", archived_at=T0 - 2 * DAY,
)  # fmt: skip
FACTS = (OLD, NEW, CAT, FOOD, SECRET, EARLY, LATE, FADED)


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[MemoryService]:
    async with opened(tmp_path, zone=ZoneInfo("Asia/Shanghai"), now=lambda: T0) as service:
        rows: list[User | Name | Fact] = [*map(User, (ZHANG, LI, WANG)), *FACTS]
        rows += [name(MEI, ZHANG, "张三"), name(LIS, LI, "李四"), name(CLUB, WANG, "王五")]
        await put(service.journal, MEI, LAN, LIS, CLUB, OTHER, *rows)
        # 张三 joined the club after 李四 had spoken of 黄山; 王五 is only in the other group.
        for said, where in (
            (message(CLUB, LI, "我想去黄山看日出", T0 - 21 * DAY), CLUB),
            (message(CLUB, ZHANG, "大家好", T0 - 6 * DAY), CLUB),
            (message(OTHER, WANG, "早上好", T0 - 6 * DAY), OTHER),
            (message(LIS, LI, "我打算辞职，别告诉别人", T0 - 7 * DAY), LIS),
        ):
            await service.journal.append(said, where)
        await service.settle()
        yield service


async def looks(memory: MemoryService, asker: Asker, at: float = T0) -> Outlook:
    return await memory.view_as.outlook(asker, at)


def stands(outlook: Outlook) -> dict[str, Standing | Barrier]:
    return {outlook.facts[id].statement: sign for id, sign in outlook.seen.items()}


def barriers(outlook: Outlook) -> dict[str, Standing | Barrier]:
    return {outlook.facts[id].statement: sign for id, sign in outlook.hidden.items()}


async def test_whose_eyes_there_are(memory: MemoryService) -> None:
    found = await memory.view_as.choices()
    assert found.people == sorted(
        [(ZHANG, "张三"), (LI, "李四"), (WANG, "王五")], key=lambda each: each[1]
    )
    assert found.groups == [(OTHER.circle, "群8"), (CLUB.circle, "群9")]
    assert found.personas == ["lan", "mei"]


async def test_a_group_without_a_title_goes_by_its_number(memory: MemoryService) -> None:
    await put(memory.journal, replace(group("7000", "mei"), title=""))
    names = dict((await memory.view_as.choices()).groups)
    assert names[group("7000").circle] == "7000"


async def test_with_an_account_of_ours_that_has_its_private_chats_for_itself(memory):
    alone = private("1", "mei", "998")
    told = fact(alone, ZHANG, entity("口琴"), "张三在学口琴", at=T0 - DAY)
    await memory.journal.commit(lambda _: Draft("learn", "learned", [alone, told]))
    await memory.settle()
    (home,) = (await memory.view_as.choices()).homes
    asker = memory.view_as.asker(ZHANG, home, "mei")
    assert asker == asker_of(alone, ZHANG)
    assert "张三在学口琴" in stands(await looks(memory, asker))
    elsewhere = await looks(memory, memory.view_as.asker(ZHANG, "", "mei"))
    assert barriers(elsewhere)["张三在学口琴"] is Barrier.AUDIENCE


async def test_what_was_told_in_confidence_in_a_group_is_kept_as_that(memory):
    kept = replace(LATE, id="f:kept", statement="李四怀孕了", confidential=True)
    await put(memory.journal, kept)
    for asker in (asker_of(CLUB, WANG), memory.view_as.asker(LI, "", "mei")):
        assert barriers(await looks(memory, asker))[kept.statement] is Barrier.CONFIDENCE
    lan = await looks(memory, memory.view_as.asker(ZHANG, "", "lan"))
    assert barriers(lan)[kept.statement] is Barrier.CONFIDENCE


async def test_what_is_archived_is_seen_whatever_it_replaced(memory: MemoryService) -> None:
    kept = replace(FADED, id="f:kept", statement="张三搬去过天津", supersedes=(OLD.id,))
    await put(memory.journal, kept)
    outlook = await looks(memory, memory.view_as.asker(ZHANG, "", "mei"))
    assert stands(outlook)[kept.statement] is Standing.ARCHIVED


async def test_in_private_one_sees_ones_own_and_the_club_since_one_came(memory):
    outlook = await looks(memory, memory.view_as.asker(ZHANG, "", "mei"))
    assert stands(outlook) == {
        "李四膝盖有旧伤": "true",
        "张三养了橘猫年糕": "true",  # what is known about a user is shared by all personas
        "张三搬到上海了": "true",
        "张三住在北京": "replaced",
        "张三以前集邮": "archived",
    }
    assert barriers(outlook) == {
        "李四打算辞职": Barrier.AUDIENCE,
        "年糕喜欢吃冻干": Barrier.PERSONA,
        "李四想去黄山看日出": Barrier.ABSENT,
    }
    assert outlook.unknown == 0
    assert [*outlook.seen.values()].count(Standing.ARCHIVED) == 1
    assert [outlook.facts[id].recorded_at for id in outlook.seen] == sorted(
        (outlook.facts[id].recorded_at for id in outlook.seen), reverse=True
    )


async def test_a_group_sees_itself_and_a_stranger_of_a_persona_the_shared_layer(memory):
    club = await looks(memory, memory.view_as.asker(NOBODY, CLUB.circle, "mei"))
    assert set(stands(club)) == {"李四想去黄山看日出", "李四膝盖有旧伤"}
    assert set(barriers(club).values()) == {Barrier.AUDIENCE}
    fresh = await looks(memory, memory.view_as.asker(ZHANG, "", STRANGER))
    assert "张三搬到上海了" in stands(fresh)
    assert barriers(fresh)["年糕喜欢吃冻干"] is Barrier.PERSONA
    with pytest.raises(NotFoundError):
        memory.view_as.asker(NOBODY, "", "mei")


async def test_linked_accounts_see_as_one(memory: MemoryService) -> None:
    second = memory.view_as.asker(SECOND, "", "mei")
    assert stands(await looks(memory, second)) == {}
    link = Link("l:1", *sorted((ZHANG, SECOND)))
    await memory.journal.commit(lambda _: Draft("owner", "link", [link]))
    one, other = (memory.view_as.asker(account, "", "mei") for account in (ZHANG, SECOND))
    assert stands(await looks(memory, other)) == stands(await looks(memory, one)) != {}
    assert second.circle == f"{QQ}:private:11"


async def test_the_past(memory: MemoryService) -> None:
    asker = memory.view_as.asker(ZHANG, "", "mei")
    outlook = await looks(memory, asker, T0 - 15 * DAY)
    assert stands(outlook) == {"张三住在北京": "true", "张三以前集邮": "true"}
    assert barriers(outlook) == {"李四想去黄山看日出": Barrier.ABSENT}
    assert outlook.unknown == 5
    assert stands(await looks(memory, asker, 0.0)) == {}


async def test_what_is_seen_is_what_recall_sees(memory: MemoryService) -> None:
    def facts(index: Index, visible: VisibleSet) -> set[str]:
        numbers = visible.numbers[visible.kind == Kind.FACT].tolist()
        return {index.documents[number].text for number in numbers}

    for user_id in (NOBODY, ZHANG, LI, WANG, SECOND):
        for circle in ("", CLUB.circle, OTHER.circle, "nowhere:group:0"):
            for persona in ("mei", "lan", STRANGER):
                if not (user_id or circle):
                    continue
                asker = memory.view_as.asker(user_id, circle, persona)
                outlook = await looks(memory, asker)
                current = {s for s, how in stands(outlook).items() if how != "archived"}
                assert current == await memory.recall.inspect(asker, facts)
                assert set(stands(outlook)) | set(barriers(outlook)) == {
                    each.statement for each in FACTS
                }


async def test_one_question_asked_twice(memory: MemoryService) -> None:
    asker = memory.view_as.asker(ZHANG, "", "mei")
    found = await memory.view_as.compare(asker, "李四打算辞职吗？")
    assert "辞职" not in found.told.block
    assert "辞职" in (await memory.recall.rehearse(asker, "李四打算辞职吗？", unscoped=True)).block
    kept = {(each.kind, barrier) for each, barrier in found.kept if "辞职" in each.text}
    assert kept <= {("fact", Barrier.AUDIENCE), ("message", Barrier.AUDIENCE)}
    assert kept
    # Looking leaves no trace that the people of that chat could come upon.
    assert memory.recall.traces.of(asker.circle) == memory.recall.traces.recent() == []
    himself = memory.view_as.asker(LI, "", "mei")
    assert (await memory.view_as.compare(himself, "我打算辞职吗？")).kept == []
