"""What ``/memory records`` and ``/memory core`` answer, and the tools that open records.

Records are looked through with the rights of whoever asks; core facts are the caller's own,
of the chat in which they ask, and nobody else's.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ..companion import MAX_TEXT, Companion, Hit, Reading, Wanted
from ..errors import NotFoundError
from ..model import CoreFact, Episode, Message
from ..phrases import say
from ..recall import CLOSE, OPEN
from ..service import MemoryService
from ..text import clean, clean_name, escape, fenced, one_line, tokens
from .caller import Caller
from .shown import Memory, Shown
from .usage import misused

PAGE = 1_500
"""Tokens of a record that are shown at a time."""
MAX_HIT = 160
"""Characters of a message that was found."""
BEFORE = 40
"""Characters of them that stand before the first word that was searched for."""
MAX_SUMMARY = 120
MAX_NAME = 40
_PIN = frozenset({"pin", "固定", "置顶", "钉住"})
_UNPIN = frozenset({"unpin", "取消固定", "取消置顶"})
_EDIT = frozenset({"edit", "改", "修改"})
_DROP = frozenset({"drop", "删", "删除", "去掉"})


class Keepsakes:
    """Records and core facts, for people and for the chat model.

    Args:
        shown: What people and the model were shown.
    """

    def __init__(self, memory: MemoryService, shown: Shown) -> None:
        self._memory = memory
        self._shown = shown
        self._language = memory.settings.language

    @property
    def _companion(self) -> Companion:
        return self._memory.companion

    def _say(self, key: str, **values: object) -> str:
        return say(self._language, key, **values)

    def cite(self, caller: Caller, record: Episode) -> str:
        """The short id of a record that is shown."""
        return self._shown.cite(caller, Memory(Episode.kind, record.id, record.summary))

    def lead(self, caller: Caller, text: str, message: Message | None) -> list[str]:
        """What the companion puts before everything that is recalled."""
        can_open = self._memory.settings.enable_function_calling
        return self._companion.lead(
            caller.asker,
            caller.session,
            text,
            message,
            (lambda record: self.cite(caller, record)) if can_open else None,
        )

    # -------------------------------------------------------------------- tools

    async def search(
        self, caller: Caller, keyword: str, person: str = "", time: str = "", message: int = 0
    ) -> str:
        """Messages of any age that have words in them, fenced as data, with their records."""
        wanted = Wanted(
            one_line(keyword, 200),
            one_line(person, MAX_NAME),
            one_line(time, MAX_NAME),
            (message,) if message else (),
        )
        if not (wanted.keyword or wanted.person or wanted.time):
            return self._say("found_what")
        found = await self._companion.talks.search(caller.asker, wanted)
        if not found.is_known:
            return self._say("found_nobody")
        notes = [] if found.is_dated else [self._say("found_undated")]
        notes += [] if found.is_whole else [self._say("history_partly")]
        if not found.hits:
            return "\n".join([self._say("history_none"), *notes])
        said = await self._memory.lookup.signed(caller.asker, [hit.message for hit in found.hits])
        lines = [
            self._hit(caller, hit, who, wanted.keyword)
            for hit, who in zip(found.hits, said, strict=True)
        ]
        return "\n".join([OPEN, self._say("history_note"), *lines, CLOSE, *notes])

    def _hit(self, caller: Caller, hit: Hit, who: str, keyword: str) -> str:
        short = f"[{self.cite(caller, hit.record)}] " if hit.record else ""
        where = ""
        if hit.session.circle != caller.session.circle and hit.session.title:
            where = self._say("history_where", title=clean_name(hit.session.title))
        said = self._moment(hit.message.at)
        return f"- {short}{said} 〔{who}〕{where}{_around(hit.message.text, keyword)}"

    async def open(self, caller: Caller, id: str, page: str = "") -> str:
        """A record that was shown, word for word."""
        memory = self._shown.cited(caller, id)
        if memory is None or memory.kind != Episode.kind:
            return self._say("record_unknown", id=one_line(id, MAX_NAME))
        try:
            found = await self._companion.talks.open(caller.asker, memory.id)
        except NotFoundError:
            return self._say("record_unknown", id=one_line(id, MAX_NAME))
        lines, note = await self._page(caller, found, page)
        return "\n".join([OPEN, self._say("record_note"), *lines, CLOSE, note])

    async def _page(self, caller: Caller, found: Reading, page: str) -> tuple[list[str], str]:
        """The lines of a page, and which one it is."""
        pages: list[list[str]] = [[]]
        left = PAGE
        said = await self._memory.lookup.signed(caller.asker, found.lines)
        for message, who in zip(found.lines, said, strict=True):
            line = self._line(message, who)
            left -= tokens(line)
            if left < 0 and pages[-1]:
                pages.append([])
                left = PAGE - tokens(line)
            pages[-1].append(line)
        number = int(page) if page.isdecimal() and len(page) < 6 else 1
        number = max(1, min(number, len(pages)))
        began = self._moment(found.record.started_at)
        note = self._say("record_page", when=began, page=number, pages=len(pages))
        if found.missing and number == len(pages):
            note = f"{note} {self._say('record_missing', count=found.missing)}"
        return pages[number - 1], note

    def _line(self, message: Message, who: str) -> str:
        """A message as it was said; further lines of it stand under it."""
        said = datetime.fromtimestamp(message.at, self._memory.zone)
        text = escape(clean(message.text)).replace("\n", "\n    ")
        return f"{said:%H:%M} 〔{who}〕{text}"

    def _moment(self, at: float) -> str:
        return f"{datetime.fromtimestamp(at, self._memory.zone):%Y-%m-%d %H:%M}"

    # ----------------------------------------------------------------- commands

    async def records(self, caller: Caller, which: str = "") -> str:
        """The last records of this chat, or one of those that were listed."""
        if not self._companion.has("records"):
            return self._say("part_off", part="records")
        which, _, page = which.strip().partition(" ")
        if page.strip() and not page.strip().isdecimal():
            return misused(self._language, "records", page)
        if which:
            return await self._read(caller, which, page.strip())
        found = await self._companion.talks.recent(caller.asker, caller.session)
        if not found:
            return self._say("records_none")
        self._shown.number(caller, [Memory(Episode.kind, r.id, r.summary) for r in found])
        lines = [
            self._say(
                "records_line",
                number=number,
                when=self._moment(record.started_at),
                count=record.messages,
                minutes=max(1, round((record.ended_at - record.started_at) / 60)),
                summary=self._summary(record),
            )
            for number, record in enumerate(found, 1)
        ]
        return "\n".join([self._say("records_title"), *lines, self._say("records_hint")])

    def _summary(self, record: Episode) -> str:
        told = one_line(record.summary, MAX_SUMMARY)
        if self._companion.talks.goes_on(record):
            return (told + self._say("records_open")).lstrip()
        return told or self._say("records_untold")

    async def _read(self, caller: Caller, which: str, page: str) -> str:
        is_number = which.isdecimal() and len(which) < 6
        memory = (
            self._shown.numbered(caller, int(which))
            if is_number
            else self._shown.cited(caller, which)
        )
        unknown = self._say("record_number", number=one_line(which, MAX_NAME))
        if memory is None or memory.kind != Episode.kind:
            return unknown
        try:
            found = await self._companion.talks.open(caller.asker, memory.id)
        except NotFoundError:
            return unknown
        lines, note = await self._page(caller, found, page)
        return "\n".join([self._say("record_title", note=note), *lines])

    async def core(self, caller: Caller, what: str = "") -> str:
        """The caller's core facts in this chat, or a change to one of them."""
        if not self._companion.has("core_facts"):
            return self._say("part_off", part="core_facts")
        verb, _, rest = what.strip().partition(" ")
        number, _, text = rest.strip().partition(" ")
        if not verb:
            return await self._cores(caller)
        verb = verb.casefold()
        text = one_line(clean(text), MAX_TEXT)
        is_known = verb in _PIN | _UNPIN | _EDIT | _DROP
        if not is_known or not (number.isdecimal() and len(number) < 6):
            return self._say("core_what")
        if bool(text) != (verb in _EDIT):
            return self._say("core_what")

        def change(row: CoreFact) -> CoreFact | None:
            if verb in _DROP:
                return None
            if verb in _EDIT:  # in the caller's words, which learning leaves alone
                return replace(row, text=text, pinned=True)
            return replace(row, pinned=verb in _PIN)

        try:
            await self._companion.alter(
                caller.session, caller.asker, int(number), caller.user, change
            )
        except NotFoundError:
            return self._say("core_number", number=number)
        key = "dropped" if verb in _DROP else "edited" if verb in _EDIT else ""
        key = key or ("pinned" if verb in _PIN else "unpinned")
        return self._say(f"core_{key}", number=number, text=text)

    async def _cores(self, caller: Caller) -> str:
        found = await self._companion.core(caller.asker, caller.session)
        if not found:
            return self._say("core_none")
        lines = [
            self._say(
                "core_line",
                number=row.number,
                kind=self._say(f"core_{row.type}"),
                text=one_line(row.text, MAX_TEXT),
                pin=" 📌" if row.pinned else "",
            )
            for row in found
        ]
        return "\n".join([self._say("core_title"), *lines, self._say("core_hint")])


def _around(text: str, keyword: str) -> str:
    """What a message says near the first word that was searched for."""
    words = keyword.casefold().split()
    places = [at for word in words if (at := text.casefold().find(word)) >= 0]
    start = max(0, min(places, default=0) - BEFORE)
    return f"{'…' if start else ''}{fenced(text[start:], MAX_HIT)}"
