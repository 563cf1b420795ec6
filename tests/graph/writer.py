"""A process that writes until it is killed: ``python -m tests.graph.writer DIRECTORY``.

It says the number of each change that the graph has applied.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from graph_memory.model import Row, User
from tests.graph.support import CHAT, YOGA, ZHANG, opened, put, world
from tests.makers import fact, user


async def write(directory: Path) -> None:
    """Learn and forget facts for ever."""
    async with opened(directory, *world()) as (journal, store):
        before: list[Row] = []
        for number in range(1_000_000):
            person = user(f"9{number}")
            rows: list[Row] = [
                User(person),
                fact(CHAT, person, YOGA, f"第{number}个人喜欢瑜伽"),
                fact(CHAT, ZHANG, person, f"张三认识第{number}个人"),
            ]
            await put(journal, *rows, drop=before if number % 3 == 0 else ())
            before = rows
            await store.settle()
            print(store.applied, flush=True)


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1])))
