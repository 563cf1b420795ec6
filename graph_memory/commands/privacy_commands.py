"""Commands ``why``, ``pause``, ``resume`` and ``forgetme`` of privacy."""

from __future__ import annotations

import math

from ..model import Turn
from ..references import Reference
from ..service import MemoryService
from ..store.queries import footprint, is_known
from ..text import one_line
from .usage import CANCEL, Answers, Wishes, account, misused, nearest
from .usage import CONFIRM as _YES

MAX_LINE = 120
CONFIRM = 600.0
"""Seconds within which a wish to be forgotten has to be confirmed."""
_GROUP = {"group", "群", "本群", "全群"}


class PrivacyCommands(Answers):
    """Privacy commands: why, pause, resume, forget me."""

    def __init__(self, memory: MemoryService) -> None:
        super().__init__(memory)
        self._wishes = Wishes[str](memory.now, CONFIRM)

    async def why(self, turn: Turn) -> str:
        """What the last reply in this chat recalled, and why, as far as it may be shown."""
        found = await self.memory.recall.explain(turn.asker)
        if found is None:
            return self._say("why_none")
        if found.problem:
            return self._say("why_problem")
        listed = [Reference(line.kind, line.id, line.text) for line in found.shown]
        self.memory.references.number(turn, listed)  # which a number means from now on
        joint = self._say("list.comma")
        lines = [
            self._say(
                "why_line",
                number=number,
                text=(self._standing(line.fact) if line.fact else "")
                + one_line(line.text, MAX_LINE),
                date=self._date(line.at),
                reasons=joint.join(self._say(f"why_{reason}") for reason in line.reasons),
            )
            for number, line in enumerate(found.shown, 1)
        ]
        lines.insert(0, self._say("why_title" if lines else "why_empty"))
        if found.dropped:
            counts = [
                self._say("why_count", count=count, reason=self._say(f"why_{reason.value}"))
                for reason, count in found.dropped.items()
            ]
            lines.append(self._say("why_dropped", what=self._say("list_comma").join(counts)))
        return "\n".join(lines)

    async def pause(self, turn: Turn, what: str = "") -> str:
        """Store nothing new of the speaker on any account, or (for admins) of this group."""
        return await self._set_pause(turn, what, "pause", "paused", "paused_group")

    async def resume(self, turn: Turn, what: str = "") -> str:
        """Store what is said again."""
        return await self._set_pause(turn, what, "resume", "resumed", "resumed_group")

    async def _set_pause(self, turn: Turn, what: str, command: str, *done: str) -> str:
        is_group = what.casefold() in _GROUP
        if what and not is_group:
            return misused(self._language, command, what, _GROUP)
        if is_group and not (turn.is_admin and turn.session.is_group):
            return self._say("pause_admins")
        pauses = self.memory.learning.pauses
        act = pauses.pause if command == "pause" else pauses.resume
        people = self.memory.identities.accounts(turn.user)
        for id in {turn.session.circle} if is_group else people:
            await act("circle" if is_group else "user", id)
        # The other of the two may go on, and so do the settings.
        but = self.refusal(turn, "status_paused") if command == "resume" else ""
        return "\n".join(filter(None, [self._say(done[is_group]), but]))

    async def forget_me(self, turn: Turn, what: str = "") -> str:
        """Erase the speaker for good (or an owner, an account), once that is confirmed."""
        if what.strip(" 。.!！~～").casefold() in CANCEL:
            self._wishes.take(turn)
            return self._say("forgetme_kept")
        *named, last = what.split() or [""]
        is_confirmed = last.casefold() in _YES
        given = " ".join(named) if is_confirmed else what
        typed = given and f" {one_line(given, MAX_LINE)}"
        user = account(turn, given) if given else turn.user
        if is_confirmed:
            wished = self._wishes.take(turn)
            if wished is None or (given and wished != user):
                return self._say("forgetme_first", account=typed)
            return self._say(f"forgetme_{await self.memory.forget_me.forget(wished)}")
        if refusal := await self._refusal(turn, user, what):
            return refusal
        if wait := await self.memory.forget_me.due_in(user):
            return self._say("forgetme_soon", minutes=math.ceil(wait / 60))
        self._wishes.put(turn, user)
        is_self = user == turn.user
        who = self._say("forgetme_you") if is_self else self._say("forgetme_user", user=user)
        ask = self._say("forgetme_ask", who=who, account=typed, minutes=round(CONFIRM / 60))
        if not is_self:
            name, messages, facts = await self.memory.journal.look(lambda db: footprint(db, user))
            about = {"name": one_line(name, MAX_LINE), "messages": messages, "facts": facts}
            ask = f"{self._say('forgetme_whom', user=user, **about)}\n{ask}"
        others = sorted(self.memory.identities.accounts(user) - {user})
        if not others:
            return ask
        # Whose other accounts these are is nothing for a group.
        key = "forgetme_only" if turn.session.is_group else "forgetme_others"
        accounts = self._say("list.comma").join(others)
        return "\n".join([self._say(key, who=who, accounts=accounts), ask])

    async def _refusal(self, turn: Turn, user: str, what: str) -> str:
        """Why a user is not erased for who asks; empty if they may be."""
        if user == turn.user:
            return ""
        if nearest(what, _YES):
            return misused(self._language, "forgetme", what, _YES)
        if not turn.is_owner:
            return self._say("forgetme_private" if turn.is_admin else "forgetme_denied")
        if not await self.memory.journal.look(lambda db: is_known(db, user)):
            return self._say("no_account", user=one_line(user, MAX_LINE))
        return ""
