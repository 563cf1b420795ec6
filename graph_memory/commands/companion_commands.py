"""Commands and tools of the companion: records, core facts, inner state, care.

Records are searched with the rights of whoever asks. Everything else is about the chat in
which it is asked and its persona; core facts are the speaker's own, follow-ups private.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice

from ..companion import MAX_TEXT, CoreFact, FollowUp, Hit, InnerState, bring_back, inner_id, seed
from ..errors import NotFoundError
from ..library import worded
from ..model import Asker, Episode, Turn, decode, stable_id
from ..recall import framed
from ..references import Reference
from ..store import queries
from ..text import clean, escape, fenced, one_line, simplified, tokens
from .usage import (
    ACTS,
    BACK,
    CANCEL,
    EVERYTHING,
    HISTORY,
    LISTED,
    Answers,
    acted,
    misused,
    number_of,
    numbered,
    several,
)

PAGE = 1_500
"""Tokens of a record that are shown at a time."""
MAX_HIT = 160
"""Characters of a message that was found."""
BEFORE = 40
"""Characters of them that stand before the first word that was searched for."""
MAX_SUMMARY = 120
MAX_NAME = 40
MAX_PART = 200
"""Characters of a part of the inner state, and of a reason to speak first."""


class CompanionCommands(Answers):
    """The companion's commands, and what the chat model looks up in records."""

    async def search(self, turn: Turn, keyword: str, person: str = "", time: str = "") -> str:
        """Messages of any age that have words in them, fenced as data, with their records."""
        keyword, person = one_line(keyword, 200), one_line(person, MAX_NAME)
        if not (keyword or person or time.strip()):
            return self._say("found_what")
        found = await self.memory.companion.transcripts.search(
            turn.asker, keyword, person, one_line(time, MAX_NAME), turn.ids
        )
        if not found.is_known:
            return self._say("found_nobody")
        notes = [] if found.is_dated else [self._say("found_undated")]
        notes += [] if found.is_whole else [self._say("history_partly")]
        if not found.hits:
            return "\n".join([self._say("history_none"), *notes])
        said = await self.memory.lookup.signed(turn.asker, [hit.message for hit in found.hits])
        lines = [
            self._hit(turn, hit, who, keyword) for hit, who in zip(found.hits, said, strict=True)
        ]
        return "\n".join([framed(lines, self._say("history_note")), *notes])

    def _hit(self, turn: Turn, hit: Hit, who: str, keyword: str) -> str:
        short = f"[{self.memory.references.record(turn, hit.record)}] " if hit.record else ""
        told = f"{self._where(turn, hit.session)}{_around(hit.message.text, keyword)}"
        return f"- {short}{self._moment(hit.message.at)} 〔{who}〕{told}"

    async def open(self, turn: Turn, id: str, page: str = "") -> str:
        """A record that was shown, word for word."""
        found = await self._open(turn, id, page, None)
        if found is None:
            return self._say("record_unknown", id=one_line(id, MAX_NAME))
        lines, note = found
        return "\n".join(filter(None, [framed(lines, self._say("record_note")), note]))

    async def _open(
        self, turn: Turn, which: str, page: str, reader: Asker | None
    ) -> tuple[list[str], str] | None:
        """The lines of a page of a record, by its short id or its number, and which it is."""
        memory = self._shown(turn, which)
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
        number = min(number_of(page) or 1, len(pages))
        began = self._moment(found.record.started_at)
        note = self._say("record_page", when=began, page=number, pages=len(pages))
        if found.missing and number == len(pages):
            note = f"{note} {self._say('record_missing', count=found.missing)}"
        return pages[number - 1], note

    async def records(self, turn: Turn, which: str = "") -> str:
        """The last records of this chat, or one of those that were listed."""
        which, page = numbered(which)
        if page and number_of(page) is None:
            return misused(self._language, "records", page)
        if which:
            opened = await self._open(turn, which, page, turn.asker)
            if opened is None:
                return self._say("record_number", number=one_line(which, MAX_NAME))
            lines, note = opened
            return "\n".join([self._say("record_title", note=note), *lines])
        found = await self.memory.companion.transcripts.recent(turn.asker, turn.session)
        if not found:
            return self._say("records_none")
        listed = [Reference(Episode.kind, record.id, record.summary) for record in found]
        self.memory.references.number(turn, listed)
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
        verb, rest = acted(what)
        given, text = numbered(rest)
        if not verb:
            return await self._cores(turn)
        done = ACTS.get(simplified(verb.casefold()), "")
        many = several(rest) if done != "edited" else []
        numbers = [number for each in many or [given] if (number := number_of(each)) is not None]
        text = "" if many else worded(clean(text), MAX_TEXT)
        if not done or not numbers or bool(text) != (done == "edited"):
            return self._say("core_what")
        if done == "edited" and (refusal := self.refusal(turn)):
            return refusal

        def change(row: CoreFact) -> CoreFact | None:
            if done == "dropped":
                return None
            if done == "edited":  # in the speaker's words, which learning leaves alone
                edited = row.reworded(text, row.evidence, self.memory.now())
                return replace(edited, pinned=True)
            return replace(row, pinned=done == "pinned")

        own = {row.number for row in await self.memory.companion.core(turn.user, turn.session)}
        unknown = [number for number in numbers if number not in own]
        named = self._say("list.comma").join(map(str, unknown or numbers))
        if unknown:
            return self._say("core_number", number=named)
        with suppress(NotFoundError):  # which were so already
            await self.memory.companion.alter(turn.session, numbers, turn.user, change)
        return self._say(f"core_{done}", number=named, text=text)

    async def _cores(self, turn: Turn) -> str:
        found = await self.memory.companion.core(turn.user, turn.session)
        self.memory.references.number(turn, [])  # these numbers are those of no memories
        if not found:
            return self._say("core_none")
        lines = [
            self._say(
                "core_line",
                number=row.number,
                kind=row.named(self._language, self.memory.zone),
                text=one_line(row.text, MAX_TEXT),
                pin=" 📌" if row.pinned else "",
            )
            for row in found
        ]
        return "\n".join([self._say("core_title"), *lines, self._say("core_hint")])

    async def inner(self, turn: Turn, what: str = "") -> str:
        """Show the inner state or its history, or bring an earlier one back."""
        verb, number = acted(simplified(what.casefold()))
        if not verb:
            return await self._inner(turn)
        if verb in HISTORY and not number:
            return await self._history(turn)
        if verb in BACK and (wanted := number_of(number)) is not None:
            return await self._back(turn, wanted)
        return self._say("inner_what")

    async def _inner(self, turn: Turn) -> str:
        id = inner_id(turn.session.id)
        found = await self.memory.journal.read(lambda rows: rows.get(InnerState, id))
        title = self._say("inner_title_seed")
        if found:
            title = self._say("inner_title", version=found.version, when=self._moment(found.at))
        parts = self._parts(found or seed(turn.session.id, self._language))
        return "\n".join([title, *parts, self._say("inner_hint")])

    def _parts(self, row: InnerState) -> list[str]:
        return [
            self._say(f"inner_part_{part}", text=one_line(text, MAX_PART))
            for part, text in row.told.items()
        ]

    async def _versions(self, turn: Turn) -> dict[str, InnerState]:
        """Every text there was, newest first, by what stands for it."""
        id = inner_id(turn.session.id)
        found = await self.memory.journal.look(
            lambda db: queries.versions(db, InnerState.kind, id, 4 * LISTED)
        )
        rows: dict[str, InnerState] = {}
        gone, later = set[str](), dict[str, str]()
        for data in found:
            row = decode(InnerState.kind, data)
            if not isinstance(row, InnerState) or row.session != turn.session.id:
                continue
            if row.told:  # what was taken back has no words
                # Learning empties no part: what has one no more was forgotten.
                gone |= {text for part, text in row.told.items() if later and part not in later}
                later = row.told
                if gone.isdisjoint(later.values()):
                    rows.setdefault(stable_id("v", row.itself, row.other, row.bond), row)
        return dict(islice(rows.items(), LISTED))

    async def _history(self, turn: Turn) -> str:
        lines, versions = [self._say("inner_history")], await self._versions(turn)
        listed = [Reference(InnerState.kind, id, "") for id in versions]
        self.memory.references.number(turn, listed)  # learning may write one meanwhile
        for number, row in enumerate(versions.values(), 1):
            when = self._moment(row.at)
            lines.append(self._say("inner_version", number=number, version=row.version, when=when))
            lines += self._parts(row)
        return "\n".join(lines) if len(lines) > 1 else self._say("inner_none")

    async def _back(self, turn: Turn, number: int) -> str:
        if turn.session.is_group and not turn.is_admin:
            return self._say("inner_admins")
        found = await self._versions(turn)
        unknown = self._say("inner_number", number=number)
        listed = self.memory.references.numbered(turn, number)
        if listed and listed.kind == InnerState.kind:
            wanted = found.get(listed.id)
        else:  # as they are now
            wanted = dict(enumerate(found.values(), 1)).get(number)
        if wanted is None:
            return unknown
        about = turn.session.id, wanted, turn.user, self.memory.now()
        try:
            await self.memory.journal.commit(lambda rows: bring_back(rows, *about))
        except NotFoundError:
            return unknown
        return self._say("inner_back")

    async def proactive(self, turn: Turn, what: str = "") -> str:
        """List or cancel when the persona means to speak first in this chat."""
        care = self.memory.companion.proactive
        if turn.session.is_group:
            return self._say("care_private")
        verb, rest = acted(simplified(what.casefold()))
        number = number_of(rest)
        if verb and (verb not in CANCEL or (number is None and rest not in {"", *EVERYTHING})):
            return self._say("care_what")
        found = await care.standing(turn.session)
        if not verb:
            self.memory.references.number(turn, [])  # these numbers are those of no memories
            return self._plans(found)
        meant = found if number is None else found[max(0, number - 1) : number]
        gone = [
            one_line(row.reason, MAX_PART) for row in meant if await care.cancel(row, turn.user)
        ]
        if not gone:
            return self._say("care_none" if number is None else "care_number", number=number)
        return self._say("care_cancelled", reason=self._say("list_comma").join(gone))

    def _plans(self, plans: list[FollowUp]) -> str:
        if not plans:
            return self._say("care_none")
        lines = [
            self._say(
                "care_line",
                number=number,
                when=self._moment(self.memory.companion.proactive.earliest(row)),
                reason=one_line(row.reason, MAX_PART),
            )
            for number, row in enumerate(plans, 1)
        ]
        return "\n".join([self._say("care_title"), *lines, self._say("care_hint")])


def _around(text: str, keyword: str) -> str:
    """What a message says near the first word that was searched for."""
    words = keyword.casefold().split()
    places = [at for word in words if (at := text.casefold().find(word)) >= 0]
    start = max(0, min(places, default=0) - BEFORE)
    return f"{'…' if start else ''}{fenced(text[start:], MAX_HIT)}"
