"""Commands that need no open memory: restoring, switching personas.

Backups need a directory and no memory: a damaged journal keeps the memory closed. AstrBot no
longer brings ``/persona``, and its own ``/new`` takes no persona.
"""

from __future__ import annotations

import asyncio
import time
from datetime import tzinfo
from pathlib import Path
from typing import Any

from ..dates import moment
from ..errors import JournalError, NotFoundError
from ..locales import explain
from ..maintenance import Backups, Preview, preview, saved, stage
from ..model import NO_PERSONA
from .usage import CONFIRM as _YES
from .usage import LISTED, Speaker, misused

UNSET = "unset"
"""What is said in place of a persona's name to have none."""
_AROUND = "<>《》【】[]“”\"' "
"""What people copy from the usage, or put around a name."""


class BackupCommands(Speaker):
    """Backups of the memory in ``directory`` as an owner sees them.

    Args:
        backups: The same while the memory is open.
    """

    def __init__(
        self, directory: Path, language: str, zone: tzinfo, backups: Backups | None = None
    ) -> None:
        super().__init__(language)
        self._directory, self._zone, self._open = directory, zone, backups

    async def answer(self, text: str) -> tuple[str, bool]:
        """List backups, preview the named one, or prepare it once confirmed.

        Returns what to say, and whether the memory is to be opened anew.
        """
        name, *more = text.split() or [""]
        name = name.strip(_AROUND)
        try:
            if not name:
                return await asyncio.to_thread(self._list), False
            if len(more) > 1 or not {word.casefold() for word in more} <= _YES:
                return misused(self._language, "restore", " ".join(more), _YES), False
            if not more:
                return self._preview(await self._seen(name)), False
            if self._open:
                await self._open.restore(name)
            else:
                await asyncio.to_thread(stage, self._directory, name, time.time())
        except NotFoundError:
            return self._say("restore_unknown", name=name), False
        except JournalError as error:
            return self._say("restore_failed", reason=explain(self._language, error)), False
        return self._say("restore_done", name=name), True

    async def _seen(self, name: str) -> Preview:
        if self._open:
            return await self._open.preview(name)
        return await asyncio.to_thread(preview, self._directory, name)

    def _list(self) -> str:
        backups = sorted(saved(self._directory), key=lambda backup: -backup.at)[:LISTED]
        if not backups:
            return self._say("restore_none")
        lines = [
            self._say("restore_line", name=each.name, size=round(each.size / 2**20, 1))
            for each in backups
        ]
        return "\n".join([self._say("restore_title"), *lines, self._say("restore_how")])

    def _preview(self, seen: Preview) -> str:
        then = self._say(
            "restore_preview",
            when=moment(seen.backup.at, self._zone),
            messages=seen.then.messages,
            facts=seen.then.facts,
        )
        if seen.now:
            difference = {key: f"{count:+d}" for key, count in seen.difference.items()}
            effects = [self._say("restore_change", **difference)]
            effects += [self._say(f"data.restore_{effect}") for effect in ("kept", "now")]
        else:
            effects = [self._say("restore_unreadable")]
        effects.append(self._say("data.restore_forgotten"))
        return "\n".join([then, *effects, self._say("restore_confirm", name=seen.backup.name)])


class PersonaCommands(Speaker):
    """Listing and switching the personas of a ``host`` (``astrbot/adapter.py``)."""

    def __init__(self, host: Any, language: str) -> None:
        super().__init__(language)
        self._host = host

    async def choose(self, event: Any, name: str) -> str:
        """Show the personas (no name), unset the current one or switch."""
        if not name:
            current = self._shown(await self._host.persona(event))
            listed = self._say("persona_list", personas=self._known(), current=current)
            return f"{listed}\n{self._say('persona_usage')}"
        name = self._meant(name)
        if name == UNSET and name not in self._host.personas():
            overruling = await self._host.set_persona(event, NO_PERSONA)
            return self._done("persona_unset", name, overruling)
        if name not in self._host.personas():
            return self._say("persona_unknown", name=name, personas=self._known())
        return self._done("persona_set", name, await self._host.set_persona(event, name))

    async def begin(self, event: Any, name: str) -> str:
        """Start a conversation with a persona."""
        name = self._meant(name)
        if name not in self._host.personas():
            return self._say("persona_unknown", name=name, personas=self._known())
        return self._done("persona_new", name, await self._host.new_conversation(event, name))

    def _done(self, key: str, name: str, overruling: str | None) -> str:
        text = self._say(key, name=name)
        if overruling is None:
            return text
        return f"{text}\n{self._say('persona_forced', current=self._shown(overruling))}"

    def _meant(self, name: str) -> str:
        """The persona that is meant by a name in brackets or quotes; else what was typed."""
        plain, known = name.strip(_AROUND), self._host.personas()
        return plain if name not in known and plain in (*known, UNSET) else name

    def _known(self) -> str:
        return ", ".join(self._host.personas())

    def _shown(self, persona: str) -> str:
        return self._say("persona_none") if persona == NO_PERSONA else persona
