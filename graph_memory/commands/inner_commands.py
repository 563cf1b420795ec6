"""Commands about the inner state and proactive messages.

Both are about the chat in which they are asked and its persona; follow-ups are private.
"""

from __future__ import annotations

from dataclasses import replace

from ..companion import FollowUp, InnerState, bring_back, inner_id, seed
from ..errors import NotFoundError
from ..model import Turn, decode
from ..store import queries
from ..text import one_line
from .usage import Answers

LISTED = 10
MAX_TEXT = 200
_HISTORY = frozenset({"history", "历史", "从前"})
_BACK = frozenset({"back", "换回", "恢复"})
_CANCEL = frozenset({"cancel", "取消"})


class InnerCommands(Answers):
    """``/memory inner`` and ``/memory proactive``."""

    async def inner(self, turn: Turn, what: str = "") -> str:
        """Show the inner state or its history, or bring an earlier one back."""
        if not self.memory.companion.has("inner_state"):
            return self._say("part_off", part="inner_state")
        verb, _, number = what.strip().casefold().partition(" ")
        if not verb:
            return await self._inner(turn)
        if verb in _HISTORY and not number:
            return await self._history(turn)
        if verb in _BACK and number.strip().isdecimal():
            return await self._back(turn, number.strip()[:6])
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
        parts = {"itself": row.itself, "other": row.other, "bond": row.bond}
        return [
            self._say(f"inner_part_{part}", text=one_line(text, MAX_TEXT))
            for part, text in parts.items()
            if text
        ]

    async def _versions(self, turn: Turn) -> list[InnerState]:
        """Every text there was, newest first."""
        id = inner_id(turn.session.id)
        found = await self.memory.journal.look(
            lambda db: queries.versions(db, InnerState.kind, id, 4 * LISTED)
        )
        rows: dict[InnerState, InnerState] = {}
        for data in found:
            row = decode(InnerState.kind, data)
            if not isinstance(row, InnerState) or row.session != turn.session.id:
                continue
            if row.itself or row.other or row.bond:  # what was taken back has no words
                rows.setdefault(replace(row, version=0, at=0.0), row)
        return list(rows.values())[:LISTED]

    async def _history(self, turn: Turn) -> str:
        lines = [self._say("inner_history")]
        for number, row in enumerate(await self._versions(turn), 1):
            when = self._moment(row.at)
            lines.append(self._say("inner_version", number=number, version=row.version, when=when))
            lines += self._parts(row)
        return "\n".join(lines) if len(lines) > 1 else self._say("inner_none")

    async def _back(self, turn: Turn, number: str) -> str:
        if turn.session.is_group and not turn.is_admin:
            return self._say("inner_admins")
        found = await self._versions(turn)
        unknown = self._say("inner_number", number=number)
        if not 0 < int(number) <= len(found):
            return unknown
        wanted, now = found[int(number) - 1], self.memory.now()
        try:
            await self.memory.journal.commit(
                lambda rows: bring_back(rows, turn.session.id, wanted, turn.user, now)
            )
        except NotFoundError:
            return unknown
        return self._say("inner_back")

    async def proactive(self, turn: Turn, what: str = "") -> str:
        """List or cancel when the persona means to speak first in this chat."""
        care = self.memory.companion.proactive
        if not care.is_on:
            return self._say("part_off", part="proactive")
        if turn.session.is_group:
            return self._say("care_private")
        verb, _, number = what.strip().casefold().partition(" ")
        number = number.strip()[:6]
        if verb and not (verb in _CANCEL and number.isdecimal()):
            return self._say("care_what")
        found = await care.standing(turn.session)
        if not verb:
            return self._plans(found)
        if not 0 < int(number) <= len(found):
            return self._say("care_number", number=number)
        row = found[int(number) - 1]
        try:
            await care.cancel(row, turn.user)
        except NotFoundError:
            return self._say("care_number", number=number)
        return self._say("care_cancelled", reason=one_line(row.reason, MAX_TEXT))

    def _plans(self, plans: list[FollowUp]) -> str:
        if not plans:
            return self._say("care_none")
        lines = [
            self._say(
                "care_line",
                number=number,
                when=self._moment(row.due_at),
                reason=one_line(row.reason, MAX_TEXT),
            )
            for number, row in enumerate(plans, 1)
        ]
        return "\n".join([self._say("care_title"), *lines, self._say("care_hint")])
