"""What all tests share."""

import asyncio
import gc
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from graph_memory.embedding import load
from graph_memory.inference import Embedder
from graph_memory.service import MemoryService
from graph_memory.store import Journal, schema

from .cases import FEW, MANY
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
for profile, count in (("many", MANY), ("few", FEW)):
    settings.register_profile(
        profile, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=count
    )
settings.load_profile("many")


def pytest_configure(config: pytest.Config) -> None:
    """A run that leaves out what is slow tries properties with few examples, the slow with many."""
    if "not slow" in config.getoption("markexpr"):
        settings.load_profile("few")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A module all of whose tests are left out is not even imported."""
    expression = config.getoption("markexpr")
    if not collection_path.match("test_*.py") or " or " in expression:
        return None
    own = re.search(r"^pytestmark = .*", collection_path.read_text("utf-8"), re.MULTILINE)
    marks = re.findall(r"mark\.(\w+)", own[0]) if own else []
    return not {*marks}.isdisjoint(re.findall(r"not (\w+)", expression)) or None


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


@pytest.fixture(scope="session", autouse=True)
def _made_once() -> Iterator[None]:
    """What one test has after the other: a new journal's tables, memory of the system's.

    The tables are a copy of those that all migrations made once.
    """
    original, lock = schema.MIGRATIONS, threading.Lock()
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as made:
        schema.migrate(made, Path("made"))

        def migrate(db: sqlite3.Connection, *given: Any) -> None:
            (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables or schema.MIGRATIONS is not original:
                schema.migrate(db, *given)
            else:
                with lock:
                    made.backup(db)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("graph_memory.store.journal.migrate", migrate)
            for keeping in ("service", "graph.database"):  # the next test needs as much again
                patch.setattr(f"graph_memory.{keeping}.trim_heap", lambda: None)
            yield


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
