"""The table of memories by keyboard alone, many at once, and as cards on a phone."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from graph_memory.library import OWNER, Amendment
from graph_memory.service import MemoryService
from tests.webui.browsing import LIFE, PRIVATE
from tests.webui.seed import fact_id
from tests.webui.story import HONG, LI

from .conftest import BULK, KEY, Opener, expect

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="package")]
FOCUSED = "document.activeElement.closest('tr')?.querySelector('.row-link').textContent ?? ''"


async def test_rows_are_walked_selected_and_archived_by_keyboard(visit: Opener) -> None:
    seen = await visit(at="/memories?persona=life_advisor&sort=importance")
    page, keyboard = seen.page, seen.page.keyboard
    names = await page.locator(".row-link").all_inner_texts()
    for key, index in (("j", 0), ("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0), ("k", 0)):
        await keyboard.press(key)
        assert await page.evaluate(FOCUSED) == names[index]
    assert await page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "2px"
    for key in ("j", "x", "j", "x"):
        await keyboard.press(key)
    bar = page.locator(".bulk-bar")
    assert "已选 2 条" in await bar.inner_text()
    await keyboard.press("Escape")
    await bar.wait_for(state="hidden")
    for key in ("k", "x", "j", "x"):
        await keyboard.press(key)
    await bar.get_by_role("button", name="归档").press("Enter")
    await page.get_by_role("heading", name="归档 2 条记忆？").wait_for()
    await expect(page.get_by_role("button", name="归档")).to_be_focused()
    await keyboard.press("Enter")
    await page.get_by_text("已归档 2 条").wait_for()
    await page.get_by_role("button", name="撤销").press("Enter")
    await seen.says("已撤销")
    assert await page.locator(".row-link").all_inner_texts() == names
    await keyboard.press("j")
    await keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text(names[0])


async def test_one_row_is_handled_by_its_keys(visit: Opener) -> None:
    seen = await visit(at="/memories?q=静电容")
    page, keyboard = seen.page, seen.page.keyboard
    await keyboard.press("j")
    await keyboard.press("p")
    await seen.says("已置顶 1 条")
    await page.get_by_role("button", name="撤销").click()
    await seen.says("已撤销")
    await keyboard.press("j")
    await keyboard.press("Delete")
    await page.get_by_role("heading", name="忘记 1 条记忆？").wait_for()
    await page.get_by_role("link", name="取消").click()
    await page.wait_for_url(re.compile(r"/memories(\?[^/]*)?$"))  # and its load
    await keyboard.press("j")
    await keyboard.press("e")
    await page.get_by_label("应该是").wait_for()


async def test_keys_are_explained_and_not_taken_from_fields(visit: Opener) -> None:
    seen = await visit(language="en", at="/memories")
    page, keyboard = seen.page, seen.page.keyboard
    await page.focus("#q")
    await keyboard.type("jxp?")
    assert await page.input_value("#q") == "jxp?"
    assert not await page.locator("#keys").is_visible()
    await page.locator("h1").click()
    await keyboard.press("?")
    await page.get_by_role("heading", name="Keyboard shortcuts").wait_for()
    await keyboard.press("Escape")
    await expect(page.locator("#keys")).to_be_hidden()


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


async def test_what_was_typed_outlives_the_login(visit: Opener) -> None:
    seen = await visit(at=f"/memories/{fact_id(LIFE, '张三喜欢睡前冥想十分钟')}/edit")
    page = seen.page
    await page.fill("#statement", "张三早上冥想")
    await page.fill("#object", "早上的冥想")
    cookies = [each for each in await page.context.cookies() if each["name"] == "gm_language"]
    await page.context.clear_cookies()
    await page.context.add_cookies(cookies)  # type: ignore[arg-type]
    await page.get_by_role("button", name="保存").click()
    await page.fill("#key", KEY)
    await page.press("#key", "Enter")
    await seen.says("你刚才写的都在下面")
    assert await page.input_value("#statement") == "张三早上冥想"
    await page.get_by_role("button", name="保存").click()
    await seen.says("已改正")
    assert "早上的冥想" in await page.locator(".memory-about").inner_text()
    await page.get_by_role("button", name="撤销").click()
    await seen.says("已撤销")
    await seen.go(f"/memories/{fact_id(LIFE, '张三喜欢睡前冥想十分钟')}/edit")
    await expect(page.locator("#statement")).to_have_value("张三喜欢睡前冥想十分钟")


async def test_somebody_is_forgotten_only_with_the_box_ticked(visit: Opener) -> None:
    page = (await visit(360, "dark", "en", at=f"/node?id={LI}")).page
    await page.get_by_role("button", name="Pause").click()
    await page.get_by_text("none of it is remembered").wait_for()
    await page.get_by_role("button", name="Resume").click()
    await page.get_by_role("link", name="Forget for good").click()
    await page.get_by_role("button", name="Forget for good").click()
    assert "/node/forget" in page.url  # the browser asks for the tick
    await page.get_by_role("link", name="Cancel").click()
    await page.get_by_role("button", name="Pause").wait_for()


async def test_what_is_to_be_reviewed_is_gone_through_by_keys(
    visit: Opener, service: MemoryService
) -> None:
    id = fact_id(LIFE, "张三喜欢睡前冥想十分钟")
    heard = await service.library.amend(id, Amendment("", hearsay=True), OWNER)
    seen = await visit(360, "dark", "en", at="/memories")
    page, keyboard = seen.page, seen.page.keyboard
    await page.get_by_role("link", name="Review").click()
    await page.wait_for_url("**/review")
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    await page.locator("a[href='/memories?state=hearsay']").click()
    await page.wait_for_url("**/memories?state=hearsay")
    await page.wait_for_load_state("load")
    names = await page.locator(".row-link").all_inner_texts()
    await keyboard.press("j")
    await keyboard.press("a")
    await page.locator(".done").wait_for()
    assert len(names) == 1
    await expect(page.locator(".row-link")).to_have_count(0)
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".row-link")).to_have_text(names)
    await service.library.undo(heard.id, OWNER)


async def test_each_doubt_is_settled_by_one_key(visit: Opener, service: MemoryService) -> None:
    some = [fact_id(LIFE, "张三喜欢睡前冥想十分钟"), fact_id(LIFE, "张三对花生严重过敏")]
    heard = [await service.library.amend(i, Amendment("", hearsay=True), OWNER) for i in some]
    seen = await visit(360, "dark", "en", at="/review")
    page, keyboard = seen.page, seen.page.keyboard
    links = page.locator("[aria-labelledby=hearsay-title] .row-link")
    await expect(links).to_have_count(2)
    first = await links.first.inner_text()
    await links.first.focus()
    await keyboard.press("d")
    await page.locator(".done").wait_for()
    await page.wait_for_load_state("load")
    await expect(links).to_have_count(1)
    await page.wait_for_function("document.activeElement.className === 'row-link'", timeout=9_000)
    await keyboard.press("?")
    await expect(page.locator("#keys")).to_be_visible()
    await keyboard.press("Escape")
    await page.get_by_role("button", name="Undo").click()
    await expect(links).to_have_count(2)
    assert first in await links.all_inner_texts()
    for change in heard:
        await service.library.undo(change.id, OWNER)


async def test_any_page_and_anybody_is_two_keys_away(visit: Opener) -> None:
    seen = await visit(360, "dark", at="/tuning")
    page, keyboard = seen.page, seen.page.keyboard
    await keyboard.press("Control+k")
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    await keyboard.type("zhangs")
    await page.locator("#palette-found a", has_text="张三").first.wait_for()
    await keyboard.press("Enter")
    await page.wait_for_url("**/node?id=*")
    await keyboard.press("Control+k")
    await keyboard.type("记录")
    await expect(page.locator("[data-place]:not([hidden])")).to_have_count(1)
    await keyboard.press("Enter")
    await page.wait_for_url("**/records")


async def test_a_dialog_keeps_the_focus_and_gives_it_back(visit: Opener) -> None:
    seen = await visit(language="en", at="/memories")
    page, keyboard = seen.page, seen.page.keyboard
    dialog, opener = page.locator("#keys"), page.locator("[data-opens=keys]")
    inside = "document.activeElement.closest('dialog') !== null"
    for end in ("Escape", "Enter"):  # Enter presses the one button there is
        await opener.focus()
        await keyboard.press("Enter")
        await expect(dialog).to_be_visible()
        for key in ("Tab", "Tab", "Tab", "Shift+Tab", "Shift+Tab", "Tab"):
            assert await page.evaluate(inside)
            await keyboard.press(key)
        assert await page.evaluate(inside)
        await keyboard.press("x")  # keys of the table do nothing behind it
        await keyboard.press(end)
        await expect(dialog).to_be_hidden()
        await expect(opener).to_be_focused()
    assert await page.locator(".memories [name=id]:checked").count() == 0


async def test_all_that_was_found_is_selected_by_keyboard_and_archived(visit: Opener) -> None:
    seen = await visit(at="/memories?q=收藏")
    page, keyboard = seen.page, seen.page.keyboard
    every = page.get_by_label(f"全部 {BULK} 条结果")
    await expect(every).to_be_hidden()
    await page.focus("#pick-all")
    await keyboard.press("Space")
    await expect(page.locator(".bulk-count")).to_have_text("已选 50 条")
    await every.focus()
    await keyboard.press("Space")
    await expect(page.locator(".bulk-count")).to_have_text(f"已选 {BULK} 条")
    await page.locator(".bulk-bar").get_by_role("button", name="归档").press("Enter")
    await page.get_by_role("heading", name=f"归档 {BULK} 条记忆？").wait_for()
    await expect(page.get_by_role("button", name="归档")).to_be_focused()
    await keyboard.press("Enter")
    await page.get_by_text(f"已归档 {BULK} 条").wait_for()
    await page.get_by_role("button", name="撤销").press("Enter")
    await page.get_by_text("已撤销").wait_for()
    await page.focus("#pick-all")  # before the scripts are there
    await keyboard.press("Space")
    await every.check()
    await expect(page.locator("#pick-3")).to_be_checked()  # now they are
    await page.locator("#pick-3").uncheck()  # one less is not every one
    await expect(every).to_be_hidden()
    await expect(page.locator(".bulk-count")).to_have_text("已选 49 条")


@pytest.mark.parametrize(("language", "width"), [("zh", 1280), ("en", 360)])
async def test_what_is_selected_takes_another_relation_and_is_taken_out(
    visit: Opener, service: MemoryService, language: str, width: int
) -> None:
    seen = await visit(width, "dark", language, at="/memories?q=静电容")
    page, keyboard = seen.page, seen.page.keyboard
    words = {
        "zh": ("改成哪种关系", "擅长", "改成另一种关系", "已导出"),
        "en": ("Which relation", "skilled", "another relation now", "download the file"),
    }
    label, relation, done, exported = words[language]
    old = await page.locator(".memories .predicate").first.inner_text()
    await page.locator(".memories [name=id]").first.check()
    await page.locator(".bulk-bar [value=relate]").click()
    field = page.locator("input[role=combobox]")
    await expect(field).to_have_accessible_name(label)
    await field.fill(relation)
    await keyboard.press("Enter")
    await keyboard.press("Tab")
    await page.locator("[name=confirm]").press("Enter")
    await page.get_by_text(done).wait_for()
    await expect(page.locator(".memories .predicate", has_text=relation)).to_have_count(1)
    await page.locator(".done button").click()
    await expect(page.locator(".memories .predicate")).to_have_text([old])
    await page.locator(".memories [name=id]").first.check()
    await page.locator(".bulk-bar [value=export]").click()
    await page.get_by_text(exported).first.wait_for()
    async with page.expect_download() as begun:
        await page.locator("a[download]").first.click()
    kept = await begun.value
    assert kept.suggested_filename.startswith("facts-")
    assert "静电容" in Path(await kept.path()).read_text("utf-8")


async def test_a_menu_opens_one_at_a_time_and_closes_again(visit: Opener) -> None:
    seen = await visit(at="/memories")
    page = seen.page
    menus = page.locator("details.menu")
    await menus.nth(0).locator("summary").click()
    await menus.nth(8).locator("summary").click()
    await expect(page.locator("details.menu[open]")).to_have_count(1)
    await page.keyboard.press("Escape")
    await expect(page.locator("details.menu[open]")).to_have_count(0)
    assert await page.evaluate("document.activeElement.tagName") == "SUMMARY"


async def test_a_phone_shows_cards_with_everything_in_reach(visit: Opener) -> None:
    seen = await visit(360, at="/memories")
    page = seen.page
    rows = page.locator(".memories > tbody > tr")
    assert await rows.first.evaluate("(row) => getComputedStyle(row).display") == "grid"
    await rows.nth(0).locator("input").check()
    await rows.nth(1).locator("input").check()
    assert "已选 2 条" in await page.locator(".bulk-bar").inner_text()
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    await rows.nth(2).locator("summary").click()
    box = await rows.nth(2).locator(".menu-list").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


async def test_a_fact_is_corrected_and_its_words_are_opened(visit: Opener) -> None:
    seen = await visit(at=f"/memories/{fact_id(LIFE, '年糕喜欢吃鸡肉冻干')}")
    page = seen.page
    await page.get_by_role("link", name="编辑").click()
    await page.get_by_label("应该是").fill("年糕喜欢吃鸭肉冻干")
    await page.get_by_role("button", name="保存").click()
    await page.get_by_role("heading", name="年糕喜欢吃鸭肉冻干").wait_for()
    await page.get_by_role("button", name="撤销").click()
    await seen.says("已撤销")
    await page.get_by_role("link", name="看前后文").click()
    await page.locator(".said-here").first.wait_for()
    await expect(page.locator(".said-here")).to_have_count(1)
    await seen.go(f"/node?id={LI}")
    await page.get_by_role("link", name="原话").first.click()
    await page.wait_for_url(re.compile("/messages/"))


async def test_whom_a_name_may_mean_is_listed_while_it_is_typed(visit: Opener) -> None:
    page = (await visit(at="/memories/new")).page
    keyboard, picks = page.keyboard, page.locator("#about-picks")
    await page.select_option("#session", PRIVATE.id)
    field = page.get_by_role("combobox", name="关于")
    options = page.locator("#about-list:not([hidden]) > li")
    await field.fill("xh")
    await expect(options.filter(has_text="小红").first).to_be_visible()
    await expect(options.last).to_have_text("新的：xh")
    await keyboard.press("Escape")
    await expect(options).to_have_count(0)
    await field.fill("小红")
    await expect(options.last).to_have_text("新的：小红")
    await keyboard.press("ArrowDown")
    await expect(field).to_have_attribute("aria-activedescendant", "about-list-0")
    place = await options.evaluate_all(
        "(rows) => rows.findIndex((row) => /别的聊天/.test(row.textContent))"
    )
    for _ in range(place):
        await keyboard.press("ArrowDown")
    await keyboard.press("Enter")
    await expect(options).to_have_count(0)
    await expect(picks.locator("li:visible")).to_have_count(1)
    await expect(picks.locator("li:visible")).to_contain_text("别的聊天里的")
    await page.fill("#statement", "小红会弹琴")
    await page.get_by_role("button", name="保存").click()
    await expect(page.locator(".memory-statement")).to_contain_text("小红会弹琴")
    link = page.locator(".memory-about a")
    assert HONG in unquote(await link.get_attribute("href") or "")
    await page.get_by_role("button", name="撤销").click()
    await page.get_by_text("已撤销").wait_for()


async def test_long_lists_are_searched_by_text_and_by_pinyin(visit: Opener) -> None:
    seen = await visit(at="/memories")
    page, keyboard = seen.page, seen.page.keyboard
    field = page.get_by_role("combobox", name="全部人与事")
    options = page.locator("#f-node-list:not([hidden]) > li")
    await field.click()
    await expect(page.get_by_role("listbox", name="全部人与事")).to_be_visible()
    await keyboard.type("ng")
    await expect(options.first).to_contain_text("年糕")
    await expect(field).to_have_attribute("aria-activedescendant", "f-node-list-0")
    await keyboard.press("Escape")
    await expect(field).to_have_value("")
    await expect(options).to_have_count(0)
    await field.fill("年糕")
    await keyboard.press("Enter")
    await page.wait_for_url(re.compile("node=e"))
    await expect(field).to_have_value(re.compile("年糕"))
    await field.fill("没有这样的东西")
    await keyboard.press("Enter")  # chooses nothing, and sends nothing
    await keyboard.press("Tab")
    await expect(field).to_have_value(re.compile("年糕"))
    await field.click()
    await options.first.click()
    await page.wait_for_url(re.compile(r"/memories\?(?!.*node=)"))


async def test_what_a_long_list_does_not_hold_is_found(visit: Opener) -> None:
    seen = await visit(at="/memories")
    field = seen.page.get_by_role("combobox", name="全部人与事")
    await field.fill(f"藏书{BULK - 1:04d}")
    await seen.page.get_by_role("option", name=f"藏书{BULK - 1:04d}").click()
    await expect(seen.page.locator(".row-link")).to_have_text([f"张三收藏了第 {BULK - 1} 本书"])


SMALL = """() => [...document.querySelectorAll("#content :is(a, button, summary, select, input)")]
  .filter((each) => !each.closest("label, .hidden-if-scripted, .away"))
  .filter((each) => {
    const { width, height } = each.getBoundingClientRect();
    return width > 2 && height > 2 && (width < 23.5 || height < 23.5);
  })
  .map((each) => `${each.tagName} ${each.textContent}`)"""
"""What a finger hits badly, but for what a label makes larger and what is there without scripts."""


async def test_a_finger_hits_what_is_to_be_pressed(visit: Opener, service: MemoryService) -> None:
    asker = service.view_as.asker(LI, "", "tech_assistant")
    await service.recall.remind(asker, "周末去哪里爬山？")
    seen = await visit(390, at="/")
    eyes = f"/viewas?user={LI}&persona=tech_assistant"
    pages = ["/", "/memories", "/people", f"/node?id={LI}", "/records", eyes, "/why", "/review"]
    for path in [*pages, "/changes", "/data", "/tuning", "/persona?name=life_advisor"]:
        await seen.go(path)
        await seen.page.wait_for_load_state("load")
        assert (path, await seen.page.evaluate(SMALL)) == (path, [])
