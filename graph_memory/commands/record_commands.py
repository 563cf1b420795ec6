"""Commands and tools for conversation records, and commands for core facts.

Records are searched with the rights of whoever asks; core facts are the speaker's own, of
this chat.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ..companion import MAX_TEXT, CoreFact, Hit, TranscriptQuery
from ..errors import NotFoundError
from ..library import worded
from ..model import Asker, Episode, Turn
from ..recall import CLOSE, OPEN
from ..references import Reference
from ..text import clean, clean_name, escape, fenced, one_line, tokens
from .usage import Answers, misused

PAGE = 1_500
"""Tokens of a record that are shown at a time."""
MAX_HIT = 160
"""Characters of a message that was found."""
BEFORE = 40
"""Characters of them that stand before the first word that was searched for."""
MAX_SUMMARY = 120
MAX_NAME = 40
_ACTS = {
    "pinned": {"pin", "固定", "置顶", "钉住"},
    "unpinned": {"unpin", "取消固定", "取消置顶"},
    "edited": {"edit", "改", "修改"},
    "dropped": {"drop", "删", "删除", "去掉"},
}


class RecordCommands(Answers):
    """Conversation records and core facts, for people and for the chat model."""

    async def search(self, turn: Turn, keyword: str, person: str = "", time: str = "") -> str:
        """Messages of any age that have words in them, fenced as data, with their records."""
        wanted = TranscriptQuery(
            one_line(keyword, 200),
            one_line(person, MAX_NAME),
            one_line(time, MAX_NAME),
            (turn.message.id,) if turn.message else (),
        )
        if not (wanted.keyword or wanted.person or wanted.time):
            return self._say("found_what")
        found = await self.memory.companion.transcripts.search(turn.asker, wanted)
        if not found.is_known:
            return self._say("found_nobody")
        notes = [] if found.is_dated else [self._say("found_undated")]
        notes += [] if found.is_whole else [self._say("history_partly")]
        if not found.hits:
            return "\n".join([self._say("history_none"), *notes])
        said = await self.memory.lookup.signed(turn.asker, [hit.message for hit in found.hits])
        lines = [
            self._hit(turn, hit, who, wanted.keyword)
            for hit, who in zip(found.hits, said, strict=True)
        ]
        return "\n".join([OPEN, self._say("history_note"), *lines, CLOSE, *notes])

    def _hit(self, turn: Turn, hit: Hit, who: str, keyword: str) -> str:
        short = f"[{self.memory.references.record(turn, hit.record)}] " if hit.record else ""
        where = ""
        if hit.session.circle != turn.session.circle and hit.session.title:
            where = self._say("history_where", title=clean_name(hit.session.title))
        said = self._moment(hit.message.at)
        return f"- {short}{said} 〔{who}〕{where}{_around(hit.message.text, keyword)}"

    async def open(self, turn: Turn, id: str, page: str = "") -> str:
        """A record that was shown, word for word."""
        found = await self._open(turn, id, page, None)
        if found is None:
            return self._say("record_unknown", id=one_line(id, MAX_NAME))
        lines, note = found
        return "\n".join([OPEN, self._say("record_note"), *lines, CLOSE, note])

    async def _open(
        self, turn: Turn, which: str, page: str, reader: Asker | None
    ) -> tuple[list[str], str] | None:
        """The lines of a page of a record, by its short id or its number, and which it is."""
        references = self.memory.references
        is_number = which.isdecimal() and len(which) < 6
        memory = (
            references.numbered(turn, int(which)) if is_number else references.cited(turn, which)
        )
        if memory is None or memory.kind != Episode.kind:
            return None
        try:
            found = await self.memory.companion.transcripts.open(turn.asker, memory.id, reader)
        except NotFoundError:
            return None
        pages: list[list[str]] = [[]]
        left = PAGE
        said = await self.memory.lookup.signed(turn.asker, found.lines)
        for message, who in zip(found.lines, said, strict=True):
            at = datetime.fromtimestamp(message.at, self.memory.zone)
            text = escape(clean(message.text)).replace("\n", "\n    ")
            line = f"{at:%H:%M} 〔{who}〕{text}"
            left -= tokens(line)
            if left < 0 and pages[-1]:
                pages.append([])
                left = PAGE - tokens(line)
            pages[-1].append(line)
        wanted = int(page) if page.isdecimal() and len(page) < 6 else 1
        number = max(1, min(wanted, len(pages)))
        began = self._moment(found.record.started_at)
        note = self._say("record_page", when=began, page=number, pages=len(pages))
        if found.missing and number == len(pages):
            note = f"{note} {self._say('record_missing', count=found.missing)}"
        return pages[number - 1], note

    async def records(self, turn: Turn, which: str = "") -> str:
        """The last records of this chat, or one of those that were listed."""
        if not self.memory.companion.has("records"):
            return self._say("part_off", part="records")
        which, _, page = which.strip().partition(" ")
        if page.strip() and not page.strip().isdecimal():
            return misused(self._language, "records", page)
        if which:
            opened = await self._open(turn, which, page.strip(), turn.asker)
            if opened is None:
                return self._say("record_number", number=one_line(which, MAX_NAME))
            lines, note = opened
            return "\n".join([self._say("record_title", note=note), *lines])
        found = await self.memory.companion.transcripts.recent(turn.asker, turn.session)
        if not found:
            return self._say("records_none")
        self.memory.references.number(
            turn, [Reference(Episode.kind, r.id, r.summary) for r in found]
        )
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
        if self.memory.companion.transcripts.goes_on(record):
            return (told + self._say("records_open")).lstrip()
        return told or self._say("records_untold")

    async def core(self, turn: Turn, what: str = "") -> str:
        """The turn's core facts in this chat, or a change to one of them."""
        if not self.memory.companion.has("core_facts"):
            return self._say("part_off", part="core_facts")
        verb, _, rest = what.strip().partition(" ")
        number, _, text = rest.strip().partition(" ")
        if not verb:
            return await self._cores(turn)
        verb = verb.casefold()
        text = worded(clean(text), MAX_TEXT)
        done = next((done for done, words in _ACTS.items() if verb in words), "")
        is_number = number.isdecimal() and len(number) < 6
        if not done or not is_number or bool(text) != (done == "edited"):
            return self._say("core_what")

        def change(row: CoreFact) -> CoreFact | None:
            if done == "dropped":
                return None
            if done == "edited":  # in the speaker's words, which learning leaves alone
                return replace(row, text=text, pinned=True)
            return replace(row, pinned=done == "pinned")

        try:
            await self.memory.companion.alter(
                turn.session, turn.asker, int(number), turn.user, change
            )
        except NotFoundError:
            return self._say("core_number", number=number)
        return self._say(f"core_{done}", number=number, text=text)

    async def _cores(self, turn: Turn) -> str:
        found = await self.memory.companion.core(turn.asker, turn.session)
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
