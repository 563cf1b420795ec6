"""A person's or a thing's own page: names, times, what is one with it."""

import re
from dataclasses import replace
from urllib.parse import urlencode

import httpx
import pytest

from graph_memory.model import Participation, User
from graph_memory.retention import DAY
from graph_memory.store.queries import FactFilter
from webui.rendering import node_url

from ..makers import T0, fact, group, name, private, put, user
from .browsing import PRIVATE, press, see
from .conftest import application, entered, opened
from .seed import NOW
from .story import HONG, LI, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_fact_opens_its_words(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/node", id=HONG)
    links = [tag["href"] for tag in page.all("a", **{"class": "source-link"})]
    assert len(links) == 7
    assert "我负责拍照" in " ".join([(await see(owner, link)).text for link in links])


async def test_accounts_and_chats_of_one_name_are_told_apart_where_one_is_chosen(own, mine):
    twin, chat = user("twin"), private("twin")
    club = replace(group("7"), title="周末爬山小队")
    facts = [fact(each, twin, LI, f"张三认识李四 {each.id}") for each in (chat, club)]
    named = replace(name(chat, twin, "张三"), last_at=4e9)
    there = Participation("p:1", chat.id, twin, T0, T0, 1)
    await put(own.journal, User(twin), chat, club, named, there, *facts)
    pages = [await see(mine, path) for path in ("/memories", "/viewas", "/data")]
    both = [f"张三 · {id}" in page.text for page in pages for id in (ZHANG, twin)]
    assert all(both), both
    assert all(f"周末爬山小队 · {club.circle}" in page.text for page in pages[:2])


async def test_of_a_hub_the_newest_facts_are_drawn_and_the_rest_is_a_press_away(owner, service):
    (hub, *_) = (await service.library.overview()).people
    portrait = await service.library.node(hub.node)
    page = await see(owner, "/node", id=hub.node)
    drawn = page.all("a", **{"class": "thread-link"})
    assert len(portrait.threads) > 100 > 0
    assert 100 <= len(drawn) <= 200
    assert f"一共 {portrait.total} 条事实" in page.text
    assert page.all("a", href=f"/memories?{urlencode({'node': hub.node})}")


async def test_of_more_facts_than_are_read_no_part_is_counted(tmp_path):
    async with opened(tmp_path, 300) as memory, entered(application(memory)) as owner:
        page = await see(owner, "/node", id=ZHANG)
    assert "327 条事实" in page.text
    assert re.search(r"(现在|从前) \d+ ", page.text) is None


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
    await service.library.undo(change.id, "owner")
    await service.settle()


async def test_what_is_to_come_or_over_is_said_to_be_so(mine, own):
    """And what began with the epoch has a beginning."""
    about = fact(PRIVATE, ZHANG, ZHANG, "张三明年搬去苏州", valid_from=NOW + 90 * DAY)
    born = replace(about, id="f:born", statement="奶奶生在1970年", valid_from=0.0, precision="year")
    over = replace(about, id="f:over", statement="张三打过工", valid_from=None, valid_to=NOW - DAY)
    await put(own.journal, about, born, over)
    person = await see(mine, "/node", id=ZHANG)
    assert "张三明年搬去苏州 喜欢 2026年1月7日起" in person.text
    for id, told in (
        (about.id, "尚未开始.*有效期 2026年1月7日起"),
        (born.id, "有效 .*有效期 1970年 至 今"),
        (over.id, "已结束.*有效期 不详 至 2025年10月8日"),
    ):
        page = await see(mine, f"/memories/{id}")
        assert re.search(told, page.text)


async def test_who_has_no_name_is_found_by_the_account_and_told_about(mine, own):
    home = private("77777")
    await put(
        own.journal, home, User(home.owner), Participation("p:7", home.id, home.owner, T0, T0, 3)
    )
    assert node_url(home.owner) in str((await see(mine, "/people", q="7777")).tags)
    page = await see(mine, "/node", id=home.owner)
    (write,) = [tag["href"] for tag in page.all("a") if tag["href"].startswith("/memories/new?")]
    (chosen,) = (await see(mine, write)).all("input", type="radio", checked="")
    told = {"session": home.id, "about": home.owner, "about_node": chosen["value"]}
    await press(mine, "/memories/new", **told, statement="喜欢打乒乓球", predicate="likes")
    (line,) = (await own.library.browse(FactFilter(node=home.owner))).items
    assert line.fact.statement == "喜欢打乒乓球"
