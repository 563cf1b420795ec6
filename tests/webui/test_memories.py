"""The table of memories: pages, filters, and what the owner does with one or many."""

import json
import re
from dataclasses import replace
from datetime import datetime

import httpx
import pytest

from graph_memory.library import Amendment, Meant
from graph_memory.service import MemoryService
from graph_memory.store import Draft
from graph_memory.store.queries import FactFilter
from webui.listing import STRENGTHS, FactListing

from .browsing import LIFE, PRIVATE, press, see, send, statements, undo
from .conftest import BULK, application, entered
from .markup import Markup
from .seed import fact_id
from .story import HONG, LI, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")
FACTS = 60 + BULK
BOOKS = "张三收藏了"
MEDITATION = fact_id(LIFE, "张三喜欢睡前冥想十分钟")
KEYBOARD = fact_id(PRIVATE, "张三有一把静电容机械键盘")


async def test_the_table_shows_facts_a_page_at_a_time(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/memories")
    assert f"共 {FACTS} 条" in page.text
    shown = statements(page)
    assert f"1–50 / {FACTS}" in page.text
    while following := page.all("a", rel="next"):
        page = await see(owner, following[0]["href"])
        shown += statements(page)
    assert len(shown) == len(set(shown)) == FACTS
    assert f"101–150 / {FACTS}" in page.text
    (back,) = page.all("a", rel="prev")
    assert statements(await see(owner, back["href"])) == shown[50:100]


async def test_a_page_is_not_moved_by_what_goes_before_it(owner: httpx.AsyncClient) -> None:
    first = await see(owner, "/memories", sort="said")
    (following,) = first.all("a", rel="next")
    second = statements(await see(owner, following["href"]))
    done = await press(owner, "/memories/act", only=f"forget {_id(first)}", confirm="yes")
    assert statements(await see(owner, following["href"])) == second
    await undo(owner, done)


def _id(page: object) -> str:
    return statements(page)[0].removeprefix("/memories/")  # type: ignore[arg-type]


async def test_the_table_is_searched_by_text_and_by_name(owner: httpx.AsyncClient) -> None:
    by_text = await see(owner, "/memories", q="橘猫")
    assert statements(by_text) == [f"/memories/{fact_id(LIFE, '张三养了一只叫年糕的橘猫')}"]
    by_name = await see(owner, "/memories", q="年糕")
    assert "年糕有点超重，医生让它减肥" in by_name.text
    nothing = await see(owner, "/memories", q="100%_\\' OR 1=1 --")
    assert "没有符合条件的记忆" in nothing.text
    assert nothing.all("input", name="q")[0]["value"] == "100%_\\' OR 1=1 --"


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"persona": "life_advisor"}, 16),
        ({"chat": "aiocqhttp:group:88001"}, 16),
        ({"predicate": "plans"}, 5),
        ({"state": "archived"}, 1),
        ({"state": "superseded"}, 2),
        ({"state": "pinned"}, 1),
        ({"node": HONG}, 7),
        ({"persona": "life_advisor", "state": "active", "q": "张三 云南"}, 1),
        ({"since": "2025-10-07"}, 1),
        ({"since": "2025-10-06", "until": "2025-10-06"}, 1),
        ({"persona": "life_advisor", "until": "2024-12-31"}, 5),
    ],
)
async def test_the_table_is_filtered(owner, query, count):
    page = await see(owner, "/memories", **query)
    assert len(statements(page)) == count
    assert f"找到 {count} 条" in page.text
    fields = {tag["value"] for tag in [*page.tags_selected(), *page.all("input", type="date")]}
    assert {value for key, value in query.items() if key != "q"} <= fields


async def test_strengths_are_parts_of_the_whole(owner, service):
    counts = []
    for strength, (least, most) in STRENGTHS.items():
        found = await service.library.browse(
            FactListing(strength=strength).filter(service.zone, 200)
        )
        assert all(least <= line.strength <= most for line in found.items)
        assert f"找到 {found.total} 条" in (await see(owner, "/memories", strength=strength)).text
        counts.append(found.total)
    assert sum(counts) == FACTS
    assert min(counts) > 0


async def test_the_table_is_sorted(owner: httpx.AsyncClient) -> None:
    strongest = await see(owner, "/memories", sort="strength")
    assert statements(strongest)[0].endswith(fact_id(LIFE, "张三对花生严重过敏"))  # pinned
    newest = await see(owner, "/memories", sort="said")
    assert statements(newest)[0].endswith(fact_id(PRIVATE, "张三这周在准备项目上线，压力很大"))


async def test_sorting_and_paging_keep_the_filters(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/memories", node=ZHANG, sort="importance")
    links = [tag["href"] for tag in page.all("a") if tag["href"].startswith("/memories?")]
    kept = [link for link in links if "sort=strength" in link or "cursor=" in link]
    assert len(kept) == 2
    assert all("node=aiocqhttp%3A10001" in link for link in kept)


@pytest.mark.parametrize(
    "query",
    [{"cursor": "0"}, {"cursor": "W10"}, {"cursor": "x" * 1001}, {"cursor": "WzEsMiwzLDRd"},
     {"sort": "f.id; DROP"}, {"state": "dead"}, {"q": "x" * 201}, {"node": "x" * 501},
     {"predicate": "x" * 41}, {"since": "yesterday"}, {"since": "2025-02-30"}, {"strength": "5"},
     {"since": "2025-02-03", "until": "2025-02-02"}],
)  # fmt: skip
async def test_nonsense_gets_a_page_that_says_so(owner, query):
    page = await see(owner, "/memories", 422, **query)
    assert "这个地址读不懂" in page.text
    assert "结束的日期早于开始的" in page.text
    assert not re.search("[a-z]{4} [a-z]{4}", page.text)
    assert page.alive() == []


async def test_the_ends_of_the_calendar_are_days_like_others(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/memories", since="0001-01-01", until="9999-12-31")
    assert f"找到 {FACTS} 条" in page.text


async def test_all_that_was_found_is_archived_and_brought_back(owner, service):
    listed = await see(owner, "/memories", q=BOOKS, state="active")
    (every,) = [tag["value"] for tag in listed.all("input", name="every")]
    asked = Markup((await send(owner, "/memories/act", 200, every=every, action="archive")).text)
    assert f"归档 {BULK} 条记忆？" in asked.text
    assert not asked.all("input", name="id")
    (seen,) = [tag["value"] for tag in asked.all("button", name="confirm")]
    assert (await service.library.browse(FactFilter(text=BOOKS, status="archived"))).total == 0
    # What was shown is not what is there now: it is shown again.
    some = [(await service.library.browse(FactFilter(text=BOOKS))).items[0].fact.id]
    early = await service.library.act("archive", some, "owner")
    form = {"every": every, "action": "archive", "confirm": seen}
    again = Markup((await send(owner, "/memories/act", 200, **form)).text)
    assert f"归档 {BULK - 1} 条记忆？" in again.text
    await service.library.undo(early.id, "owner")
    done = await press(owner, "/memories/act", **form)
    assert f"已归档 {BULK} 条" in done.text
    await undo(owner, done)
    assert f"找到 {BULK} 条" in (await see(owner, "/memories", q=BOOKS, state="active")).text


@pytest.mark.parametrize("every", ["/memories?state=dead", "/memories?since=x", "?sort=f.id"])
async def test_all_of_a_list_that_is_none_is_refused(owner: httpx.AsyncClient, every: str) -> None:
    await send(owner, "/memories/act", 422, every=every, action="forget")


async def test_doubtful_facts_are_reviewed(owner, service):
    page = await see(owner, "/review")
    ids = [line.fact.id for line in (await service.library.browse(FactFilter())).items[:1]]
    assert "听说的" not in page.text
    wanted = Amendment("", hearsay=True)
    change = await service.library.amend(ids[0], wanted, "owner")
    page = await see(owner, "/review")
    assert "听说的 1" in page.text
    (link,) = [a["href"] for a in page.all("a") if a["href"].endswith("state=hearsay")]
    assert statements(await see(owner, link)) == [f"/memories/{ids[0]}"]
    await service.library.undo(change.id, "owner")


async def test_what_another_said_once_is_weak(owner, service):
    fact = (await service.library.fact(KEYBOARD)).line.fact
    draft = Draft("owner", "test", put=[replace(fact, speaker=LI)])
    change = await service.journal.commit(lambda _: draft)
    assert statements(await see(owner, "/memories", state="weak")) == [f"/memories/{KEYBOARD}"]
    assert "只有一句话撑着 1" in (await see(owner, "/review")).text
    await service.library.undo(change.id, "owner")


async def test_two_accounts_are_settled_and_that_is_undone(owner, service):
    home = fact_id(PRIVATE, "张三住在上海，今年春天刚搬过去")
    about = Meant("张三", ZHANG)
    told = Amendment("张三住在广州", "lives_in", Meant("广州", "new"))
    change = await service.library.tell(PRIVATE.id, about, told)
    found = statements(await see(owner, "/memories", state="disputed"))
    assert len(found) == 2
    assert f"/memories/{home}" in found
    page = await see(owner, "/review")
    assert "说法不一 1" in page.text
    pair = " ".join(sorted(each.removeprefix("/memories/") for each in found))
    done = await press(owner, "/review", settle=pair)
    assert "说法不一" not in (await see(owner, "/review")).text
    assert statements(await see(owner, "/memories", state="disputed")) == []
    await undo(owner, done)
    assert "说法不一 1" in (await see(owner, "/review")).text
    await service.library.undo(change.id, "owner")
    assert statements(await see(owner, "/memories", state="disputed")) == []


async def test_what_is_kept_twice_is_found_in_one_chat_only(service):
    told = Amendment("张三给吉他换了弦", "owns", Meant("吉他", "new"))
    first = await service.library.tell(PRIVATE.id, Meant("张三", ZHANG), told)
    thing = Meant("吉他", next(op.id for op in first.ops if op.kind == "entity"))
    again = Amendment("张三有一把吉他", "owns", thing)
    second = await service.library.tell(PRIVATE.id, Meant("张三", ZHANG), again)
    elsewhere = await service.library.tell(LIFE.id, Meant("张三", ZHANG), again)
    (pair,) = [each for each in await service.library.conflicts() if each.one.object == "吉他"]
    assert not pair.differs
    assert {pair.one.session.id, pair.other.session.id} == {PRIVATE.id}
    for change in (elsewhere, second, first):
        await service.library.undo(change.id, "owner")


async def test_a_doubtful_fact_is_fine_by_the_owners_word(owner, service):
    fact = (await service.library.fact(KEYBOARD)).line.fact
    change = await service.library.amend(fact.id, Amendment("", hearsay=True), "owner")
    done = await press(owner, "/review", settle=KEYBOARD)
    assert "听说的" not in (await see(owner, "/review")).text
    await undo(owner, done)
    assert "听说的 1" in (await see(owner, "/review")).text
    await service.library.undo(change.id, "owner")
    refused = await press(owner, "/review", settle="e:nix e:nada")
    assert "没有可以更改的" in refused.text


async def test_who_sounds_alike_is_proposed_until_told_apart(service):
    told = Amendment("晨光社记在这里", "other", None)
    change = await service.library.tell(PRIVATE.id, Meant("陈光设计", "new"), told)
    (pair,) = [p for p in await service.library.namesakes() if "陈光设计" in (p[0].name, p[1].name)]
    assert {each.name for each in pair} == {"晨光设计", "陈光设计"}
    apart = await service.library.settle(pair[0].node, pair[1].node, "owner")
    assert pair not in await service.library.namesakes()
    for each in (apart, change):
        await service.library.undo(each.id, "owner")


async def test_who_bears_one_name_is_proposed_and_not_merged(owner, service):
    before = await service.journal.last_change()
    told = Amendment("小红会弹琴", "other", None)
    change = await service.library.tell(PRIVATE.id, Meant("晨光设计", "new"), told)
    page = await see(owner, "/review")
    assert "可能是同一个" in page.text
    links = [a["href"] for a in page.all("a") if a["href"].startswith("/node/merge")]
    asked = [(await see(owner, link)).text for link in links]
    assert any("归到“晨光设计”名下" in text for text in asked)
    assert await service.journal.last_change() == before + 1
    await service.library.undo(change.id, "owner")


# ----------------------------------------------------------------- one memory


async def test_a_memory_shows_its_source_and_its_history(owner: httpx.AsyncClient) -> None:
    newer, older = (
        fact_id(PRIVATE, "张三住在上海，今年春天刚搬过去"),
        fact_id(PRIVATE, "张三住在北京"),
    )
    page = await see(owner, f"/memories/{newer}")
    assert "张三 2025年9月19日 16:53 看前后文 我搬到上海啦，住在徐汇" in page.text
    assert "此前是 张三住在北京" in page.text
    assert page.all("a", href=f"/memories/{older}")
    before = await see(owner, f"/memories/{older}")
    assert "已被取代" in before.text
    assert "后来变成 张三住在上海" in before.text
    (context,) = [tag["href"] for tag in page.all("a", **{"class": "said-open"})]
    scene = await see(owner, context)
    assert "我在北京上班，租在望京" in scene.text  # what was said before it
    assert scene.all("blockquote", **{"class": "said said-here"})
    assert scene.all("a", href=f"/memories/{newer}")


async def test_a_memory_says_when_it_fades(owner: httpx.AsyncClient) -> None:
    pinned = await see(owner, f"/memories/{fact_id(LIFE, '张三对花生严重过敏')}")
    assert "不会淡去" in pinned.text
    assert "已置顶" in pinned.text
    id = fact_id(LIFE, "张三每天早上要喝一杯美式咖啡")
    archived = await see(owner, f"/memories/{id}")
    assert "2025年10月4日归档" in archived.text
    assert archived.all("button", value=f"restore {id}")


# ------------------------------------------------------------ doing something


async def test_forgetting_is_shown_first_and_can_be_undone(owner, service):
    path = f"/memories/{MEDITATION}"
    asked = await send(owner, "/memories/act", 200, only=f"forget {MEDITATION}", back=path)
    assert "忘记 1 条记忆？" in asked.text
    assert "1 条原话不再被想起" in asked.text
    assert "1 段对话的摘要会被清空" in asked.text
    await see(owner, path)  # nothing was done yet
    fields = {"action": "forget", "id": MEDITATION, "confirm": "yes", "back": path}
    done = await press(owner, "/memories/act", **fields)
    assert "已忘记 1 条" in done.text
    await see(owner, path, 404)
    assert "已忘记" not in (await see(owner, "/memories")).text  # said once
    again = await undo(owner, done)
    assert "已撤销" in again.text
    assert "张三喜欢睡前冥想十分钟" in again.text
    change = await service.journal.change(await service.journal.last_change())
    assert change is not None
    assert (change.actor, change.reason) == ("owner", "undo")


async def test_archiving_and_restoring(owner: httpx.AsyncClient) -> None:
    path = f"/memories/{KEYBOARD}"
    done = await press(owner, "/memories/act", only=f"archive {KEYBOARD}", back=path)
    assert "已归档 1 条" in done.text
    assert not done.all("button", value=f"archive {KEYBOARD}")
    restored = await press(owner, "/memories/act", only=f"restore {KEYBOARD}", back=path)
    assert "已恢复" in restored.text
    # Undoing the older of two changes is refused in words.
    assert "无法撤销" in (await undo(owner, done)).text
    again = await press(owner, "/memories/act", only=f"restore {KEYBOARD}", back=path)
    assert "没有可以更改的" in again.text


async def test_pinning_lasts_until_it_is_undone(owner: httpx.AsyncClient) -> None:
    path = f"/memories/{KEYBOARD}"
    done = await press(owner, "/memories/act", only=f"pin {KEYBOARD}", back=path)
    assert "不会淡去" in done.text
    assert done.all("button", value=f"unpin {KEYBOARD}")
    back = await undo(owner, done)
    assert back.all("button", value=f"pin {KEYBOARD}")


async def test_many_at_once_are_one_change(owner, service):
    coffee = fact_id(LIFE, "张三每天早上要喝一杯美式咖啡")  # archived already
    ids = [MEDITATION, KEYBOARD, coffee, "f:gone"]
    before = await service.journal.last_change()
    asked = await send(owner, "/memories/act", 200, action="archive", id=ids)
    assert "归档 2 条记忆？" in asked.text
    assert "2 条保持不变" in asked.text
    assert await service.journal.last_change() == before
    done = await press(owner, "/memories/act", action="archive", id=ids, confirm="yes")
    assert "已归档 2 条" in done.text
    assert await service.journal.last_change() == before + 1
    assert len(statements(await see(owner, "/memories", state="archived"))) == 3
    await undo(owner, done)
    assert len(statements(await see(owner, "/memories", state="archived"))) == 1


async def test_many_at_once_become_important(owner, service):
    ids = [MEDITATION, KEYBOARD]
    before = [(await service.library.fact(id)).line.fact for id in ids]
    asked = await send(owner, "/memories/act", 200, action="important", id=ids)
    assert "把 2 条记忆标为重要？" in asked.text
    done = await press(owner, "/memories/act", action="important", id=ids, confirm="yes")
    assert "已标为重要：2 条" in done.text
    after = [(await service.library.fact(id)).line.fact for id in ids]
    assert [fact.importance for fact in after] == [0.9, 0.9]
    assert all(new.half_life > old.half_life for new, old in zip(after, before, strict=True))
    await undo(owner, done)
    assert [(await service.library.fact(id)).line.fact for id in ids] == before


async def test_many_at_once_take_another_relation_and_keep_their_past(owner, service):
    coffee = fact_id(LIFE, "张三每天早上要喝一杯美式咖啡")  # archived already
    ids = [MEDITATION, KEYBOARD, coffee]
    before = [(await service.library.fact(id)).line.fact for id in ids]
    asked = await send(owner, "/memories/act", 200, action="relate", id=ids)
    page = Markup(asked.text)
    assert "给 2 条记忆换一种关系？" in page.text
    assert "1 条保持不变" in page.text
    offered = {tag["value"] for tag in page.all("option")}
    assert offered >= {"skilled_in", "likes"}
    fields = {"action": "relate", "id": ids, "confirm": "yes"}
    for none in ({}, {"relation": "no_such"}, {"relation": ""}):
        again = await send(owner, "/memories/act", 200, **fields, **none)
        assert "换一种关系" in again.text
    done = await press(owner, "/memories/act", **fields, relation="skilled_in")
    assert "已改成另一种关系：2 条" in done.text
    for old, id in zip(before, ids, strict=True):
        found = await service.library.fact(id)
        if id == coffee:
            assert found.line.fact == old
            continue
        (new,) = found.replaced_by
        assert new.fact.predicate == "skilled_in"
        assert (new.fact.statement, new.fact.evidence) == (old.statement, old.evidence)
    assert "改关系" in (await see(owner, "/changes")).text
    await undo(owner, done)
    assert [(await service.library.fact(id)).line.fact for id in ids] == before
    assert not (await service.library.fact(KEYBOARD)).replaced_by


async def test_chosen_memories_are_taken_out_with_the_words_they_rest_on(owner, service):
    done = await press(owner, "/memories/act", action="export", id=[MEDITATION, KEYBOARD])
    assert "已导出" in done.text
    link, *_ = [tag["href"] for tag in done.all("a") if "download" in tag]
    assert "/facts-" in link
    lines = [json.loads(line) for line in (await owner.get(link)).text.splitlines()]
    facts = {line["data"]["id"]: line["data"] for line in lines if line.get("type") == "fact"}
    assert facts.keys() == {MEDITATION, KEYBOARD}
    cited = {id for fact in facts.values() for id in fact["evidence"]}
    assert {line["id"] for line in lines if line["kind"] == "message"} == cited != set()
    assert "没有可以更改的" in (await press(owner, "/memories/act", action="export")).text


async def test_nothing_selected_is_said(owner: httpx.AsyncClient) -> None:
    for fields in ({"action": "archive"}, {"action": "no", "id": KEYBOARD}, {"only": "x y"}, {}):
        assert "没有可以更改的" in (await press(owner, "/memories/act", **fields)).text
    answer = await send(owner, "/memories/act", back="//evil.test/x")
    assert answer.headers["location"] == "/x"


async def test_a_memory_is_corrected_and_keeps_its_past(owner, service):
    id = fact_id(LIFE, "年糕有点超重，医生让它减肥")
    form = await see(owner, f"/memories/{id}/edit")
    assert "不再想起它依据的 1 条原话" in form.text
    words = "年糕已经瘦下来了 <b>4.2</b> 公斤"
    done = await press(owner, f"/memories/{id}/edit", statement=words, mute="yes")
    assert words in done.text
    assert "此前是 年糕有点超重，医生让它减肥" in done.text
    old = await service.library.fact(id)
    (new,) = old.replaced_by
    assert new.fact.said_at == old.line.fact.said_at
    assert new.fact.evidence == old.line.fact.evidence
    await undo(owner, done)
    assert (await service.library.fact(id)).replaced_by == []


async def test_a_correction_that_changes_nothing_is_none(owner: httpx.AsyncClient) -> None:
    for words in ("张三有一把静电容机械键盘", "  ", ""):
        done = await press(owner, f"/memories/{KEYBOARD}/edit", statement=words)
        assert "没有变化" in done.text


async def test_an_edit_changes_the_fact_and_not_only_its_sentence(owner, service):
    form = await see(owner, f"/memories/{KEYBOARD}/edit")
    assert {each["name"] for each in form.all("select")} >= {"predicate"}
    fields = {"predicate": "likes", "object": "钢琴", "statement": "张三喜欢钢琴"}
    dates = {"since": "2025-09-01", "until": "", "importance": "80"}
    done = await press(owner, f"/memories/{KEYBOARD}/edit", **fields, **dates)
    assert "张三 喜欢 钢琴 张三喜欢钢琴" in done.text
    assert "2025年9月1日 至 今 重要程度 80%" in done.text
    await undo(owner, done)
    assert (await service.library.fact(KEYBOARD)).replaced_by == []


async def test_a_fact_goes_over_to_whom_it_is_about(owner, service):
    path = f"/memories/{KEYBOARD}/edit"
    form = await see(owner, path)
    assert [tag["value"] for tag in form.all("input", name="about")] == ["张三"]
    asked = Markup((await send(owner, path, 422, about="小红", statement="")).text)
    assert "请看清是谁" in asked.text
    chosen = [tag["value"] for tag in asked.all("input", name="about_node")]
    assert HONG in chosen
    fields = {"about": "小红", "about_node": HONG, "statement": "", "hearsay": "yes"}
    done = await press(owner, path, **fields)
    assert "小红有一把静电容机械键盘" in done.text
    again = (await see(owner, path)).text
    assert "张三" in again
    await undo(owner, done)
    assert (await service.library.fact(KEYBOARD)).replaced_by == []


async def test_a_day_to_be_forgotten_is_set_and_taken_away(owner, service):
    path = f"/memories/{KEYBOARD}/edit"
    done = await press(owner, path, statement="", expires="2031-05-08")
    assert "到期忘掉 2031年5月8日" in done.text
    fact = (await service.library.fact(KEYBOARD)).line.fact
    assert datetime.fromtimestamp(fact.expires, service.zone).date().isoformat() == "2031-05-09"
    form = await see(owner, path)
    assert [each["value"] for each in form.all("input", name="expires")] == ["2031-05-08"]
    done = await press(owner, path, statement="", expires="")
    assert "到期忘掉" not in done.text
    await undo(owner, done)
    assert (await service.library.fact(KEYBOARD)).line.fact == fact


async def test_a_correction_of_the_bot_says_why_on_both_sides(owner, service):
    old = (await service.library.fact(KEYBOARD)).line.fact
    new = replace(old, id=f"{old.id}-2", statement="张三有一把薄膜键盘", supersedes=(old.id,))
    put = [replace(new, corrects=True)]
    await service.journal.commit(lambda rows: Draft("learn", "learned", put=put))
    assert "于是由后来那条取代" in (await see(owner, f"/memories/{KEYBOARD}")).text
    assert "机器人照此前那条说了" in (await see(owner, f"/memories/{new.id}")).text
    drop = [(new.kind, new.id)]
    await service.journal.commit(lambda rows: Draft("learn", "learned", drop=drop))
    assert "取代" not in (await see(owner, f"/memories/{KEYBOARD}")).text


async def test_relations_of_the_owner_are_offered_and_shown(service):
    path = f"/memories/{KEYBOARD}/edit"
    one = application(service, extra_relations=("wields|挥舞|wields",))
    async with entered(one) as owner, entered(application(service)) as another:
        await send(another, path, 422, statement="", predicate="wields")
        done = await press(owner, path, statement="", predicate="wields")
        assert "挥舞" in done.text
        (graph,) = (await see(owner, "/graph")).all("div", id="graph")
        assert json.loads(graph["data-predicates"])["wields"] == "挥舞"
        await undo(owner, done)


@pytest.mark.parametrize(
    "wrong",
    [
        {"importance": "101"},
        {"importance": "nan"},
        {"predicate": "DROP TABLE"},
        {"since": "2025-02-30"},
        {"expires": "2025-02-30"},
        {"since": "2025-02-03", "until": "2025-02-01"},
    ],
)
async def test_what_no_form_offers_is_refused_and_what_was_typed_stays(owner, wrong):
    answer = await send(owner, f"/memories/{KEYBOARD}/edit", 422, statement="机械键盘坏了", **wrong)
    assert "机械键盘坏了" in answer.text


async def test_the_later_of_two_corrections_sees_the_earlier_one(owner, service):
    def seen(form: Markup) -> str:
        return form.all("input", name="seen")[0]["value"]

    opened = seen(await see(owner, f"/memories/{KEYBOARD}/edit"))
    first = await press(owner, f"/memories/{KEYBOARD}/edit", statement="甲改的", seen=opened)
    answer = await send(owner, f"/memories/{KEYBOARD}/edit", 409, statement="乙改的", seen=opened)
    both = Markup(answer.text)
    assert "现在写着" in both.text
    assert "甲改的" in both.text
    assert "乙改的" in both.text
    assert "不一样的： 应该是 可靠程度" not in both.text
    assert "不一样的： 应该是" in both.text
    assert "保留现在存着的" in both.text
    (form,) = both.all("form", **{"class": "edit"})
    second = await press(owner, form["action"], statement="乙改的", seen=seen(both))
    assert "此前是 甲改的" in second.text
    await undo(owner, second)
    await undo(owner, first)
    assert (await service.library.fact(KEYBOARD)).replaced_by == []


async def test_a_muted_message_is_shown_as_such_and_comes_back(owner: httpx.AsyncClient) -> None:
    muted = await press(owner, f"/memories/{KEYBOARD}/edit", statement="键盘送人了", mute="yes")
    assert "不会再被想起" in muted.text
    ((path, names),) = [form for form in muted.forms() if form[0].endswith("/recall")]
    assert names == {"csrf", "back"}
    back = muted.all("input", name="back")[-1]["value"]
    heard = await press(owner, path, back=back)
    assert "不会再被想起" not in heard.text
    await undo(owner, heard)
    await undo(owner, muted)


async def whom(owner: httpx.AsyncClient, given: dict[str, str]) -> dict[str, str]:
    """Whom the form has chosen, as it asks before it keeps anything about an account."""
    asked = Markup((await send(owner, "/memories/new", 422, **given)).text)
    assert "请看清是谁" in asked.text
    (chosen,) = [tag for tag in asked.all("input", name="about_node") if "checked" in tag]
    return {"about_node": chosen["value"]}


async def test_who_is_told_of_is_shown_as_an_account(owner, service):
    given = {"session": PRIVATE.id, "about": "张三", "statement": "张三会弹琴"}
    before = await service.journal.last_change()
    asked = Markup((await send(owner, "/memories/new", 422, **given)).text)
    assert f"张三 这个聊天里认识 · 聊天的人 {ZHANG} 私聊 张三 ·" in asked.text
    assert "· 最近 20" in asked.text
    assert await whom(owner, given) == {"about_node": ZHANG}
    assert await service.journal.last_change() == before


async def test_the_owner_tells_a_fact(owner: httpx.AsyncClient, service: MemoryService) -> None:
    line = (await service.library.fact(KEYBOARD)).line
    given = {"session": line.session.id, "about": "张三", "statement": "张三下月去成都出差"}
    assert line.session.id in {
        tag["value"] for tag in (await see(owner, "/memories/new")).all("option")
    }
    given |= await whom(owner, given)
    done = await press(owner, "/memories/new", **given, predicate="plans", object="成都")
    assert "张三 打算 成都 张三下月去成都出差" in done.text
    assert "主人记下的" in done.text
    await undo(owner, done)
    for missing in ("about", "statement"):
        await send(owner, "/memories/new", 422, **given | {missing: " "})
    lost = await press(owner, "/memories/new", **given | {"session": "qq:private:x#y"})
    assert "没有变化" in lost.text


async def test_a_sentence_that_names_something_else_asks_what(owner, service):
    path, old = f"/memories/{KEYBOARD}/edit", (await service.library.fact(KEYBOARD)).line
    said, new = old.fact.statement, old.object.replace("机械", "静电容")
    fields = {"statement": said.replace(old.object, new), "object": old.object}
    asked = Markup((await send(owner, path, 422, **fields)).text)
    assert "没有原来的对象了" in asked.text
    assert [(tag["value"], "autofocus" in tag) for tag in asked.all("input", name="object")] == [
        (new, True)
    ]
    (sure,) = asked.all("input", name="asked")
    done = await press(owner, path, **fields | {"object": new, "asked": sure["value"]})
    assert [tag.name for tag in await service.library.search(new)] == [new]
    await undo(owner, done)
    told = {"statement": f"{old.subject}什么都不缺", "object": "", "asked": "yes"}
    done = await press(owner, path, **told)
    assert await service.library.search("什么都不缺") == []
    await undo(owner, done)


async def test_a_memory_about_nothing_else_makes_no_thing_of_its_sentence(owner, service):
    line = (await service.library.fact(KEYBOARD)).line
    given = {"session": line.session.id, "about": "张三", "statement": "张三会弹琴"}
    before = {each.node: each.facts for each in await service.library.search("张三")}
    done = await press(owner, "/memories/new", **given, **await whom(owner, given))
    assert "张三会弹琴" in done.text
    assert await service.library.search("弹琴") == []
    after = {each.node: each.facts for each in await service.library.search("张三")}
    assert sum(after.values()) == sum(before.values()) + 1
    node = next(tag["href"] for tag in done.all("a") if tag["href"].startswith("/node"))
    assert "张三会弹琴" in (await see(owner, node)).text
    await undo(owner, done)


async def test_somebody_known_elsewhere_is_no_second_person(owner, service):
    given = {"session": PRIVATE.id, "about": "小红", "statement": "小红会弹琴"}
    before = {each.node: each.facts for each in await service.library.search("小红")}
    asked = Markup((await send(owner, "/memories/new", 422, **given)).text)
    assert "可能指不止一个" in asked.text
    found = asked.text.partition(f"小红 别的聊天里的 · 聊天的人 {HONG} ")[2]
    assert f" · {before[HONG]} 条事实" in found[:60]
    assert [each["value"] for each in asked.all("input", name="about_node")] == [HONG, "new"]
    assert asked.all("textarea")
    assert {each.node: each.facts for each in await service.library.search("小红")} == before
    # One who is not called so is not taken for it, whatever a form says.
    await send(owner, "/memories/new", 422, **given, about_node=LI)
    done = await press(owner, "/memories/new", **given, about_node=HONG)
    after = {each.node: each.facts for each in await service.library.search("小红")}
    assert after == before | {HONG: before[HONG] + 1}
    # Now that chat knows them: they are chosen already, and listed first.
    given["statement"] = "小红会唱歌"
    more = await press(owner, "/memories/new", **given, **await whom(owner, given))
    listed = await see(owner, "/memories/new", about="红", session=PRIVATE.id)
    assert "小红 这个聊天里认识" in listed.text
    await undo(owner, more)
    given["session"] = LIFE.id
    new = await press(owner, "/memories/new", **given, about_node="new")
    assert len(await service.library.search("小红")) == len(before) + 1
    await undo(owner, new)
    await undo(owner, done)
    assert {each.node: each.facts for each in await service.library.search("小红")} == before


async def test_another_of_the_name_can_be_the_object(owner, service):
    path = f"/memories/{KEYBOARD}/edit"
    fields = {"statement": "张三和小红合用一把键盘", "asked": "yes", "object": "小红"}
    asked = Markup((await send(owner, path, 422, **fields)).text)
    assert [each["value"] for each in asked.all("input", name="object_node")] == [HONG, "new"]
    done = await press(owner, path, **fields, object_node=HONG)
    assert "张三 拥有 小红 张三和小红合用一把键盘" in done.text
    assert [each.node for each in await service.library.search("小红")] == [HONG]
    await undo(owner, done)


async def test_what_was_done_cannot_be_made_up(owner: httpx.AsyncClient) -> None:
    owner.cookies.set("gm_done", "eyJ3aGF0IjoiZm9yZ2V0In0.x.y", domain="memory.test")
    page = await see(owner, "/memories")
    assert not page.all("div", **{"class": "done"})


@pytest.mark.parametrize(
    "path",
    ["/memories/f:nothing", "/memories/a/b", "/nowhere", "/memories/", "/memories/f:no/edit"],
)
async def test_what_is_not_there_is_said(owner: httpx.AsyncClient, path: str) -> None:
    page = await see(owner, path, 404)
    assert "这里什么也没有" in page.text
    assert "there is" not in page.text


async def test_correcting_what_is_gone_is_said(owner: httpx.AsyncClient) -> None:
    await send(owner, "/memories/f:no/edit", 404, statement="x")
