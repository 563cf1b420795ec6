"""What all tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from hypothesis import HealthCheck, settings

from graph_memory.companion import register_rows
from graph_memory.store import Journal

from .makers import T0

# Timing belongs to the benchmark: on a busy machine a slow draw is not a defect.
settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("default")

register_rows()


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    """An empty journal whose clock stands at the beginning."""
    opened = await Journal.open(tmp_path / "journal.sqlite3", lambda: T0)
    yield opened
    await opened.close()
