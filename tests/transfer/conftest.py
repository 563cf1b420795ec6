"""A memory to move into or out of."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph_memory.store import Journal

from .support import opened


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    async with opened(tmp_path / "a") as journal:
        yield journal
