"""Visits by a real browser as text; see :class:`BrowserVisit`."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_memory.library import OWNER, Amendment
from graph_memory.service import MemoryService
from tests.webui.visit import KNOWN, play

from .conftest import KEY, Opener, Visit, expect
from .test_everywhere import LOOK

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

ROLES = ("button", "link", "combobox", "slider", "heading", "option", "listbox", "searchbox")
DONE = {
    "press": "click", "check": "check", "focus": "focus", "fill": "fill", "choose": "select_option",
    "point": "hover", "press-twice": "dblclick",
}  # fmt: skip
"""What is done to a target, as Playwright calls it."""
CHECKS = {
    "gone": "to_be_hidden", "focused": "to_be_focused", "has": "to_contain_text",
    "lacks": "not_to_contain_text", "is": "to_have_text", "differs": "not_to_have_text",
}  # fmt: skip
WHOLE = ("js", "url", "no-url", "fits", "dark")
"""Checks of the page as a whole."""
FIT = "document.documentElement.scrollWidth === innerWidth"


class BrowserVisit:
    """Plays a case: a line is what somebody does, or what is to be seen then.

    ``open /path width=360 language=en`` begins, at a node of the graph with ``open node=…``;
    ``go``, ``reload``, ``back`` and ``log-in`` lead on. ``press``, ``press-twice``, ``point``,
    ``check``, ``focus``, ``fill … | text`` and ``choose … | value`` are done to a target
    (``drag … | 8 8 88 48`` from a place in it to another), ``touch`` and ``touch-twice`` to a
    node of the picture, ``key j Enter`` and ``type`` by the keyboard; ``walk Tab | words``
    presses a key until the words have the focus. ``upload name | text`` sends a file,
    ``ask user; group; persona; words`` is what somebody is reminded of. ``hearsay`` makes a
    fact doubtful for the time of the case, ``forget-cookies`` ends the login but for the
    language, ``pardon words`` lets what has gone wrong so far be, if it has them.

    A target is ``role:name``, ``label:…``, ``"words"`` or a CSS selector; of several it is the
    first. ``see`` and ``gone`` say whether it is there, ``has`` or ``lacks … | words``,
    ``is … | words``, ``differs … | words``, ``value … | pattern``, ``count … | 3``, ``focused``
    what it holds, ``attr … | name value`` its attributes (``name! value``: another one; ``~``
    before it: a pattern); ``keep name … | attribute``, or its ``text``, keeps one. ``says`` waits
    for words and for the scripts, ``url`` for an address that has a pattern (``no-url``),
    ``js … | value`` is what an expression is, ``fits`` that nothing scrolls sideways, ``dark``
    what the page looks like, ``download … | name | words`` what a file is called and has in it.
    """

    def __init__(self, opened: Opener, service: MemoryService) -> None:
        self._open, self._service = opened, service
        self._kept: dict[str, str] = dict(KNOWN) | {"KEY": KEY}
        self._doubted: list[int] = []
        self.seen: Visit

    async def play(self, lines: Iterable[str]) -> None:
        """Play all lines."""
        try:
            await play(lines, self._step)
        finally:
            for change in self._doubted:
                await self._service.library.undo(change, OWNER)

    @property
    def _page(self) -> "Page":
        return self.seen.page

    def _filled(self, text: str) -> str:
        return re.sub(r"\{(\S.*?)\}", lambda found: self._kept[found[1]], text)

    def _target(self, text: str) -> "Locator":
        kind, _, name = text.partition(":")
        if kind in ROLES:
            return self._page.get_by_role(kind, name=name or None).first  # type: ignore[arg-type]
        if kind == "label":
            return self._page.get_by_label(name, exact=True).first
        if text.startswith('"'):
            return self._page.get_by_text(text.strip('"')).first
        return self._page.locator(text).first

    async def _step(self, sign: str, text: str) -> None:
        text = self._filled(text)
        target, *given = text.split(" | ", 1)
        value = "".join(given)
        match sign:
            case "open":
                await self._begin(text)
            case "go":
                await self.seen.go(text)
            case "log-in":
                await self.seen.log_in()
            case "reload":
                await self._page.reload()
            case "back":
                await self._page.go_back()
            case "forget-cookies":
                for cookie in await self._page.context.cookies():
                    if cookie["name"] != "gm_language":
                        await self._page.context.clear_cookies(name=cookie["name"])
            case "pardon":
                self.seen.wrong = [each for each in self.seen.wrong if text not in each]
            case "hearsay":
                doubt = Amendment("", hearsay=True)
                self._doubted.append((await self._service.library.amend(text, doubt, OWNER)).id)
            case _ if sign in DONE:
                await getattr(self._target(target), DONE[sign])(*given)
            case "upload":
                name, content = target, value.replace("\\n", "\n").encode()
                file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
                await self._page.locator("#file").set_input_files(files=[file])  # type: ignore[list-item]
            case "drag":
                box = await self._target(target).bounding_box()
                left, top, right, bottom = (float(each) for each in value.split())
                await self._page.mouse.move(box["x"] + left, box["y"] + top)
                await self._page.mouse.down()
                await self._page.mouse.move(box["x"] + right, box["y"] + bottom, steps=4)
                await self._page.mouse.up()
            case "touch" | "touch-twice":
                await self.seen.touch(text, 2 if sign == "touch-twice" else 1)
            case "key":
                for key in text.split():
                    await self._page.keyboard.press(key)
            case "walk":
                for _ in range(20):
                    await self._page.keyboard.press(target)
                    if value in await self._page.evaluate("document.activeElement.textContent"):
                        break
                assert value in await self._page.evaluate("document.activeElement.textContent")
            case "ask":
                *who, words = text.split("; ")
                await self._service.recall.remind(self._service.view_as.asker(*who), words)
            case "download":
                async with self._page.expect_download() as begun:
                    await self._target(target).click()
                name, words = value.split(" | ")
                kept = await begun.value
                assert kept.suggested_filename.startswith(name)
                assert words in Path(await kept.path()).read_text("utf-8")
            case "type":
                await self._page.keyboard.type(text)
            case "keep":
                name, _, rest = target.partition(" ")
                found = self._target(rest)
                is_text = value == "text"
                kept = await (found.inner_text() if is_text else found.get_attribute(value))
                self._kept[name] = kept or ""
            case _:
                await self._check(sign, target, value)

    async def _begin(self, text: str) -> None:
        path, *more = text.split(" ")
        options: dict[str, Any] = dict(each.split("=", 1) for each in more)
        if path.startswith("node="):
            options["node"] = path.removeprefix("node=")
        elif not path.startswith("/login"):
            options["at"] = path
        if "width" in options:
            options["width"] = int(options["width"])
        self.seen = await self._open(**options)
        if path.startswith("/login"):  # as nobody
            await self.seen.go(path)

    async def _check(self, sign: str, target: str, value: str) -> None:
        found = self._target(target) if sign not in WHOLE else None
        match sign:
            case "see":
                await found.wait_for()
            case "says":
                await self.seen.says(target)
            case _ if sign in CHECKS:
                await getattr(expect(found), CHECKS[sign])(*([value] if value else []))
            case "value":
                await expect(found).to_have_value(re.compile(value))
            case "count":
                await expect(self._page.locator(target)).to_have_count(int(value))
            case "attr":
                name, _, wanted = value.partition(" ")
                what: Any = re.compile(wanted[1:]) if wanted[:1] == "~" else wanted
                if name.endswith("!"):
                    await expect(found).not_to_have_attribute(name[:-1], what)
                else:
                    await expect(found).to_have_attribute(name, what)
            case "url":
                await self._page.wait_for_url(re.compile(target))
                await self._page.wait_for_load_state("load")
            case "no-url":
                assert target not in self._page.url
            case "js":
                assert await self._page.evaluate(target) == json.loads(value)
            case "dark":
                assert (await self._page.evaluate(LOOK))["brightness"] < 0.2
            case "fits":
                assert await self._page.evaluate(FIT)
            case _:
                raise AssertionError(f"what is {sign}?")
