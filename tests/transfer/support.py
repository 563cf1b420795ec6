"""Memories to move, and what is in them."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from graph_memory.errors import FormatError
from graph_memory.model import Message, Presence, Session
from graph_memory.store import Journal
from graph_memory.supervisor import Progress
from graph_memory.transfer import Importer, Options, Plan, Run
from graph_memory.transfer.export import write_export
from graph_memory.transfer.files import detect
from tests.makers import T0

PLATFORMS = {"qq": "aiocqhttp", "webchat": "webchat"}
_PRESENT = "INSERT OR IGNORE INTO presence VALUES (?, ?, ?, ?, '')"
OPTIONS = Options(zone=UTC, persona="mei", platform="aiocqhttp", platforms=PLATFORMS, now=T0)


@asynccontextmanager
async def opened(directory: Path) -> AsyncIterator[Journal]:
    """The journal of a data directory, without what learns and follows."""
    directory.mkdir(parents=True, exist_ok=True)
    journal = await Journal.open(directory / "journal.sqlite3", lambda: T0)
    try:
        yield journal
    finally:
        await journal.close()


async def hear(journal: Journal, session: Session, *messages: Message) -> list[Message]:
    return [await journal.append(each, session) for each in messages]


async def attend(journal: Journal, *presences: Presence) -> None:
    for presence in presences:
        values = presence.circle, presence.user, presence.since, presence.until
        await journal.alter(lambda db, _tell, v=values: db.execute(_PRESENT, v))  # type: ignore[misc]


async def exported(journal: Journal, person: str = "", facts: Collection[str] = ()) -> bytes:
    path = journal.path
    about = path.parent, path, person, T0, lambda: None, facts
    done = await asyncio.to_thread(write_export, *about)
    try:
        return done.path.read_bytes()
    finally:
        done.path.unlink()


def importer(
    journal: Journal, path: Path, options: Options = OPTIONS, format: str = "", **more: Any
) -> Importer:
    kind = detect(path, format)
    return Importer(journal.path.parent, journal, path, kind, options, lambda: T0, **more)


async def brought(
    journal: Journal, path: Path, options: Options = OPTIONS, format: str = "", **more: Any
) -> tuple[Plan, Run]:
    work = importer(journal, path, options, format, **more)
    return await work.preview(Progress()), (await work.run(Progress())).run


async def refused(journal: Journal, path: Path, *about: Any, **more: Any) -> FormatError:
    """Why a file does not come in; nothing has changed then."""
    before = await exported(journal)
    with pytest.raises(FormatError) as caught:
        await brought(journal, path, *about, **more)
    assert await exported(journal) == before
    return caught.value


def put(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


async def everything(journal: Journal) -> list[Message]:
    return await journal.newest_messages(10_000)
