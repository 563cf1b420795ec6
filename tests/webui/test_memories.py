"""The table of memories: pages, filters, and what the owner does with one or many."""

import json
from dataclasses import replace

import httpx
import pytest

from graph_memory.store import Draft
from webui.listing import STRENGTHS, FactListing

from .browsing import LIFE, PRIVATE, press, see, send, statements, undo
from .conftest import BULK, application, entered
from .seed import fact_id
from .story import LI

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
