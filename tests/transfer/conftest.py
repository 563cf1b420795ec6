"""Memories to move into or out of."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph_memory.store import Journal

from .support import opened


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    async with opened(tmp_path / "a") as journal:
        yield journal


@pytest.fixture
async def one(journal: Journal) -> Journal:
    """Where it comes from."""
    return journal


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Journal]:
    """Where it goes."""
    async with opened(tmp_path / "b") as other:
        yield other
