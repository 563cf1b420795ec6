"""Commands that list and restore backups, also while the memory is closed.

They need a directory and no memory: a damaged journal keeps the memory closed.
"""

from __future__ import annotations

import asyncio
import time
from datetime import tzinfo
from pathlib import Path

from ..dates import moment
from ..errors import JournalError, NotFoundError
from ..locales import explain, say
from ..maintenance import Preview, preview, saved, stage
from .usage import CONFIRM as _YES
from .usage import misused

LISTED = 10


class BackupCommands:
    """Backups of the memory in ``directory`` as an owner sees them."""

    def __init__(self, directory: Path, language: str, zone: tzinfo) -> None:
        self._directory = directory
        self._language = language
        self._zone = zone

    def _say(self, key: str, **values: object) -> str:
        return say(self._language, key, **values)

    async def answer(self, text: str) -> tuple[str, bool]:
        """List backups, preview the named one, or prepare it once confirmed.

        Returns what to say, and whether the memory is to be opened anew.
        """
        name, *more = text.split() or [""]
        try:
            if not name:
                return await asyncio.to_thread(self._list), False
            if len(more) > 1 or not {word.casefold() for word in more} <= _YES:
                return misused(self._language, "restore", " ".join(more), _YES), False
            if not more:
                return self._preview(await asyncio.to_thread(preview, self._directory, name)), False
            await asyncio.to_thread(stage, self._directory, name, time.time())
        except NotFoundError:
            return self._say("restore_unknown", name=name), False
        except JournalError as error:
            return self._say("restore_failed", reason=explain(self._language, error)), False
        return self._say("restore_done", name=name), True

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
        difference = {key: f"{count:+d}" for key, count in seen.difference.items()}
        change = self._say("restore_change" if seen.now else "restore_unreadable", **difference)
        return "\n".join([then, change, self._say("restore_confirm", name=seen.backup.name)])
