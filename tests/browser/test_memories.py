"""The table of memories by keyboard alone, many at once, and as cards on a phone."""

from pathlib import Path
from urllib.parse import unquote

import pytest

from graph_memory.service import MemoryService
from tests.webui.browsing import PRIVATE
from tests.webui.story import HONG, LI

from .conftest import Opener, expect

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


@pytest.mark.parametrize(("language", "width"), [("zh", 1280), ("en", 360)])
async def test_what_is_selected_takes_another_relation_and_is_taken_out(
    visit, service, language, width
):
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
    assert HONG in unquote(await page.locator(".memory-about a").get_attribute("href") or "")
    await page.get_by_role("button", name="撤销").click()
    await page.get_by_text("已撤销").wait_for()


SMALL = """() => [...document.querySelectorAll("#content :is(a, button, summary, select, input)")]
  .filter((each) => !each.closest("label, .hidden-if-scripted, .away"))
  .filter((each) => {
    const { width, height } = each.getBoundingClientRect();
    return width > 2 && height > 2 && (width < 23.5 || height < 23.5);
  })
  .map((each) => `${each.tagName} ${each.textContent}`)"""
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
