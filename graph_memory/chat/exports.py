"""What ``/memory export`` answers, without AstrBot.

Everybody may take away what they may see, in a private chat: the file is there until it was
sent. Everything else is the owner's.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from ..journal.catalogue import is_known
from ..locales import say
from ..service import MemoryService
from ..text import one_line
from .caller import Caller
from .usage import EVERYTHING, misused, nearest

MAX_TEXT = 3_000
"""Characters of a file that is shown as a message, where files cannot be sent."""
MAX_ACCOUNT = 60
PAUSE = 60.0
"""Seconds from one file of a user to the next."""
MAX_USERS = 500


@dataclass(frozen=True, slots=True)
class Taken:
    """An answer, and a file that goes with it if it can be sent."""

    text: str
    path: Path | None = None


class Exports:
    """The command by which memories are taken away."""

    def __init__(self, memory: MemoryService) -> None:
        self._memory = memory
        self._language = memory.settings.language
        self._last: OrderedDict[str, float] = OrderedDict()
        self._writing: set[str] = set()

    def _say(self, key: str, **values: object) -> str:
        return say(self._language, key, **values)

    async def export(self, caller: Caller, what: str = "") -> Taken:
        """Take away what the caller may see; for owners also everything, or a person.

        Raises:
            JournalError: It cannot be written.
        """
        if caller.session.is_group:
            return Taken(self._say("export_private"))
        if not what:
            return await self._mine(caller)
        if not caller.is_owner:
            return Taken(self._say("export_denied"))
        if what.casefold() in EVERYTHING:
            return await self._written("")
        if nearest(what, EVERYTHING):
            return Taken(misused(self._language, "export", what, EVERYTHING))
        person = what if ":" in what else f"{caller.user.partition(':')[0]}:{what}"
        if not await self._memory.journal.look(lambda db: is_known(db, person)):
            return Taken(self._say("no_account", user=one_line(person, MAX_ACCOUNT)))
        return await self._written(person)

    async def _mine(self, caller: Caller) -> Taken:
        user, memory = caller.user, self._memory
        since = memory.now() - self._last.get(user, -PAUSE)
        if user in self._writing or 0 <= since < PAUSE:
            return Taken(self._say("export_wait"))
        self._writing.add(user)
        try:
            path = await memory.moving.own(
                caller.asker, memory.settings.policy, memory.attendance, memory.zone
            )
        finally:
            self._writing.discard(user)
        self._last[user] = memory.now()
        self._last.move_to_end(user)
        while len(self._last) > MAX_USERS:
            self._last.popitem(last=False)
        return Taken(self._say("export_mine"), path)

    async def _written(self, person: str) -> Taken:
        done = await self._memory.moving.exporter(person).run()
        counts = done.counts
        return Taken(
            self._say(
                "export_done",
                path=done.path,
                messages=counts.get("message", 0),
                facts=counts.get("fact", 0),
                lines=done.lines,
            )
        )

    async def unsent(self, caller: Caller, path: Path) -> str:
        """What to say if a file cannot be sent: what is in it, or where an owner finds it."""
        if caller.is_owner:
            kept = path.with_name(path.name.replace("mine-", "owner-", 1))
            await asyncio.to_thread(path.replace, kept)
            return self._say("export_where", path=kept)
        text = await asyncio.to_thread(_short, path)
        await asyncio.to_thread(path.unlink, True)
        return text or self._say("export_unsent")


def _short(path: Path) -> str:
    """What a file says, if that is short enough for a message; else nothing."""
    with path.open(encoding="utf-8") as file:
        text = file.read(MAX_TEXT + 1)
    return text if len(text) <= MAX_TEXT else ""
