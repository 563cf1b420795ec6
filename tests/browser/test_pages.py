"""Walking the pages with a real browser, by pointer, by finger and by keyboard alone."""

import asyncio
from typing import TYPE_CHECKING

import pytest

from graph_memory.library import Amendment, Meant
from graph_memory.model import User
from graph_memory.service import MemoryService
from tests.makers import group, name, put
from tests.webui.browsing import HOSTILE, LIFE
from tests.webui.seed import fact_id
from tests.webui.story import HONG, LI, MALLORY, XSS, ZHANG

from .conftest import Opener, expect, script

if TYPE_CHECKING:
    from playwright.async_api import Route

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="package")]


async def test_stored_text_does_not_run(visit: Opener) -> None:
    seen = await visit(at="/")
    for text in (XSS[3], XSS[5], XSS[6], f"喜欢 {XSS[4]}"):
        await seen.go(f"/memories/{fact_id(HOSTILE, text)}")
        assert (await seen.page.inner_text("h1")).strip() == text
    await seen.go(f"/graph?node={MALLORY}")
    assert {XSS[0], XSS[3], XSS[4], XSS[6]} <= (await seen.places()).keys()
    for button in await seen.page.locator("#neighbours .neighbour").all():
        await button.click()
    await seen.page.locator("#neighbours .neighbour", has_text=XSS[4]).click()
    await seen.page.get_by_role("button", name="展开").click()
    await seen.page.locator("#neighbours .neighbour", has_text=XSS[5]).wait_for()
    assert await seen.page.locator("iframe, img, main script").count() == 0


async def test_even_a_page_that_forgot_to_escape_runs_nothing(visit: Opener) -> None:
    """The second wall: what the content security policy alone stops."""
    seen = await visit(at="/memories")
    ran = await seen.page.evaluate(script("policy.js"))
    assert ran["ran"] == 0
    assert ran["shown"]
    assert ran["stopped"] >= 4
    seen.wrong = [text for text in seen.wrong if not text.startswith("console:")]


async def test_each_main_page_is_two_letters_away(visit: Opener) -> None:
    seen = await visit(at="/memories")
    page, keyboard = seen.page, seen.page.keyboard
    await keyboard.press("?")
    told = page.locator("#keys dl > div").filter(has=page.locator("kbd:text-is('g')"))
    letters = [await each.locator("kbd").nth(1).inner_text() for each in await told.all()]
    assert len(set(letters)) == len(letters) == await page.locator(".places a").count()
    await expect(told.filter(has_text="图谱").locator("kbd").nth(1)).to_have_text("m")
    await keyboard.press("Escape")
    await keyboard.press("j")  # to a row, where p and a do something by themselves
    before = page.url
    for letter in letters:
        place = page.locator(f"[data-jump='{letter}']")
        await keyboard.press("g")
        await keyboard.press(letter)
        await page.wait_for_url(seen.base + str(await place.get_attribute("href")))
        await seen.page.wait_for_load_state("load")
        assert await page.locator(".done").count() == 0
    await seen.go("/memories")
    await page.focus("#q")
    await keyboard.type("gm")
    assert page.url == before
    assert await page.input_value("#q") == "gm"


async def test_a_finger_that_rolls_a_little_has_touched(visit: Opener) -> None:
    seen = await visit(node=HONG)
    x, y = (await seen.places())["李四"]
    finger = await seen.page.context.new_cdp_session(seen.page)
    for event, places in (("touchStart", [x]), ("touchMove", [x + 9]), ("touchEnd", [])):
        points = [{"x": place, "y": y} for place in places]
        await finger.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": points})
    await expect(seen.page.locator("#picture")).to_have_attribute("data-selected", LI)


class Held:
    """Requests that wait until they may go on."""

    def __init__(self) -> None:
        self.asked, self.came, self.goes_on = 0, asyncio.Event(), asyncio.Event()

    async def hold(self, route: "Route") -> None:
        self.asked += 1
        self.came.set()
        await self.goes_on.wait()
        await route.continue_()


WAITING = script("waiting.js")
"""Notes when the page has shown that it waits, as none can be asked while another one comes."""
WAITS = {
    "/people": "q 年糕 /people",
    f"/viewas?user={ZHANG}&persona=tech_assistant": "e-day 2025-09-01 /viewas",
    "/tuning": "k-rate 8 /tuning",
    "/memories/new": "about 小红 /memories/new",
    "/data": "person-search 年糕 /people",
    f"/graph?node={LI}": "q 年糕 /graph",
}
"""What is typed into which field of a page, and what the page asks for then."""


@pytest.mark.parametrize("path", WAITS)
async def test_a_page_shows_that_it_waits_for_an_answer(visit: Opener, path: str) -> None:
    page = (await visit(at=path)).page
    held = Held()
    field, text, asked = WAITS[path].split()
    await page.evaluate(WAITING)
    await page.route(lambda url: asked in url and "/static/" not in url, held.hold)
    await page.fill(f"#{field}", text)
    if field == "q":
        await page.press("#q", "Enter", no_wait_after=True)
    await held.came.wait()
    await asyncio.sleep(1)
    held.goes_on.set()
    await page.wait_for_load_state("networkidle")
    assert await page.evaluate("sessionStorage.getItem('waited')") == "yes"
    await expect(page.locator("html[data-waiting]")).to_have_count(0)


STOPPED = script("stopped.js")
"""Presses a button and then the browser's Stop; gives how many forms and buttons still wait."""


async def test_a_form_is_sent_again_after_the_browser_was_stopped(visit: Opener) -> None:
    seen = await visit(at=f"/memories/{fact_id(LIFE, '张三喜欢睡前冥想十分钟')}")
    held = Held()
    await seen.page.route("**/memories/act", held.hold)
    assert await seen.page.evaluate(STOPPED) == 0
    held.goes_on.set()
    await seen.page.get_by_role("button", name="置顶").click()
    await seen.page.get_by_role("button", name="撤销").click()
    await seen.says("已撤销")


async def test_neighbours_are_asked_for_once_however_often_one_presses(visit: Opener) -> None:
    page = (await visit(node=HONG)).page
    await page.locator("#neighbours button", has_text="晨光设计").click()
    held = Held()
    await page.route("**/api/v1/graph?*", held.hold)
    await page.get_by_role("button", name="展开").dblclick()
    held.goes_on.set()
    await page.get_by_role("button", name="收起").wait_for()
    assert held.asked == 1


async def test_a_key_does_what_its_row_shows_only(visit, service):
    """Of two homes none is archived by a key that says nothing of which."""
    home = [
        Amendment(f"张三住在{place}", "lives_in", Meant(place, "new")) for place in ("泉州", "漳州")
    ]
    told = [await service.library.tell(LIFE.id, Meant("张三", ZHANG), each) for each in home]
    try:
        seen = await visit(at="/review")
        await seen.page.locator("[aria-labelledby=disputed-title] .row-link").first.focus()
        for key in "apx":
            await seen.page.keyboard.press(key)
        assert await seen.page.locator("[data-sent]").count() == 0
    finally:
        for change in reversed(told):
            await service.library.undo(change.id, "owner")


SMALL = script("small.js")
"""What a finger hits badly, but for what a label makes larger and what is there without scripts."""


async def test_a_finger_hits_what_is_to_be_pressed(visit: Opener, service: MemoryService) -> None:
    await service.recall.remind(service.view_as.asker(LI, "", "tech_assistant"), "周末去哪里爬山？")
    seen = await visit(390, at="/")
    eyes = f"/viewas?user={LI}&persona=tech_assistant"
    pages = ["/", "/memories", "/people", f"/node?id={LI}", "/records", eyes, "/why", "/review"]
    for path in [*pages, "/changes", "/data", "/tuning", "/persona?name=life_advisor"]:
        await seen.go(path)
        await seen.page.wait_for_load_state("load")
        assert (path, await seen.page.evaluate(SMALL)) == (path, [])


async def test_namesakes_that_a_list_does_not_hold_are_told_apart(visit, service):
    club = group("7902")
    rows = [row for n in "12" for row in (User(f"qq:{n}"), name(club, f"qq:{n}", "同名"))]
    change = await put(service.journal, club, *rows)
    try:
        seen = await visit(at="/memories")
        await seen.page.get_by_role("combobox", name="全部人与事").fill("同名")
        for account in ("qq:1", "qq:2"):
            await seen.page.get_by_role("option", name=f"同名 · {account}").wait_for()
    finally:
        await service.library.undo(change.id, "owner")
