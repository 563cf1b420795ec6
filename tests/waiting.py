"""Waiting for what happens by itself; also where nothing else of the tests can be imported."""

import asyncio
from collections.abc import Callable


async def until(is_so: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait until something is so; a ``TimeoutError`` if it is not in time."""
    async with asyncio.timeout(seconds):
        while not is_so():
            await asyncio.sleep(0.005)
