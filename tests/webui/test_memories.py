"""The table of memories: pages, filters, and what the owner does with one or many."""

import json
from dataclasses import replace
from datetime import datetime

import httpx
import pytest

from graph_memory.library import Amendment, Meant
from graph_memory.store import Draft
from webui.listing import STRENGTHS, FactListing

from .browsing import LIFE, PRIVATE, press, see, send, statements, undo
from .conftest import BULK, application, entered
from .markup import Markup
from .seed import fact_id
from .story import HONG, LI, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")
FACTS = 60 + BULK
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


async def test_what_another_said_once_is_weak(owner, service):
    fact = (await service.library.fact(KEYBOARD)).line.fact
    draft = Draft("owner", "test", put=[replace(fact, speaker=LI)])
    change = await service.journal.commit(lambda _: draft)
    assert statements(await see(owner, "/memories", state="weak")) == [f"/memories/{KEYBOARD}"]
    assert "只有一句话撑着 1" in (await see(owner, "/review")).text
    await service.library.undo(change.id, "owner")


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


async def test_who_sounds_alike_is_proposed_until_told_apart(service):
    told = Amendment("晨光社记在这里", "other", None)
    change = await service.library.tell(PRIVATE.id, Meant("陈光设计", "new"), told)
    (pair,) = [p for p in await service.library.namesakes() if "陈光设计" in (p[0].name, p[1].name)]
    assert {each.name for each in pair} == {"晨光设计", "陈光设计"}
    apart = await service.library.settle(pair[0].node, pair[1].node, "owner")
    assert pair not in await service.library.namesakes()
    for each in (apart, change):
        await service.library.undo(each.id, "owner")


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
    page = Markup((await send(owner, "/memories/act", 200, action="relate", id=ids)).text)
    assert "给 2 条记忆换一种关系？" in page.text
    assert "1 条保持不变" in page.text
    assert {tag["value"] for tag in page.all("option")} >= {"skilled_in", "likes"}
    fields = {"action": "relate", "id": ids, "confirm": "yes"}
    for none in ({}, {"relation": "no_such"}, {"relation": ""}):
        assert "换一种关系" in (await send(owner, "/memories/act", 200, **fields, **none)).text
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


async def test_a_change_leads_to_no_other_site(owner):
    assert (await send(owner, "/memories/act", back="//evil.test/x")).headers["location"] == "/x"


async def test_a_day_to_be_forgotten_is_set_and_taken_away(owner, service):
    path = f"/memories/{KEYBOARD}/edit"
    given = await press(owner, path, statement="", expires="2031-05-08")
    assert "到期忘掉 2031年5月8日" in given.text
    fact = (await service.library.fact(KEYBOARD)).line.fact
    assert datetime.fromtimestamp(fact.expires, service.zone).date().isoformat() == "2031-05-09"
    form = await see(owner, path)
    assert [each["value"] for each in form.all("input", name="expires")] == ["2031-05-08"]
    done = await press(owner, path, statement="", expires="")
    assert "到期忘掉" not in done.text
    await undo(owner, done)
    assert (await service.library.fact(KEYBOARD)).line.fact == fact
    await undo(owner, given)


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


async def whom(owner: httpx.AsyncClient, given: dict[str, str]) -> dict[str, str]:
    """Whom the form has chosen, as it asks before it keeps anything about an account."""
    asked = Markup((await send(owner, "/memories/new", 422, **given)).text)
    assert "请看清是谁" in asked.text
    (chosen,) = [tag for tag in asked.all("input", name="about_node") if "checked" in tag]
    return {"about_node": chosen["value"]}


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


async def test_what_was_done_cannot_be_made_up(owner: httpx.AsyncClient) -> None:
    owner.cookies.set("gm_done", "eyJ3aGF0IjoiZm9yZ2V0In0.x.y", domain="memory.test")
    assert not (await see(owner, "/memories")).all("div", **{"class": "done"})
