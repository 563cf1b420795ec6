"""One AstrBot for all scenes that do no harm to it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from .world import World, living


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """The running world; scenes in it use people and groups of their own."""
    async with living(tmp_path_factory.mktemp("astrbot")) as world:
        await world.ready()
        yield world


@pytest_asyncio.fixture(loop_scope="session")
async def world(shared_world: World) -> World:
    """The running world with a fresh script."""
    shared_world.script()
    return shared_world
