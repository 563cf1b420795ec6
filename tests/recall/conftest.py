"""A memory with a recaller on a real journal."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from graph_memory.inference import Embedder
from graph_memory.model import Asker, Change, Message, Row, Session, asker_of
from graph_memory.privacy.scope import Attendance
from graph_memory.recall import Recall, Recaller, RecallOptions
from graph_memory.settings import Settings
from graph_memory.store import Draft, Journal
from tests import makers


class Memory:
    """A journal with a recaller that listens to it; the clock stands still."""

    def __init__(self, journal: Journal, now: float) -> None:
        self.journal = journal
        self.now = now
        self.recaller: Recaller | None = None
        self.embedder: Embedder | None = None

    async def open(self, **settings: object) -> Recaller:
        """Start (again) with these settings."""
        await self.close()
        attendance = Attendance(await self.journal.presences())
        context = makers.context(
            self.journal,
            Settings(**{"recall_deadline": 10_000} | settings),  # type: ignore[arg-type]
            zone=makers.CHINA,
            attendance=attendance,
            now=lambda: self.now,
        )
        self.recaller = Recaller(context)
        self.recaller.follow()
        await self.recaller.start()
        if self.embedder:
            self.recaller.use(self.embedder)
        return self.recaller

    async def close(self) -> None:
        if self.recaller:
            await self.recaller.close()

    async def say(
        self, session: Session, sender: str, text: str, at: float = makers.T0, **more: str
    ) -> Message:
        """Store a message."""
        said = makers.message(session, sender, text, at, **more)
        return await self.journal.append(said, session)

    async def know(self, *rows: Row, reason: str = "learned") -> Change | None:
        """Write rows."""
        return await self.journal.commit(lambda _: Draft("test", reason, list(rows)))

    async def ask(
        self, session: Session | Asker, text: str, user: str | None = None, **more: object
    ) -> Recall:
        """Remind, once everything is in the index."""
        asker = session if isinstance(session, Asker) else asker_of(session, user or session.owner)
        await asyncio.wait_for(self.recaller.settle(), 30)
        options = RecallOptions(**more)  # type: ignore[arg-type]
        return await self.recaller.remind(asker, text, options)


@pytest.fixture
async def memory(journal: Journal) -> AsyncIterator[Memory]:
    made = Memory(journal, makers.T0 + 86_400)
    await made.open()
    yield made
    await made.close()
