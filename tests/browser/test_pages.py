"""Walking the pages with a real browser, by pointer and by keyboard alone."""

import re

import pytest

from tests.webui.browsing import HOSTILE, PRIVATE
from tests.webui.seed import fact_id
from tests.webui.story import HONG, MALLORY, XSS, ZHANG

from .conftest import BULK, Opener, expect

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="package")]
CHINA = f"/memories/{fact_id(PRIVATE, '张三住在上海，今年春天刚搬过去')}"


async def test_the_table_by_keyboard_alone(visit: Opener) -> None:
    seen = await visit()
    await seen.log_in()
    keyboard, page = seen.page.keyboard, seen.page
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.className") == "skip"
    await page.keyboard.press("Enter")
    await seen.go("/memories")
    await keyboard.press("/")
    await keyboard.type("橘猫")
    await keyboard.press("Enter")
    await page.wait_for_url("**q=*")
    await page.locator("#f-sort").focus()
    for _ in range(12):
        await keyboard.press("Tab")
        if await page.evaluate("document.activeElement.className") == "row-link":
            break
    assert await page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "2px"
    await keyboard.press("Enter")
    await page.wait_for_url("**/memories/f*")
    assert await page.get_by_role("heading", level=1).inner_text() == "张三养了一只叫年糕的橘猫"


async def test_who_wants_no_motion_gets_none(visit: Opener) -> None:
    moving = """[...document.querySelectorAll("*")].filter((each) => {
      const { transitionDuration, animationName } = getComputedStyle(each);
      return animationName !== "none" || transitionDuration.split(", ").some((one) => one !== "0s");
    }).length"""
    for motion, moves in (("no-preference", True), ("reduce", False)):
        seen = await visit(motion=motion)
        await seen.log_in()
        for path in ("/", "/memories", f"/graph?node={HONG}"):
            await seen.go(path)
            assert (await seen.page.evaluate(moving) > 0) == moves, (path, motion)


async def test_the_graph_by_keyboard_alone(visit: Opener) -> None:
    seen = await visit(node=HONG)
    page, keyboard = seen.page, seen.page.keyboard
    await page.locator("#neighbours .neighbour").first.focus()
    for _ in range(20):
        await keyboard.press("ArrowDown")
        if "晨光设计" in await page.evaluate("document.activeElement.textContent"):
            break
    await keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.ariaExpanded") == "true"
    for _ in range(8):
        await keyboard.press("Tab")
        if await page.evaluate("document.activeElement.textContent") == "展开":
            break
    await keyboard.press("Enter")
    await page.get_by_role("button", name="收起").wait_for()
    await expect(page.locator("#neighbours li.inner")).to_have_count(1)
    assert await page.evaluate("document.activeElement !== document.body")


async def test_a_busy_person_is_shown_truthfully_and_quickly(visit: Opener) -> None:
    page = (await visit(motion="no-preference", node=ZHANG)).page
    note = await page.locator("#shown").inner_text()
    shown, total = (int(word) for word in note.split() if word.isdigit())
    assert shown == 60
    assert total > BULK
    await expect(page.locator("#picture")).to_have_attribute("data-nodes", "61")
    drawn = await page.evaluate(
        "performance.getEntriesByType('resource').find((e) => e.name.includes('/api/')).responseEnd"
    )
    assert drawn < 2000


async def test_zoom_and_drag_move_the_picture(visit: Opener) -> None:
    page = (await visit(node=HONG)).page
    picture = page.locator("#picture")
    first = await picture.get_attribute("data-view") or ""
    await page.get_by_role("button", name="放大").click()
    await expect(picture).not_to_have_attribute("data-view", first)
    second = await picture.get_attribute("data-view") or ""
    box = await picture.bounding_box()
    await page.mouse.move(box["x"] + 8, box["y"] + 8)
    await page.mouse.down()
    await page.mouse.move(box["x"] + 88, box["y"] + 48, steps=4)
    await page.mouse.up()
    await expect(picture).not_to_have_attribute("data-view", second)
    await page.get_by_role("button", name="适应窗口").click()
    await expect(picture).to_have_attribute("data-view", first)
    # A press on nothing selects nothing.
    await page.locator("#neighbours .neighbour", has_text="苏州").click()
    await expect(picture).to_have_attribute("data-selected", re.compile("."))
    await page.mouse.click(box["x"] + 8, box["y"] + 8)
    await expect(picture).to_have_attribute("data-selected", "")


async def test_stored_text_does_not_run(visit: Opener) -> None:
    seen = await visit()
    await seen.log_in()
    for path in ("/", "/memories", "/memories?q=alert", "/graph?q=alert"):
        await seen.go(path)
    for text in (XSS[3], XSS[5], XSS[6], f"喜欢 {XSS[4]}"):
        await seen.go(f"/memories/{fact_id(HOSTILE, text)}")
        assert (await seen.page.inner_text("h1")).strip() == text
    await seen.graph(MALLORY)
    assert {XSS[0], XSS[3], XSS[4], XSS[6]} <= (await seen.places()).keys()
    for button in await seen.page.locator("#neighbours .neighbour").all():
        await button.click()
    await seen.page.locator("#neighbours .neighbour", has_text=XSS[4]).click()
    await seen.page.get_by_role("button", name="展开").click()
    await seen.page.locator("#neighbours .neighbour", has_text=XSS[5]).wait_for()
    assert (
        await seen.page.evaluate("document.querySelectorAll('iframe, img, main script').length")
        == 0
    )


async def test_even_a_page_that_forgot_to_escape_runs_nothing(visit: Opener) -> None:
    """The second wall: what the content security policy alone stops."""
    seen = await visit(at="/memories")
    ran = await seen.page.evaluate(
        """async () => {
          const stopped = [];
          addEventListener("securitypolicyviolation", (e) => stopped.push(e.effectiveDirective));
          const attempt = (work) => { try { work(); } catch (error) { stopped.push(error.name); } };
          attempt(() => { document.body.innerHTML = "<img src=x onerror='window.ran=1'>"; });
          attempt(() => { setTimeout("window.ran = 1", 0); });
          const script = document.createElement("script");
          attempt(() => { script.text = "window.ran = 1"; document.body.append(script); });
          const style = document.createElement("style");
          style.textContent = "body { display: none }";
          document.body.append(style);
          const frame = document.createElement("iframe");
          frame.src = "https://evil.test/";
          document.body.append(frame);
          await new Promise((done) => setTimeout(done, 200));
          return { ran: window.ran ?? 0, stopped: stopped.length,
                   shown: getComputedStyle(document.body).display !== "none" };
        }"""
    )
    assert ran["ran"] == 0
    assert ran["shown"]
    assert ran["stopped"] >= 4
    seen.wrong = [text for text in seen.wrong if not text.startswith("console:")]


async def test_on_a_phone_every_place_is_in_sight(visit: Opener) -> None:
    links = (await visit(360, language="en", at="/people")).page.locator(".places a")
    for number in range(await links.count()):
        box = await links.nth(number).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert box["height"] >= 44
        assert box["width"] >= 44
