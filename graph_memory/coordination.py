"""Coordination of several bots that share one memory.

What each keeps besides rows follows the others: whom one erased the others erase from their own
files; pauses, accounts and spending are read anew; and what a server had lost is done again.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Collection

from .context import Context
from .deletion import Tombstones, retraction
from .deletion.forget_me import MARK, SALT, erasures, mark, users
from .model import Elsewhere
from .retention import DAY
from .store import Journal
from .store.journal import PATIENCE
from .store.postgres import Bot
from .store.replica import AGAIN
from .store.rows import note, noted, notes, unnote
from .supervisor import Supervisor

logger = logging.getLogger("graph_memory.service")

REPORT = 30.0
"""Seconds between two reports to the server."""
FAR = 120.0
"""Seconds without a report after which a bot is behind, and not just slow."""
SILENT = 30 * DAY
"""Seconds without a word to an account, after which it may be a person's."""
_NAMELESS = ("", "0", "None", "unknown")
_SHARED = "qq_official"
"""Where a bot is not told its own account, and takes that of whoever is mentioned for it."""
Refresh = Callable[[], Awaitable[object]]


class Instances:
    """The accounts by which bots of ours share one memory, as one journal knows them.

    What any of them says is the bot's word for all of them, never a person's.

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


class Coordination:
    """How one bot keeps up with the others on its memory.

    Attributes:
        bots: All of them, this one included; empty if the memory is not shared.

    Args:
        forget: Erases a user for good.
        purge: Erases from this bot's own files whom its tombstones name.
        refresh: Read anew, by table, what is kept besides the rows.
    """

    def __init__(
        self,
        context: Context,
        tombstones: Tombstones,
        forget: Callable[[str], Awaitable[object]],
        purge: Refresh,
        refresh: dict[str, Refresh],
    ) -> None:
        self._journal, self._now = context.journal, context.now
        self._tombstones, self._forget, self._purge = tombstones, forget, purge
        self._refresh = refresh
        self._tables: set[str] = {*refresh, "meta"}
        self._is_new = True
        self._reported = 0.0
        self.bots: list[Bot] = []
        self._job = Supervisor(
            "gm-coordination",
            self._step,
            logger,
            "what other bots did is not followed",
            retry=(5.0,),
        )

    def start(self) -> None:
        """Begin to keep up, if the memory is shared."""
        if self._journal.replica:
            self._journal.listen(self._on_written, Elsewhere)
            self._job.start()

    async def close(self) -> None:
        """Stop; the next start catches up."""
        await self._job.close()

    @property
    def others(self) -> list[Bot]:
        """The other bots."""
        own = self._journal.replica.instance if self._journal.replica else ""
        return [bot for bot in self.bots if bot.id != own]

    def _on_written(self, event: Elsewhere) -> None:
        self._tables |= event.tables
        self._job.wake()

    async def _step(self) -> float:
        while self._tables:
            table = self._tables.pop()
            try:
                if table == "meta":
                    await self._follow_erasures()
                elif refresh := self._refresh.get(table):
                    await refresh()
            except BaseException:
                self._tables.add(table)
                raise
        if not 0 <= self._now() - self._reported < REPORT:  # a clock may be set back
            self.bots = await self._journal.report()
            self._reported = self._now()
        return REPORT

    async def _follow_erasures(self) -> None:
        """Erase from this bot's files whom others erased from the memory."""
        salt = await self._journal.note(SALT)
        if salt is None:
            salt = await self._journal.alter(lambda db, _tell: _salted(db, self._tombstones.salt))
        await asyncio.to_thread(self._tombstones.adopt, salt)
        marks = await self._journal.look(erasures)
        if self._tombstones.take(marks):
            await self._purge()
        if again := await self._journal.look(lambda db: notes(db, AGAIN)):
            await self._do_again(set(again))
        if self._is_new:  # later, what is not finished is under way
            left = {s.id: s.at for s in self._tombstones.unfinished if s.id not in marks}
            await self._finish(left)
            self._is_new = False

    async def _finish(self, stones: dict[str, float]) -> None:
        """Do what this bot was asked before it was stopped."""

        def bar(db: sqlite3.Connection, _tell: object) -> list[str]:
            there = self._there(db, stones)
            for id in stones.keys() - there.keys():  # who may still be in another bot's outbox
                mark(db, id, max(stones[id], self._journal.clock()))
            return [*there.values()]

        if stones:
            await self._hash()
            for user in await self._journal.alter(bar):
                await self._forget(user)
        if await self._journal.look(retraction.unfinished):
            await self._journal.alter(lambda db, _tell: retraction.finish(db))

    async def _do_again(self, lost: set[str]) -> None:
        """Erase once more what a server had lost: it may have come back with what it has."""
        marks, gone = _after(retraction.MARK, lost), _after(MARK, lost)

        def retract(db: sqlite3.Connection, _tell: object) -> list[str]:
            retraction.retract_again(db, marks, self._now())
            return [*self._there(db, gone).values()] if gone else []

        if gone:
            await self._hash()
        for user in await self._journal.alter(retract):
            await self._forget(user)
        done = [f"{AGAIN}{key}" for key in lost]
        await self._journal.alter(lambda db, _tell: unnote(db, *done))

    def _there(self, db: sqlite3.Connection, ids: Collection[str]) -> dict[str, str]:
        """Those of some tombstones, by id, whose users a journal knows."""
        return {id: user for id, user in self._tombstones.match(users(db)).items() if id in ids}

    async def _hash(self) -> None:
        """Hash all users' ids, which takes milliseconds each, before others have to wait."""
        await self._journal.survey(lambda db: self._tombstones.match(users(db)))


def _after(prefix: str, keys: set[str]) -> set[str]:
    """What follows a prefix in the keys that have it."""
    return {key.removeprefix(prefix) for key in keys if key.startswith(prefix)}


def _salted(db: sqlite3.Connection, salt: str) -> str:
    """The salt of all bots: that of the first of them."""
    found = noted(db, SALT)
    if found is None:
        note(db, SALT, salt)
    return found or salt
