"""Commands ``/persona`` and ``/new``.

AstrBot no longer brings the first, and its own ``/new`` takes no persona. They work without
the memory.
"""

from __future__ import annotations

from typing import Any

from ..locales import say
from ..model import NO_PERSONA
from .adapter import Host

UNSET = "unset"


class PersonaCommands:
    """Listing and switching personas."""

    def __init__(self, host: Host, language: str) -> None:
        self._host = host
        self._language = language

    async def choose(self, event: Any, name: str) -> str:
        """Show the personas (no name), unset the current one or switch."""
        if not name:
            current = self._shown(await self._host.persona(event))
            listed = self._say("persona_list", personas=self._known(), current=current)
            return f"{listed}\n{self._say('persona_usage')}"
        if name == UNSET and name not in self._host.personas():
            overruling = await self._host.set_persona(event, NO_PERSONA)
            return self._done("persona_unset", name, overruling)
        if name not in self._host.personas():
            return self._say("persona_unknown", name=name, personas=self._known())
        return self._done("persona_set", name, await self._host.set_persona(event, name))

    async def begin(self, event: Any, name: str) -> str:
        """Start a conversation with a persona."""
        if name not in self._host.personas():
            return self._say("persona_unknown", name=name, personas=self._known())
        return self._done("persona_new", name, await self._host.new_conversation(event, name))

    def _done(self, key: str, name: str, overruling: str | None) -> str:
        text = self._say(key, name=name)
        if overruling is None:
            return text
        return f"{text}\n{self._say('persona_forced', current=self._shown(overruling))}"

    def _known(self) -> str:
        return ", ".join(self._host.personas())

    def _shown(self, persona: str) -> str:
        return self._say("persona_none") if persona == NO_PERSONA else persona

    def _say(self, key: str, **values: object) -> str:
        return say(self._language, key, **values)
