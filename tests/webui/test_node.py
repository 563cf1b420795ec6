"""A person's or a thing's own page: names, times, what is one with it."""

import asyncio
from urllib.parse import quote, urlencode

import httpx
import pytest

from graph_memory.model import Participation, User
from graph_memory.service import MemoryService

from ..makers import T0, group, name, put, user
from .browsing import press, see, send, undo
from .conftest import application, entered, opened
from .story import HONG, LI, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def entity(service: MemoryService, name: str) -> str:
    """Id of a seeded thing."""
    return next(e.node for e in await service.library.search(name) if e.name == name)


async def test_a_person_has_names_places_and_facts_of_now_and_before(owner):
    page = await see(owner, "/node", id=ZHANG)
    assert "张三 聊天的人 · 117 条事实" in page.text
    assert "私聊 张三 · 2023年11月9日 – 2025年10月7日" in page.text
    assert [tag["href"] for tag in page.all("a") if tag["href"] in {"/people", "/memories"}][
        -1:
    ] == ["/people"]
    now, _, before = page.text.partition(" 从前 ")
    assert "张三住在上海，今年春天刚搬过去 住在 2025年9月19日 – 今" in now
    # What was replaced stands with what replaced it, and ended when that began.
    assert "张三住在北京 2024年9月4日 – 2025年9月19日" in now
    assert "张三每天早上要喝一杯美式咖啡" in before
    bars = page.all("rect", **{"class": "bar"})
    assert sum("data-over" in bar for bar in bars) == 2
    assert all(bar["x"].endswith("%") and bar["width"].endswith("%") for bar in bars)
    assert page.all("text")


async def test_a_fact_opens_its_words(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/node", id=HONG)
    links = [tag["href"] for tag in page.all("a", **{"class": "source-link"})]
    assert len(links) == 7
    assert "我负责拍照" in " ".join([(await see(owner, link)).text for link in links])


@pytest.mark.parametrize("id", ["e:nothing", "aiocqhttp:1", "", "\x00", "<b>"])
async def test_nobody_is_not_there(owner: httpx.AsyncClient, id: str) -> None:
    await see(owner, "/node", 404, id=id)


async def test_a_person_is_sketched_from_facts_that_are_true_now(owner):
    text = (await see(owner, "/node", id=ZHANG)).text
    sketch = text[text.index("一句话说来") : text.index(" 现在 ")]
    assert "张三住在上海，今年春天刚搬过去 。" in sketch
    assert "北京" not in sketch
    assert "美式咖啡" not in sketch  # archived
    assert "喜好与习惯" in sketch
    page = await see(owner, "/node", id=HONG)
    assert "认识的人" in page.text
    assert any(
        a["href"].startswith("/node?id=aiocqhttp") for a in page.all("a", **{"class": "chip"})
    )


async def test_a_name_is_listed_once_however_many_chats_know_it(owner, service):
    page = await see(owner, "/node", id=ZHANG)
    names = page.text[page.text.index(" 名字 ") : page.text.index(" 出现在 ")]
    borne = [name for name, _ in (await service.library.node(ZHANG)).names if name.text == "张三"]
    assert len(borne) > 1
    assert f"另有 {len(borne) - 1} 个聊天" in names
    assert names.count("2023年11月9日") <= 1


async def test_a_persona_lists_what_only_it_knows(owner):
    page = await see(owner, "/persona", name="life_advisor")
    only = page.text[page.text.index("只有它知道的") : page.text.index("最近学到的")]
    assert "年糕" in only
    assert "张三喜欢睡前冥想" not in only
    found = await see(owner, "/memories", persona="life_advisor", own="yes")
    assert "张三喜欢睡前冥想" not in found.text
    assert "年糕有点超重" in found.text


async def test_an_account_is_paused_and_heard_again(owner, service):
    done = await press(owner, "/node/pause", id=LI)
    assert "已暂停：从现在起" in done.text
    assert "它说的话一句也不记" in done.text
    assert service.learning.pauses.holds("user", LI)
    assert "又会记下" in (await press(owner, "/node/pause", id=LI)).text
    assert not service.learning.pauses.holds("user", LI)


@pytest.mark.parametrize("path", ["/node/pause", "/node/forget"])
@pytest.mark.parametrize("id", ["e:nothing", "qq:nobody", "", "\x00"])
async def test_nobody_is_neither_paused_nor_forgotten(owner, path, id):
    await send(owner, path, 404, id=id, sure="yes")


async def test_somebody_is_forgotten_for_good_once_it_was_shown(tmp_path):
    async with opened(tmp_path) as memory, entered(application(memory)) as owner:
        page = await see(owner, "/node", id=LI)
        (link,) = [a["href"] for a in page.all("a") if a["href"].startswith("/node/forget")]
        asked = await see(owner, link)
        assert LI in asked.text
        assert "无法撤销" in asked.text
        assert "只删除这一个账号" not in asked.text
        assert "请先勾选" in (await press(owner, "/node/forget", id=LI)).text
        await see(owner, "/node", id=LI)
        done = await press(owner, "/node/forget", id=LI, sure="yes")
        assert "已彻底删除" in done.text
        await see(owner, "/node", 404, id=LI)
        await see(owner, "/node", id=HONG)


async def test_who_does_not_wait_for_it_reads_later_that_somebody_was_forgotten(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("webui.pages.people.SOON", 0)
    async with opened(tmp_path) as memory, entered(application(memory)) as owner:
        begun = await press(owner, "/node/forget", id=LI, sure="yes")
        assert "已经开始" in begun.text
        async with asyncio.timeout(30):
            while memory.journal.works.under_way:
                await asyncio.sleep(0.01)
        assert "已彻底删除" in (await see(owner, "/people")).text
        await see(owner, "/node", 404, id=LI)


async def test_of_a_hub_the_newest_facts_are_drawn_and_the_rest_is_a_press_away(owner, service):
    (hub, *_) = (await service.library.overview()).people
    portrait = await service.library.node(hub.node)
    page = await see(owner, "/node", id=hub.node)
    drawn = page.all("a", **{"class": "thread-link"})
    assert len(portrait.threads) > 100 > 0
    assert 100 <= len(drawn) <= 200
    assert f"一共 {portrait.total} 条事实" in page.text
    assert page.all("a", href=f"/memories?{urlencode({'node': hub.node})}")


async def test_who_is_forgotten_has_linked_accounts_that_stay(owner, service):
    change = await service.identity_edits.link(LI, HONG, "owner")
    assert f"关联的账号（{HONG}）不会删除" in (await see(owner, "/node/forget", id=LI)).text
    await service.library.undo(change.id, "owner")


async def test_merging_is_shown_first_and_can_be_undone(owner, service):
    one, other = await entity(service, "晨光设计"), await entity(service, "星河科技")
    chosen = await see(owner, "/node/merge", id=one, q="星河")
    assert "组织 · " in chosen.text, "what may be meant is told by its kind"
    (link,) = [tag["href"] for tag in chosen.all("a") if "into=" in tag["href"]]
    before = await service.journal.last_change()
    asked = await see(owner, link)
    assert "归到“星河科技”名下，共 4 条事实" in asked.text
    assert asked.text.count("组织 · ") == 2
    assert await service.journal.last_change() == before
    done = await press(owner, "/node/merge", id=one, into=other)
    try:
        assert "已合并" in done.text
        assert "晨光设计 3 条事实" in done.text
        assert "4 条事实" in (await see(owner, "/node", id=one)).text
        assert "做不到" in (await press(owner, "/node/merge", id=one, into=other)).text
        split = await press(owner, "/node/split", id=one)
        assert "已拆开" in split.text
        assert "3 条事实" in (await see(owner, "/node", id=one)).text
        again = await undo(owner, split)
        assert "已撤销" in again.text
    finally:
        await service.identity_edits.split(one, "owner")
        await service.settle()


async def test_people_and_things_are_not_merged(owner, service):
    cat = await entity(service, "年糕")
    for one, other in ((ZHANG, cat), (cat, ZHANG), (ZHANG, ZHANG)):
        assert "做不到" in (await press(owner, "/node/merge", id=one, into=other)).text
    await send(owner, "/node/merge", 404, id="e:no", into="e:none")


async def test_two_accounts_of_one_person_are_linked_and_parted(owner, service):
    before = await see(owner, "/node", id=LI)
    assert "关联账号" in before.text
    page = await see(owner, "/node/merge", id=LI, into=HONG)
    assert "算作同一个人" in page.text
    linked = await press(owner, "/node/merge", id=LI, into=HONG)
    assert LI in {each.node for each in (await service.library.node(HONG)).accounts}
    parted = await press(owner, "/node/split", id=LI)
    assert (await service.library.node(HONG)).accounts == []
    await undo(owner, parted)
    await undo(owner, linked)


async def test_namesakes_are_shown_as_accounts_before_they_are_linked(owner, service):
    club, clone = group("7901"), user("10702")
    rows = [club, User(clone), name(club, clone, "張三"), name(club, ZHANG, "张三")]
    rows.append(Participation("p:clone", club.id, clone, T0, T0, 3))
    change = await put(service.journal, *rows)
    chosen = await see(owner, "/node/merge", id=ZHANG, q="張三")
    assert f"張三 {clone} 群聊 群7901 · 最近 2026年9月21日 · 0 条事实" in chosen.text
    asked = await see(owner, "/node/merge", id=ZHANG, into=clone)
    assert f"{clone} 群聊 群7901" in asked.text
    assert f"{ZHANG} 私聊 张三" in asked.text
    assert "冒充" in asked.text
    assert "冒充" not in (await see(owner, "/node/merge", id=LI, into=HONG)).text
    for page in (await see(owner, "/people"), await see(owner, "/people", q="張三")):
        assert clone in page.text
    assert change
    await service.library.undo(change.id, "owner")
    await service.settle()


async def test_people_and_personas_are_places(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/people")
    assert f"/node?id={quote(LI, safe='')}" in {tag["href"] for tag in page.all("a")}
    assert "life_advisor 1 个会话" in page.text
    found = await see(owner, "/people", q="年糕")
    assert "年糕" in found.text
    persona = await see(owner, "/persona", name="life_advisor")
    assert "4 条只有它知道" in persona.text
    assert "/persona life_advisor" in persona.text
    await see(owner, "/persona", 404, name="nobody")
    await see(owner, "/persona", 404, name="")
