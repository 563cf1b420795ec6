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
from .seed import fact_id
from .story import LI, ZHANG

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


async def test_what_was_once_and_what_is_to_come_contradict_nothing(service):
    now = service.now()
    told = [
        await service.library.tell(
            PRIVATE.id,
            Meant("张三", ZHANG),
            Amendment(statement, "lives_in", Meant(place, "new"), period=period),
        )
        for statement, place, period in (
            ("张三住泉州", "泉州", (now, None)),
            ("张三以前住漳州", "漳州", (None, now)),
            ("张三明年搬去莆田", "莆田", (now + 2e7, None)),
        )
    ]
    pairs = [{each.one.object, each.other.object} for each in await service.library.conflicts()]
    assert {"泉州"} & set().union(*pairs)  # with another home
    assert not any(pair <= {"泉州", "漳州", "莆田"} for pair in pairs)
    for change in reversed(told):
        await service.library.undo(change.id, "owner")


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


async def test_what_was_done_cannot_be_made_up(owner: httpx.AsyncClient) -> None:
    owner.cookies.set("gm_done", "eyJ3aGF0IjoiZm9yZ2V0In0.x.y", domain="memory.test")
    assert not (await see(owner, "/memories")).all("div", **{"class": "done"})
