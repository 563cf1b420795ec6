"""Instances: the accounts by which bots of ours share one memory.

What any of them says is the bot's word for all of them, never a person's.
"""

from __future__ import annotations

from collections.abc import Callable

from ..retention import DAY
from .journal import PATIENCE, Journal

SILENT = 30 * DAY
"""Seconds without a word to an account, after which it may be a person's."""
_NAMELESS = ("", "0", "None", "unknown")
_SHARED = "qq_official"
"""Where a bot is not told its own account, and takes that of whoever is mentioned for it."""


class Instances:
    """The instances that one journal knows.

    Attributes:
        accounts: Accounts of ours by platform type.
        seen: When each, ``(platform type, account)``, was last noted; that is done once a day.
    """

    def __init__(self, journal: Journal, now: Callable[[], float]) -> None:
        self._journal, self._now = journal, now
        self.accounts: dict[str, set[str]] = {}
        self.seen: dict[tuple[str, str], float] = {}

    async def load(self) -> None:
        """Read which ones were heard of lately."""
        query, since = "SELECT * FROM instance WHERE seen_at > ?", self._now() - SILENT
        for platform, account, at in await self._journal.look(
            lambda db: db.execute(query, (since,)).fetchall()
        ):
            self.accounts.setdefault(platform, set()).add(account)
            self.seen[platform, account] = at

    async def register(self, platform: str, account: str) -> None:
        """Note that a bot has this account, which counts even if it is not stored."""
        at = self.seen[platform, account] = self._now()  # first: a failed write is not repeated
        if account not in _NAMELESS and not platform.startswith(_SHARED):
            self.accounts.setdefault(platform, set()).add(account)
            query = "INSERT OR REPLACE INTO instance VALUES (?, ?, ?)"
            values = (platform, account, at)
            await self._journal.alter(lambda db, _tell: db.execute(query, values), PATIENCE)
