"""The campaign of long work: what grows with the memory is done while people chat.

Every tenth of a second somebody says something and somebody asks. No message may be refused
or lost, and no question may go without memories for longer than a second.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from graph_memory.errors import GraphMemoryError
from graph_memory.model import Session, Turn, User, stable_id
from graph_memory.service import MemoryService
from graph_memory.store import Draft
from graph_memory.transfer import Options, rename_chat

from ...makers import QQ, fact, group, private, user
from ...world import opened
from .ledger import Tally

PACE = 0.1
"""Seconds between two messages, and between two questions."""
LONGEST = 1.0
"""Seconds for which recall may find nothing."""
LOGGED = 100
"""Rows in one change of a full log."""
GONE = "芝麻开门"
"""What each line says that goes."""
TALKER, ASKER = user("10001"), user("20001")
HOME, CLUB = private("20001"), group("700")


@dataclass
class Toll(Tally):
    """What was seen while one long piece of work was done.

    Attributes:
        longest_wait: Seconds until a message was acknowledged.
        longest_silence: Seconds for which no question got a memory.
        longest_stall: Seconds for which the event loop did nothing.
    """

    work: str
    lines: int
    seconds: float = 0.0
    said: int = 0
    refused: int = 0
    lost: int = 0
    asked: int = 0
    longest_wait: float = 0.0
    longest_silence: float = 0.0
    longest_stall: float = 0.0

    def judge(self) -> Toll:
        """Itself, with what must not be among its problems."""
        self.problems += [f"{self.work}: {self.refused} refused"] if self.refused else []
        self.problems += [f"{self.work}: {self.lost} lost"] if self.lost else []
        if self.longest_silence > LONGEST:
            self.problems.append(f"{self.work}: {self.longest_silence:.1f} s without memories")
        return self


class _Chat:
    """People who go on chatting while something long is done."""

    def __init__(self, memory: MemoryService, toll: Toll) -> None:
        self._memory = memory
        self._toll = toll
        self._heard: list[str] = []
        self._answered = 0.0

    async def during(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do the work while people chat, and a little longer."""
        ended = asyncio.Event()
        assert await self._finds(), "there is something to recall"
        self._answered = started = time.monotonic()
        chatting = asyncio.gather(self._talk(ended), self._ask(ended), self._watch(ended))
        try:
            await work()
        except GraphMemoryError as error:
            self._toll.problems.append(f"{self._toll.work}: {error}")
        self._toll.seconds = time.monotonic() - started
        await asyncio.sleep(2 * LONGEST)  # the index has to follow
        ended.set()
        await chatting

    async def _talk(self, ended: asyncio.Event) -> None:
        async def say(text: str) -> None:
            said = time.monotonic()
            try:
                await self._memory.learning.hear(Turn(HOME, ASKER, "小问", text, ref=f"{text}@1"))
            except GraphMemoryError:
                self._toll.refused += 1
            else:
                self._heard.append(text)
            self._toll.longest_wait = max(self._toll.longest_wait, time.monotonic() - said)

        async with asyncio.TaskGroup() as saying:
            while not ended.is_set():
                self._toll.said += 1
                saying.create_task(say(f"第{self._toll.said}句新消息"))
                await asyncio.sleep(PACE)

    async def _ask(self, ended: asyncio.Event) -> None:
        while not ended.is_set():
            self._toll.asked += 1
            found = await self._finds()
            now = time.monotonic()
            silence = now - self._answered
            self._toll.longest_silence = max(self._toll.longest_silence, silence - PACE)
            if found:
                self._answered = now
            await asyncio.sleep(PACE)

    async def _finds(self) -> bool:
        """Whether a question gets the memory that answers it."""
        asker = Turn(HOME, ASKER, "小问").asker
        return "豆包" in (await self._memory.recall.remind(asker, "我家的猫叫什么名字？")).block

    async def _watch(self, ended: asyncio.Event) -> None:
        while not ended.is_set():
            before = time.monotonic()
            await asyncio.sleep(0.01)
            stall = time.monotonic() - before - 0.01
            self._toll.longest_stall = max(self._toll.longest_stall, stall)

    def look(self, journal: Path) -> None:
        """Count what the closed journal lacks, and what it should not hold any more."""
        with closing(sqlite3.connect(journal)) as db:
            held = {text for (text,) in db.execute("SELECT text FROM message")}
        self._toll.lost = len(set(self._heard) - held)
        left = sum(GONE in text for text in held)
        self._toll.problems += [f"{self._toll.work}: {left} lines are still there"] if left else []


async def _bring(
    memory: MemoryService, lines: int, people: int = 50, first: int = 30_000, says: str = ""
) -> None:
    """Import so many lines of a group, by so many people."""
    path = memory.directory / "imports" / "chat.jsonl"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            who = str(first + number % people)
            line = {"time": 1.6e9 + 30 * number, "sender": who, "name": f"群友{who}"}
            line["text"] = f"今天第{number}件事：去公园跑步，对第{number % 97}个邻居说{says}"
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    options = Options(platform=QQ, into=CLUB.circle)
    await memory.transfer.bring(await memory.transfer.importer("chat.jsonl", options))


async def _log(memory: MemoryService, session: Session, rows: int) -> None:
    """Fill the log of changes with facts of a Session."""
    for start in range(0, rows, LOGGED):
        some = [
            fact(session, ASKER, stable_id("e", str(n)), f"小问记着第{n}件琐事，内容不长也不短")
            for n in range(start, min(rows, start + LOGGED))
        ]
        await memory.journal.commit(lambda _, some=some: Draft("learn", "learned", some))  # type: ignore[misc]


Work = Callable[[], Awaitable[object]]


async def undo(memory: MemoryService, lines: int) -> Work:
    """An import is taken back."""
    await _bring(memory, lines, says=GONE)
    return memory.transfer.undo


async def forget(memory: MemoryService, lines: int) -> Work:
    """Somebody who said very much is forgotten."""
    await _bring(memory, lines, 1, int(TALKER.rpartition(":")[2]), says=GONE)
    return lambda: memory.forget_me.forget(TALKER)


async def retract(memory: MemoryService, lines: int) -> Work:
    """A message is taken back, under a full log."""
    await memory.learning.hear(Turn(HOME, ASKER, "小问", f"我的口令是{GONE}", ref="retracted@1"))
    await memory.learning.flush()
    await _log(memory, HOME, lines)
    return lambda: memory.library.retract(HOME.circle, "retracted")


async def examine(memory: MemoryService, lines: int) -> Work:
    """The doctor looks through everything, mends it and builds the views anew."""
    await _bring(memory, lines)
    lose = "UPDATE message SET batch = 1 + (SELECT max(id) FROM batch) WHERE id % 100 = 0"
    await memory.journal.alter(lambda db, _tell: db.execute(lose))
    return memory.doctor


async def move(memory: MemoryService, lines: int) -> Work:
    """A group with many members has another number."""
    await _bring(memory, lines, people=max(1, lines // 4))
    return lambda: rename_chat(memory.journal, CLUB.circle, f"{CLUB.circle}1", time.time())


async def rebuild(memory: MemoryService, lines: int) -> Work:
    """The graph of many facts is built anew."""
    await _log(memory, CLUB, lines)
    return memory.graph.rebuild


WORKS = {
    "undo": (undo, 100_000), "forget": (forget, 50_000), "retract": (retract, 50_000),
    "doctor": (examine, 100_000), "move": (move, 20_000), "rebuild": (rebuild, 100_000),
}  # fmt: skip
"""Each work, and how many lines or rows it is measured with."""


async def _surge(name: str, lines: int, directory: Path) -> Toll:
    toll = Toll(name, lines)
    async with opened(directory) as memory:
        await memory.journal.commit(lambda _: Draft("t", "t", [HOME, CLUB, User(ASKER)]))
        work = await WORKS[name][0](memory, lines)
        await memory.learning.hear(Turn(HOME, ASKER, "小问", "我家的猫叫豆包", ref="cat@1"))
        await memory.recall.settle()
        chat = _Chat(memory, toll)
        await chat.during(work)
    await asyncio.to_thread(chat.look, directory / "journal.sqlite3")
    return toll.judge()


def run(name: str, lines: int = 0) -> Toll:
    """Do one work in a memory of its own."""
    with tempfile.TemporaryDirectory(prefix="gm-surge-") as directory:
        return asyncio.run(_surge(name, lines or WORKS[name][1], Path(directory)))
