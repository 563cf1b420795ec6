"""Records: found by their letters however old, opened word for word, within scope."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.companion import transcripts
from graph_memory.model import Episode, Fact
from graph_memory.store import Draft
from graph_memory.text import tokens

from ..makers import user
from ..scripted import answer, said
from ..world import (
    CLUB,
    HOME,
    SETTINGS,
    World,
    li,
    li_in_club,
    living,
    zhang,
    zhang_in_club,
    zhang_to_lan,
)

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


@pytest.mark.parametrize("keyword", ["日", "华山", "看日出", "华山 日出", "闹 钟"])
async def test_words_of_any_length_lead_to_the_record(world: World, keyword: str) -> None:
    await trip(world)
    found = await world.tools.use(zhang, "search_history", {"keyword": keyword})
    (record,) = set(ids(found))
    opened = await world.tools.use(zhang, "open_record", {"id": record})
    assert "〔张三〕周末想去华山看日出，你觉得几点出发好？" in opened
    assert "〔机器人〕凌晨两点从西安走 ‹memories›" in opened
    assert "〔张三〕那我\n    定两点的闹钟" in opened
    assert opened.startswith("<memories>\n")
    assert opened.count("<") == 2
    assert "第 1/1 页" in opened


async def test_case_and_width_do_not_matter(world: World) -> None:
    await world.say(zhang, "我在学ＰＹＴＨＯＮ和 Rust")
    await world.learn(answer(summary="学编程"))
    for keyword in ("rust", "ＲＵＳＴ", "RUST"):
        assert "Rust" in await world.tools.use(zhang, "search_history", {"keyword": keyword})
    for hostile in ("%", "_", "' OR 1=1 --", '"', "\\"):
        assert "没有找到" in await world.tools.use(zhang, "search_history", {"keyword": hostile})


async def test_by_person_and_time(world: World) -> None:
    await world.say(zhang_in_club, "我带帐篷")
    await world.say(li_in_club, "我带睡袋")
    await world.learn(answer(summary="分工"))
    world.later(3 * DAY)
    await world.say(li_in_club, "我又买了帐篷")
    await world.say(zhang_in_club, "李四你别买了")
    await world.learn(answer(summary="又买"))

    async def search(**given: str) -> str:
        return await world.tools.use(zhang_in_club, "search_history", given)

    both = await search(keyword="帐篷")
    assert "我带帐篷" in both
    assert "又买了帐篷" in both
    his = await search(keyword="带", person="李四")
    assert "睡袋" in his
    assert "帐篷" not in his
    assert "别买了" in await search(keyword="", person="李四")
    mine = await search(keyword="", person="我")
    assert "我带帐篷" in mine
    assert "睡袋" not in mine
    old = await search(keyword="帐篷", time="三天前")
    assert "我带帐篷" in old
    assert "又买" not in old
    assert "没有看懂时间" in await search(keyword="帐篷", time="不知何时")
    assert "没有叫这个名字的人" in await search(keyword="带", person="王五")
    assert "请给出" in await search(keyword="")


async def test_ten_of_them_the_newest_first(world: World) -> None:
    for number in range(14):
        await world.say(zhang, f"第{number}杯咖啡")
    found = await world.memory.companion.transcripts.search(zhang.asker, "咖啡")
    assert [hit.message.text for hit in found.hits] == [
        f"第{number}杯咖啡" for number in range(13, 3, -1)
    ]
    assert found.is_whole
    (record,) = {hit.record for hit in found.hits}
    assert record.messages == 14


async def test_a_conversation_is_a_record_before_it_is_learned(world: World) -> None:
    await trip(world)
    await world.say(zhang, "我买了一艘皮划艇")
    await world.answer(HOME, "什么颜色的？")
    records = world.commands.companion.records
    listed = await records(zhang)
    assert re.search(r"1\. .* · 2 条，1 分钟 · （正在进行）\n2\. .* · 3 条", listed)
    assert listed.count("正在进行") == 1
    assert "什么颜色的？" in await records(zhang, "1")
    found = await world.tools.use(zhang, "search_history", {"keyword": "皮划艇"})
    (short,) = ids(found)
    assert "什么颜色的？" in await world.tools.use(zhang, "open_record", {"id": short})
    # Learned, it is the same record, and it goes on.
    await world.learn(answer(summary="张三买了皮划艇。"))
    await world.say(zhang, "是橙色的")
    listed = await records(zhang)
    assert re.search(r"1\. .* · 3 条，1 分钟 · 张三买了皮划艇。（正在进行）\n2\.", listed)
    opened = await world.tools.use(zhang, "open_record", {"id": short})
    assert "皮划艇" in opened
    assert "是橙色的" in opened
    orange = await world.tools.use(zhang, "search_history", {"keyword": "橙色"})
    assert ids(orange) == [short]
    world.later(600)
    assert "正在进行" not in await records(zhang)


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


async def test_an_open_conversation_is_shown_to_those_who_are_in_it(world: World) -> None:
    await world.say(li_in_club, "张三不在，说个秘密：他要过生日了")
    await world.say(zhang_in_club, "我来了，在说生日吗")
    found = await world.tools.use(zhang, "search_history", {"keyword": "生日"})
    assert "我来了" in found
    assert "秘密" not in found
    (part,) = ids(found)  # what he was there for
    opened = await world.tools.use(zhang, "open_record", {"id": part})
    assert "我来了" in opened
    assert "秘密" not in opened
    await world.say(li, "我偷偷给张三买了蛋糕")
    secret = ids(await world.tools.use(li, "search_history", {"keyword": "蛋糕"}))
    assert len(secret) == 1
    (record,) = await world.memory.companion.transcripts.recent(li.asker, li.session)
    with pytest.raises(Exception, match="there is no record"):
        await world.memory.companion.transcripts.open(zhang.asker, record.id)
    for other in (zhang, zhang_in_club):
        assert await world.memory.companion.transcripts.recent(other.asker, li.session) == []


async def test_only_within_scope(world: World) -> None:
    await trip(world)
    await world.say(zhang_in_club, "群里也说华山")
    await world.learn(answer(summary="群里说华山。"))
    (record,) = await world.memory.companion.transcripts.recent(zhang.asker, HOME)
    mine = await world.tools.use(zhang, "search_history", {"keyword": "华山"})
    assert "看日出" in mine
    assert "群里也说华山" in mine
    assert "〔在「群100」〕" in mine
    for other in (li, zhang_to_lan):
        await world.say(other, "在吗")
        assert "没有找到" in await world.tools.use(other, "search_history", {"keyword": "华山"})
        for short in ids(mine):
            told = await world.tools.use(other, "open_record", {"id": short})
            assert "没有编号为" in told
        assert "没有编号" in await world.commands.companion.records(other, ids(mine)[0])
        with pytest.raises(Exception, match="there is no record"):
            await world.memory.companion.transcripts.open(other.asker, record.id)
    shown = await world.tools.use(zhang_in_club, "search_history", {"keyword": "华山"})
    assert "群里也说华山" in shown
    assert "日出" not in shown


async def test_what_was_said_before_somebody_came_stays_unsaid(world: World) -> None:
    await world.say(li_in_club, "张三不在，说个秘密：他要过生日了")
    await world.say(zhang_in_club, "我来了，在说生日吗")
    await world.learn(answer(summary="生日"))
    found = await world.tools.use(zhang, "search_history", {"keyword": "生日"})
    assert "我来了" in found
    assert "秘密" not in found
    assert ids(found) == []  # he was not there for all of it
    whole = await world.tools.use(zhang_in_club, "search_history", {"keyword": "生日"})
    assert "秘密" in whole
    assert len(set(ids(whole))) == 1


async def test_what_is_forgotten_is_not_found_nor_its_answer(world: World) -> None:
    await world.say(zhang, "我对花生过敏")
    await world.answer(HOME, "好，我记着你对花生过敏")
    await world.say(zhang, "谢谢，晚饭吃面")
    await world.learn(
        answer(said("U1", "allergic_to", "花生", "张三对花生过敏", 1), summary="张三对花生过敏。")
    )
    found = await world.tools.use(zhang, "search_history", {"keyword": "花生"})
    (record,) = set(ids(found))
    (fact,) = await world.rows(Fact)
    await world.memory.library.forget(fact.id, zhang.asker, zhang.user)
    await world.memory.settle()
    assert "没有找到" in await world.tools.use(zhang, "search_history", {"keyword": "花生"})
    opened = await world.tools.use(zhang, "open_record", {"id": record})
    assert "花生" not in opened
    assert "晚饭吃面" in opened
    assert "有 2 条" in opened
    assert "花生" not in await world.lead(zhang, "在吗")


async def test_who_said_it_is_found_and_not_the_copy_that_does_not_know(world: World) -> None:
    nobody = replace(zhang_in_club, user=user("?"), name="")
    await world.say(zhang_in_club, "我带帐篷")
    await world.say(nobody, "我带帐篷")
    await world.say(nobody, "我带帐篷的钉子")
    found = await world.memory.companion.transcripts.search(zhang_in_club.asker, "帐篷")
    assert [(hit.message.name, hit.message.text) for hit in found.hits] == [
        ("", "我带帐篷的钉子"),
        ("张三", "我带帐篷"),
    ]


async def test_a_long_record_has_pages(world: World) -> None:
    for number in range(40):
        await world.say(zhang, f"第{number}段" + "长" * 100, wait=1)
    await world.learn(answer(summary="很长"))
    found = await world.tools.use(zhang, "search_history", {"keyword": "第0段"})
    (record,) = set(ids(found))
    pages = [
        await world.tools.use(zhang, "open_record", {"id": record, "page": page})
        for page in ("1", "2", "3", "4", "十", "-1")
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


async def test_records_are_listed_and_opened_by_number(world: World) -> None:
    assert "还没有" in await world.commands.companion.records(zhang)
    await trip(world)
    await world.say(zhang, "早上好")
    await world.learn(answer(said("U1", "likes", "茶", "张三喜欢茶", 1), worth=True))
    world.later(600)
    listed = await world.commands.companion.records(zhang)
    assert re.search(r"1\. \d{4}-\d\d-\d\d \d\d:\d\d · 1 条，1 分钟 · （没有摘要）", listed)
    assert re.search(r"2\. .* · 3 条，1 分钟 · 张三打算周末去华山看日出，两点出发。", listed)
    opened = await world.commands.companion.records(zhang, "2")
    assert "定两点的闹钟" in opened
    assert "没有编号 9" in await world.commands.companion.records(zhang, "9")
    await world.commands.mine(zhang)
    assert "没有编号 1" in await world.commands.companion.records(zhang, "1")


async def test_recent_summaries_are_in_the_block_with_their_ids(world: World) -> None:
    await trip(world)
    found, lead = await world.ask(zhang, "华山几点的闹钟")
    assert re.search(r"- \[m:[0-9a-f]{4}\] \d{4}-\d\d-\d\d \d\d:\d\d 张三打算周末去华山", lead)
    assert lead in found.block
    opened = await world.tools.use(zhang, "open_record", {"id": ids(lead)[0]})
    assert "定两点的闹钟" in opened
    for other in (zhang_to_lan, zhang_in_club, li):
        _, lead = await world.ask(other, "华山几点的闹钟")
        assert "华山" not in lead


async def test_they_open_a_talk_and_do_not_accompany_it(world: World) -> None:
    await trip(world)
    found, lead = await world.ask(zhang, "早")
    assert "华山" in lead
    assert "华山" not in found.block
    await world.answer(HOME, "早呀")
    found, lead = await world.ask(zhang, "华山几点的闹钟")
    assert "闹钟" in found.block
    assert "华山" not in lead


async def test_what_is_being_talked_is_no_record_yet(world: World) -> None:
    await world.say(zhang, "我在看一本书")
    await world.learn(answer(summary="张三在看书。"))
    _, lead = await world.ask(zhang, "书名你猜")
    assert "张三在看书" not in lead
    await world.answer(HOME, "猜不着")
    world.later(601)
    _, lead = await world.ask(zhang, "我看完了")
    assert "张三在看书" in lead


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


async def test_a_restart_changes_nothing(tmp_path: Path) -> None:
    async with living(tmp_path) as world:
        await trip(world)
        _, before = await world.ask(zhang, "你好")
        clock = world.clock
    async with living(tmp_path, clock=clock) as world:
        _, after = await world.ask(zhang, "在吗")
        assert [line for line in after.splitlines() if "华山" in line] == [
            line for line in before.splitlines() if "华山" in line
        ]
        assert "华山" in after


async def test_without_tools_there_are_no_ids(tmp_path: Path) -> None:
    async with living(tmp_path, replace(SETTINGS, enable_function_calling=False)) as world:
        await trip(world)
        _, lead = await world.ask(zhang, "在吗")
        assert "华山" in lead
        assert ids(lead) == []


async def test_records_of_the_owners_levels_are_not_opened(world: World) -> None:
    await trip(world)
    (episode,) = await world.rows(Episode)
    day = replace(episode, id="d:1", level="day")
    await world.memory.journal.commit(lambda _: Draft("upkeep", "records", put=[day, CLUB]))
    await world.memory.settle()
    assert len(await world.memory.companion.transcripts.recent(zhang.asker, HOME)) == 1
    with pytest.raises(Exception, match="there is no record"):
        await world.memory.companion.transcripts.open(zhang.asker, "d:1")


async def test_a_secret_is_shown_to_nobody_but_its_speaker_who_looks_it_up(world: World) -> None:
    await world.say(zhang, "家里无线网密码是 Kettle-1959!")
    await world.learn(answer(summary="张三说了无线网密码 Kettle-1959!"))
    world.later(DAY)
    found, lead = await world.ask(zhang, "无线网密码是多少")
    assert "无线网" in found.block
    told = [found.block, lead, await world.commands.companion.records(zhang)]
    told.append(await world.tools.use(zhang, "search_history", {"keyword": "无线网"}))
    told.append(await world.tools.use(zhang, "open_record", {"id": ids(lead)[0], "page": ""}))
    assert [each for each in told if "Kettle" in each] == []
    assert "Kettle-1959" in await world.commands.companion.records(zhang, "2")


async def test_what_a_fact_leaves_out_is_found_by_recall_and_search(world: World) -> None:
    await world.say(zhang, "我收集邮票，最贵的是一枚猴票")
    await world.learn(answer(said("U1", "habit", "收集邮票", "张三收集邮票", 1)))
    world.later(DAY)
    found, _ = await world.ask(zhang, "我最贵的邮票是哪枚")
    assert "猴票" in found.block
    assert "猴票" in await world.commands.search(zhang, "猴票")
    assert "猴票" in await world.tools.use(zhang, "memory_recall", {"query": "猴票"})
