"""Rows for tests, with sensible defaults."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, timedelta, timezone
from pathlib import Path
from typing import Any, TypeVar

import pytest

from graph_memory.context import Context
from graph_memory.errors import JournalError, NotFoundError
from graph_memory.identity import Identities
from graph_memory.inference.token_budget import TokenBudget
from graph_memory.library import Library
from graph_memory.maintenance import Upkeep
from graph_memory.model import (
    Change,
    Fact,
    Mention,
    Message,
    Name,
    Row,
    Session,
    Turn,
    session_of,
    stable_id,
    user_id,
)
from graph_memory.privacy.scope import Attendance
from graph_memory.retention import initial_half_life
from graph_memory.settings import Settings
from graph_memory.store import Draft, Journal, Rows, queries, rows
from graph_memory.text import normalise

T = TypeVar("T")
QQ = "aiocqhttp"
CHINA = timezone(timedelta(hours=8))
T0 = 1_790_000_000.0
"""A moment in September 2026; tests count from it."""


def private(account: str, persona: str = "mei", bot: str = "") -> Session:
    """The private chat of an account, with one of our accounts if with it alone."""
    return session_of(QQ, "", account, persona, bot, umo=f"qq:FriendMessage:{account}")


def group(number: str, persona: str = "mei") -> Session:
    return session_of(QQ, number, "", persona, title=f"群{number}", umo=f"qq:GroupMessage:{number}")


def user(account: str) -> str:
    return user_id(QQ, account)


ZHANG, LI = user("zhang"), user("li")
HOME, OTHER, CLUB, HERS = private("zhang"), private("zhang", "lan"), group("100"), private("li")
zhang, zhang_to_lan = Turn(HOME, ZHANG, "张三"), Turn(OTHER, ZHANG, "张三")
zhang_in_club, li_in_club = Turn(CLUB, ZHANG, "张三"), Turn(CLUB, LI, "李四")
li = Turn(HERS, LI, "李四")
admin = Turn(private("boss"), user("boss"), "老板", is_admin=True)


def entity(name: str, domain: str = "") -> str:
    return stable_id("e", domain, normalise(name))


def message(session: Session, sender: str, text: str, at: float = T0, **more: Any) -> Message:
    """A message that is not stored yet."""
    return Message(
        0, session.id, sender, more.pop("name", sender.rpartition(":")[2]), text, at, **more
    )


def name(session: Session, node: str, text: str, at: float = T0) -> Name:
    """What a node is called."""
    id = stable_id("n", session.id, node, normalise(text))
    return Name(id, session.id, node, text, normalise(text), at, at)


def mention(session: Session, node: str, type: str = "topic", at: float = T0) -> Mention:
    """That an entity came up."""
    return Mention(stable_id("m", session.id, node), session.id, node, type, at, at)


def fact(session: Session, subject: str, object: str, statement: str, **more: Any) -> Fact:
    """A fact said at ``at``."""
    at = more.pop("at", T0)
    importance = more.get("importance", 0.5)
    made = Fact(
        id=stable_id("f", session.id, subject, object, statement), session=session.id,
        subject=subject, predicate=more.pop("predicate", "likes"), object=object,
        statement=statement, speaker=more.pop("speaker", subject), said_at=at, recorded_at=at,
        last_used=at, half_life=initial_half_life(importance),
    )  # fmt: skip
    return replace(made, **more)


def context(journal: Journal, settings: Settings | None = None, **more: Any) -> Context:
    """What the parts of a memory share, on ``journal``.

    Args:
        more: ``zone``, ``now``, ``budget``, ``attendance``, ``identities``.
    """
    settings = settings or Settings()
    zone, now = more.get("zone", UTC), more.get("now", time.time)
    return Context(
        journal=journal, settings=settings, zone=zone, now=now,
        budget=more.get("budget") or TokenBudget(journal, zone, now, settings.daily_llm_tokens),
        attendance=more.get("attendance") or Attendance([]),
        identities=more.get("identities") or Identities(),
    )  # fmt: skip


class PromptUpkeep(Upkeep):
    """Upkeep that does not wait until nobody chats."""

    async def _quiet(self) -> None:
        await asyncio.sleep(0)


def claim_all(_rows: Rows, _session: Session, waiting: list[Message]) -> tuple[int, Draft]:
    """Plan of a claim that takes all and writes nothing."""
    return len(waiting), Draft("chat", "episode")


async def put(journal: Journal, *rows: Row, drop: Iterable[Row] = ()) -> Change | None:
    """Write and delete rows, as learned, by one change."""
    gone = [(row.kind, row.id) for row in drop]
    return await journal.commit(lambda _: Draft("learn", "learned", list(rows), gone))


async def scan(journal: Journal, cls: type[Row]) -> list[Any]:
    """All rows of a kind."""
    return await journal.read(lambda rows: list(rows.scan(cls)))


async def last_change(journal: Journal) -> int:
    """Number of the newest change; 0 if there is none."""
    return await journal.read(Rows.last_change)


async def all_changes(journal: Journal, after: int = 0) -> list[Change]:
    """Changes later than number ``after``, oldest first."""
    numbers = range(after + 1, await last_change(journal) + 1)
    return [change for number in numbers if (change := await journal.change(number))]


async def undo(journal: Journal, number: int, actor: str) -> Change | None:
    return await journal.alter(
        lambda db, tell: rows.write(db, rows.inverse(db, number, actor), journal._now(), tell)
    )


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def holding(directory: Path, text: str, pattern: str = "**/*") -> list[str]:
    """The files of a directory in which a text is, in any encoding."""
    marks = [text.encode(), text.encode("utf-16-le"), ascii(text)[1:-1].encode()]
    return sorted(
        str(path.relative_to(directory))
        for path in directory.glob(pattern)
        if path.is_file() and any(mark in path.read_bytes() for mark in marks)
    )


@contextmanager
def broken_off(journal: Journal, steps: int) -> Iterator[None]:
    """Let only a number of transactions be done, each as short as can be."""
    transact, left = journal._transact, steps

    async def failing(work: Callable[[sqlite3.Connection], T], patience: float | None = None) -> T:
        nonlocal left
        left -= 1
        if left < 0:
            raise JournalError("broken off")
        return await transact(work, patience)

    with pytest.MonkeyPatch.context() as patch, suppress(JournalError):
        patch.setattr("graph_memory.store.journal.SLICE", 0.0)
        patch.setattr(journal, "_transact", failing)
        yield


async def undo_last(library: Library, actor: str) -> Change:
    """Undo the newest change of somebody, or a ``NotFoundError``."""
    found = await library._journal.look(lambda db: next(queries.undoable(db, actor), None))
    if found is None:
        raise NotFoundError("there is nothing to undo")
    return await library.undo(found, actor)
