"""What all tests share."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from graph_memory.embedding import load
from graph_memory.inference import Embedder
from graph_memory.service import MemoryService
from graph_memory.store import Journal

from .lent import Lent
from .makers import T0, Clock
from .world import World, living, opened

pytest_plugins = ["tests.postgres"]
LONG = (
    *("test_hidden", "test_destruction", "test_recorded", "test_broken", "test_hostile"),
    *("test_everywhere", "test_packaging", "test_proactive", "test_trouble", "test_demo"),
    *("test_ablation", "test_interference", "test_chaos", "test_conditions"),
)
"""Modules that take a minute or more."""

gc.disable()  # until all is collected: nearly all that is made until then stays

# Timing belongs to the benchmark: on a busy machine a slow draw is not a defect.
settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("default")


def pytest_itemcollected(item: pytest.Item) -> None:
    """A module's tests stay together, but for those that ask to be shared out by themselves."""
    if not item.get_closest_marker("xdist_group"):
        item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that no worker waits for another one in the end."""
    items.sort(key=lambda item: item.path.stem not in LONG)


def pytest_collection_finish() -> None:
    """What is there now is never looked through for rubbish."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def bundled() -> Iterator[Embedder]:
    """The bundled model, which all tests of a worker share and no memory closes."""
    model = asyncio.run(load("bundled"))
    assert model
    yield Lent(model)
    asyncio.run(model.close())


@pytest.fixture
def clock() -> Clock:
    """The time of a test, which stands still until it is set."""
    return Clock(T0)


@pytest.fixture
async def journal(tmp_path: Path, clock: Clock) -> AsyncIterator[Journal]:
    """An empty journal."""
    opened = await Journal.open(tmp_path / "journal.sqlite3", clock)
    yield opened
    await opened.close()


@pytest.fixture
async def memory(tmp_path: Path, clock: Clock) -> AsyncIterator[MemoryService]:
    """An empty memory."""
    async with opened(tmp_path, now=clock) as memory:
        yield memory


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A memory with a companion, and people who talk to it."""
    async with living(tmp_path) as world:
        yield world
