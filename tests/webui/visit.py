"""Visits to the pages as text, made by a browser without scripts; see :class:`Visit`."""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from graph_memory.service import MemoryService
from tests.makers import last_change

from ..waiting import until
from .browsing import HOSTILE, LIFE, PRIVATE, press, see, send, statements, undo
from .conftest import BULK
from .markup import Markup
from .seed import NOW, fact_id, node
from .story import HONG, LI, MALLORY, MING, XSS, ZHANG, talks

SAID = [(talk, said) for talk in talks() for said in talk.said]
KNOWN = {
    "ZHANG": ZHANG, "LI": LI, "HONG": HONG, "MING": MING, "MALLORY": MALLORY,
    "PRIVATE": PRIVATE.id, "LIFE": LIFE.id, "HOSTILE": HOSTILE.circle,
    "CLUB": "aiocqhttp:group:88001", "nothing": "", "blank": "  ",
    "NOW": str(NOW), "BULK": str(BULK), "BULK-1": str(BULK - 1),
    "FACTS": str(60 + BULK), "FACTS-16": str(44 + BULK),
}  # fmt: skip
KNOWN |= {f"XSS{number}": text for number, text in enumerate(XSS)}
KNOWN |= {said.statement: fact_id(talk.session, said.statement) for talk, said in SAID}
KNOWN |= {
    end.partition("/")[2]: node(talk, end)
    for talk, said in SAID
    for end in (said.subject, said.object)
    if "/" in end
}
"""What stands in braces: accounts, chats, counts, things by name and facts by what they say."""
PATTERNS = ("~=", "!~", "links")
"""Checks whose words are not filled."""


async def play(lines: Iterable[str], step: Callable[[str, str], Awaitable[None]]) -> None:
    """Take each line as a step: its first word, and the rest; an error names the line."""
    for line in lines:
        try:
            await step(*line.partition(" ")[::2])
        except Exception as error:
            error.add_note(f"at: {line}")
            raise


class Visit:
    r"""Plays a case: a line is what the owner does, or what is to be seen then.

    ``see /path`` opens a page, ``follow words`` the first link whose address has them,
    ``send /path name=value; …`` sends a form and reads the answer, ``press …`` goes where it
    leads, ``undo`` takes back what was pressed last; ``-> 404`` is a status.
    ``take name tag attribute=value @attribute pattern`` keeps what an element has, for ``{name}``.
    ``mark`` begins to count the changes and the messages of the memory. ``ask user; group; persona;
    words`` is what somebody is reminded of, ``file name | text`` puts a file among the imports,
    ``idle`` waits for work in the background, ``graph-away`` closes the graph, ``leave-out user``
    sets that somebody is never remembered, ``set module.name 0`` a constant.

    ``= …`` is in the text of the page, ``! …`` is not, ``~= …`` and ``!~ …`` are patterns,
    ``order a; b`` what comes before what. ``count 2 tag attribute=value; …`` says how many such
    elements there are (or ``some``), ``links 2 …`` how many links have such an address, ``rows 3``
    how many memories are in the table, ``first …`` which is its first, ``chosen a b`` what filters
    are set to, ``inert`` that nothing on the page would run, ``changes 1`` and ``messages 1`` how
    many there were.
    """

    def __init__(
        self, owner: httpx.AsyncClient, service: MemoryService, patch: pytest.MonkeyPatch
    ) -> None:
        self._owner, self._service, self._patch = owner, service, patch
        self._taken: dict[str, str] = dict(KNOWN)
        self._pressed: list[Markup] = []
        self._page = Markup("")
        self._mark = self._heard = 0

    async def play(self, lines: Iterable[str]) -> None:
        """Play all lines."""
        await play(lines, self._step)

    async def _step(self, sign: str, text: str) -> None:
        match sign:
            case "see" | "send" | "press":
                await self._go(sign, text)
            case "follow":
                address = next(a["href"] for a in self._page.all("a") if text in a["href"])
                self._page = await see(self._owner, address)
            case "undo":
                self._page = await undo(self._owner, self._pressed.pop())
            case "take":
                self._take(*text.split(" "))
            case "mark":
                self._mark = await last_change(self._service.journal)
                self._heard = (await self._service.journal.counts())["messages"]
            case "changes":
                assert await last_change(self._service.journal) - self._mark == int(text)
            case "messages":
                counts = await self._service.journal.counts()
                assert counts["messages"] - self._heard == int(text)
            case "ask":
                *who, words = self._filled(text).split("; ")
                asker = self._service.view_as.asker(*who)
                await self._service.recall.remind(asker, words)
            case "file":
                name, _, content = text.partition(" | ")
                path = self._service.directory.joinpath("imports", name).resolve()
                path.parent.mkdir(exist_ok=True)
                path.write_text(content.replace("\\n", "\n"), encoding="utf-8")
            case "graph-away":
                await self._service.graph.close()
            case "leave-out":
                never = (self._filled(text),)
                context = self._service.context
                context.settings = replace(context.settings, never_remember=never)
            case "set":
                name, value = text.split()
                self._patch.setattr(name, int(value))
            case "idle":
                await until(lambda: not self._service.journal.works.under_way)
            case _:
                self._check(sign, text if sign in PATTERNS else self._filled(text))

    def _filled(self, text: str, *, in_address: bool = False) -> str:
        def put(found: re.Match[str]) -> str:
            if found[1]:
                return int(found[1]) * found[2]
            value = self._taken[found[3]]
            is_address = value.startswith("/")  # as it stood on the page
            return value if is_address or not in_address else quote(value, safe="")

        return re.sub(r"\{(?:(\d+)×(.+?)|(.+?))\}", put, text)

    async def _go(self, sign: str, text: str) -> None:
        text, _, status = text.partition(" -> ")
        path, _, given = text.partition(" ")
        path = self._filled(path, in_address=True)
        if sign == "see":
            self._page = await see(self._owner, f"{path} {given}".strip(), int(status or 200))
            return
        fields: dict[str, Any] = {}
        for name, value in (each.split("=", 1) for each in given.split("; ") if each):
            value = self._filled(value)
            fields[name] = [*fields[name], value] if name in fields else [value]
        if sign == "send":
            self._page = Markup((await send(self._owner, path, int(status or 303), **fields)).text)
        else:
            self._page = await press(self._owner, path, **fields)
            self._pressed.append(self._page)

    def _take(self, name: str, tag: str, *more: str) -> None:
        attributes = dict(each.split("=", 1) for each in more if each[0] != "@" and "=" in each)
        (wanted,) = [each[1:] for each in more if each[0] == "@"]
        pattern = more[-1] if more[-1][0] != "@" else "(.*)"
        values = [found.get(wanted, "") for found in self._page.all(tag, **attributes)]
        self._taken[name] = next(m[1] for each in values if (m := re.search(pattern, each)))

    def _check(self, sign: str, text: str) -> None:
        page = self._page
        match sign:
            case "=" | "!":
                assert (text in page.text) is (sign == "="), (sign, text, page.text)
            case "~=" | "!~":
                assert bool(re.search(text, page.text)) is (sign == "~="), (sign, text, page.text)
            case "order":
                places = [page.text.index(part) for part in text.split("; ")]
                assert places == sorted(places), text
            case "count":
                number, tag, *given = text.split(" ", 2)
                pairs = dict(each.split("=", 1) for each in "".join(given).split("; ") if each)
                found = len(page.all(tag, **pairs))
                assert found > 0 if number == "some" else found == int(number), (text, found)
            case "links":
                number, pattern = text.split(" ", 1)
                linked = [a["href"] for a in page.all("a") if re.search(pattern, a["href"])]
                assert len(linked) == int(number), (text, linked)
            case "rows":
                assert len(statements(page)) == int(text), statements(page)
            case "first":
                assert statements(page)[0] == f"/memories/{text}"
            case "chosen":
                fields = [*page.tags_selected(), *page.all("input", type="date")]
                assert set(text.split()) <= {tag["value"] for tag in fields}
            case "inert":
                assert page.alive() == []
            case _:
                raise AssertionError(f"what is {sign}?")
