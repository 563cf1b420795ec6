"""A journal for what is learned."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from graph_memory.store import Journal

from ..makers import T0


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    opened = await Journal.open(tmp_path / "journal.sqlite3", lambda: T0)
    yield opened
    await opened.close()
