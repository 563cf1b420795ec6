"""The pages that explain, in a real browser: graph and its questions, view as, why, tuning."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from graph_memory.access import Access
from graph_memory.library import OWNER
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from tests.webui.browsing import HOSTILE
from tests.webui.story import LI, MALLORY, XSS, ZHANG
from webui import create_app
from webui.server import WebServer

from .conftest import KEY, Opener, expect

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="package")]
GROUP = "aiocqhttp:group:88001"
EYES = f"/viewas?user={ZHANG}&persona=tech_assistant"


async def remember_asking(service: MemoryService) -> None:
    eyes = service.view_as
    for user, group, persona, text in (
        (ZHANG, "", "life_advisor", "我养的猫叫什么名字？"),
        (LI, GROUP, "tech_assistant", "周末去哪里爬山？"),
        (MALLORY, HOSTILE.circle, XSS[1], f"{XSS[3]} 喜欢什么"),
    ):
        await service.recall.remind(eyes.asker(user, group, persona), text)


# ---------------------------------------------------------------------- graph


async def test_more_neighbours_come_and_nobody_moves(visit: Opener) -> None:
    seen = await visit(motion="reduce", node=ZHANG)
    page = seen.page
    places = """() => Object.fromEntries([...document.querySelectorAll("#picture .node")]
      .map((node) => [node.dataset.node, node.getAttribute("transform")]))"""
    before = await page.evaluate(places)
    ghost = page.locator("#picture .ghost-label")
    assert (await ghost.text_content() or "").startswith("+")
    await page.locator("#neighbours .rest button").click()
    await expect(page.locator("#picture .node")).not_to_have_count(len(before))
    after = await page.evaluate(places)
    assert {id: after[id] for id in before} == before
    assert len(after) > len(before)
    assert await page.locator("#picture .edge.ended").count() >= 2  # ended, and superseded


async def test_arrows_expand_and_collapse_and_facts_light_their_edges(visit: Opener) -> None:
    seen = await visit(node=LI)
    page = seen.page
    item = page.locator("#neighbours .neighbour", has_text="晨光设计")
    await item.focus()
    before = await page.locator("#picture .node").count()
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("#picture .node")).not_to_have_count(before)
    assert "晨光设计" in await page.evaluate("document.activeElement.textContent")
    await page.keyboard.press("Enter")
    fact = page.locator("#neighbours .inspector a", has_text="李四在晨光设计做项目经理")
    await page.locator("#neighbours .neighbour", has_text="聊天的人").first.focus()
    await fact.focus()
    lit = page.locator("#picture .edge-label.lit")
    assert "就职于" in await lit.all_text_contents()
    await item.focus()
    await page.keyboard.press("ArrowLeft")
    assert await page.locator("#picture .node").count() == before


async def test_an_answer_is_shown_in_the_graph(visit: Opener) -> None:
    seen = await visit(at="/graph/ask/path")
    page = seen.page
    await page.get_by_label("从", exact=True).fill("李四")
    await page.get_by_label("到", exact=True).fill("年糕")
    await page.keyboard.press("Enter")
    await page.get_by_role("link", name="在图谱中显示").first.click()
    await page.wait_for_selector("#graph[data-ready]")
    await expect(page.locator("#picture .node")).to_have_count(3)
    await expect(page.locator("#picture .edge")).to_have_count(2)


# -------------------------------------------------------------------- view as


async def test_the_slider_by_keyboard_goes_back_in_time(visit: Opener) -> None:
    seen = await visit(at=EYES)
    page = seen.page
    figure = page.locator("#seen .sight-figure")
    now = int(await figure.inner_text())
    slider = page.get_by_role("slider", name="时间")
    await slider.focus()
    await page.keyboard.press("Home")
    await expect(figure).to_have_text("0")
    assert await page.locator("#seen .nothing").is_visible()
    assert await page.evaluate("document.activeElement.id") == "e-slider"
    assert "day=" in page.url
    await page.get_by_role("link", name="现在").click()
    await expect(figure).to_have_text(str(now))
    await page.locator("#e-day").fill("2025-09-01")
    await page.get_by_text("条那时还不知道").wait_for()
    assert 0 < int(await figure.inner_text()) < now
    assert await page.locator("#seen .sighting", has_text="张三住在北京").count() <= 1
    await page.reload()
    assert await page.locator("#e-day").input_value() == "2025-09-01"


async def test_choosing_another_persona_shows_another_side(visit: Opener) -> None:
    seen = await visit(at=EYES)
    before = await seen.page.locator("#hidden .sight-figure").inner_text()
    await seen.page.get_by_label("问哪个人格").select_option("life_advisor")
    await seen.page.wait_for_url("**persona=life_advisor**")
    assert await seen.page.locator("#hidden .sight-figure").inner_text() != before


# ------------------------------------------------------------------------ why


async def test_a_reply_is_opened_and_hostile_text_does_not_run(
    visit: Opener, service: MemoryService
) -> None:
    await remember_asking(service)
    seen = await visit(at="/why")
    page = seen.page
    await page.locator(".replies a", has_text="周末去哪里爬山？").first.click()
    await page.locator(".reply-query", has_text="周末去哪里爬山？").wait_for()
    assert "<memories>" in await page.locator(".block-text").inner_text()
    await page.get_by_role("link", name="不限范围再找一遍").click()
    await page.wait_for_url("**unscoped=true**")
    await page.locator(".replies a", has_text="喜欢什么").first.click()
    await page.locator(".reply-query", has_text=XSS[3]).wait_for()
    await page.get_by_role("link", name="用这双眼睛看").click()
    await page.get_by_text("看得见").first.wait_for()


# --------------------------------------------------------------------- tuning


async def test_turning_a_knob_redraws(visit: Opener) -> None:
    seen = await visit(at="/tuning")
    page = seen.page
    line = page.locator(".decay").first
    before = await line.get_attribute("points") or ""
    assert await page.locator("#keep").is_hidden()
    await page.get_by_label("淡忘速度").fill("8")
    await expect(line).not_to_have_attribute("points", before)
    await page.locator("#keep").wait_for()
    assert "time_decay_rate" in await page.locator("#keep").inner_text()
    worse = page.locator(".span[data-worse] .span-figure").first
    await worse.wait_for()
    await page.get_by_label("归档门槛").fill("2")
    await page.locator("#k-threshold[aria-invalid]").wait_for()
    assert await page.locator("#keep").is_hidden()


@pytest.mark.parametrize(
    ("width", "language"), [(360, "zh"), (360, "en"), (412, "en"), (768, "en"), (1280, "zh")]
)
async def test_the_curve_can_be_read_in_every_width(
    visit: Opener, width: int, language: str
) -> None:
    seen = await visit(width, language=language, at="/tuning")
    sizes, places = await seen.page.evaluate(
        """() => {
          const curve = document.getElementById("curve");
          const scale = curve.getBoundingClientRect().width / curve.viewBox.baseVal.width;
          const words = [...curve.querySelectorAll(".axis")];
          return [words.map((each) => parseFloat(getComputedStyle(each).fontSize) * scale),
                  words.map((each) => each.getBoundingClientRect().toJSON())];
        }"""
    )
    assert min(sizes) >= 11
    assert max(sizes) <= 18
    for place in places:
        assert place["left"] >= 0
        assert place["right"] <= width
    for one, other in itertools.combinations(places, 2):
        apart = one["right"] <= other["left"] or other["right"] <= one["left"]
        assert apart or one["bottom"] <= other["top"] + 4 or other["bottom"] <= one["top"] + 4


# ----------------------------------------------------------------------- live


async def test_what_is_recalled_and_changed_appears_by_itself(
    visit: Opener, service: MemoryService
) -> None:
    seen = await visit(at="/why")
    other = await visit(at="/memories")
    asked = "国庆节去徽杭古道怎么样？"
    async with asyncio.timeout(1.5):  # the second asked for, and what a busy machine takes
        asker = service.view_as.asker(ZHANG, "", "life_advisor")
        await service.recall.remind(asker, asked)
        await expect(seen.page.get_by_text(asked).first).to_be_visible(timeout=1500)
    await expect(other.page.locator("[data-news]")).to_be_hidden()
    (line, *_) = (await service.library.browse()).items
    change = await service.library.act("pin", [line.fact.id], OWNER)
    await expect(other.page.get_by_role("link", name="有了新的变化")).to_be_visible()
    await service.library.undo(change.id, OWNER)


async def test_a_page_outlives_the_server(visit: Opener, service: MemoryService) -> None:
    server = WebServer(create_app(service, Access.open(service.directory, KEY), Settings()))
    await server.start(0)
    port = server.port
    seen = await visit()
    seen.base = f"http://127.0.0.1:{port}"
    await seen.log_in()
    await seen.go("/why")
    await server.stop()
    lost = seen.page.locator("[data-lost]")
    await expect(lost).to_be_visible()
    server = WebServer(create_app(service, Access.open(service.directory, KEY), Settings()))
    await server.start(port)
    await expect(lost).to_be_hidden(timeout=15_000)
    await service.recall.remind(service.view_as.asker(ZHANG, "", "life_advisor"), "猫叫什么？")
    await expect(seen.page.get_by_text("猫叫什么？").first).to_be_visible()
    await server.stop()
    seen.wrong = [each for each in seen.wrong if "ERR_" not in each]
