"""A memory of its own that hostile people have been at, and everything a page can show of it."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from graph_memory.errors import GraphMemoryError
from graph_memory.library import OWNER
from graph_memory.model import asker_of
from graph_memory.service import MemoryService

from .conftest import opened
from .seed import fact_id
from .story import LI, MALLORY, XSS, ZHANG, talks

FEW = 3
"""Facts more than the story has."""
FILE = "<img src=x onerror=alert(7)>.jsonl"
"""A file that waits to be imported."""
TALKS = list(talks())


@asynccontextmanager
async def besieged(directory: Path) -> AsyncIterator[MemoryService]:
    """An open memory in which every kind of thing that has a page is there, hostile text in it."""
    async with opened(directory, FEW) as memory:
        await _live(memory)
        yield memory


async def _live(memory: MemoryService) -> None:
    """What leaves traces: questions, changes, backups, files that come and go."""
    hostile, group = TALKS[-1].session, TALKS[2].session
    for session, user, text in (
        (hostile, MALLORY, f"{XSS[0]} {XSS[4]}"),
        (hostile, MALLORY, "说说我喜欢什么"),
        (group, LI, f"{XSS[3]} 黄山"),
    ):
        await memory.recall.remind(asker_of(session, user), text)
    await memory.library.act("archive", [fact_id(hostile, XSS[5])], OWNER)
    await memory.library.act("restore", [fact_id(hostile, XSS[5])], OWNER)
    await memory.library.act("archive", [fact_id(hostile, XSS[6])], OWNER)
    found = await memory.graph.ask(lambda graph: graph.nodes("alert", 20))
    things = [node.id for node in found if node.id[:2] == "e:"]
    await memory.identity_edits.merge(things[0], things[1], OWNER)
    await memory.identity_edits.link(MALLORY, ZHANG, OWNER)
    memory.problems["webui"] = GraphMemoryError(XSS[3])
    await memory.backups.make()
    written = await memory.transfer.export()
    waiting = memory.directory / "imports"
    waiting.mkdir(exist_ok=True)
    shutil.copyfile(written.path, waiting / FILE)
    await memory.doctor()
    await memory.settle()
