"""How long every page takes with a large memory: the server alone, without a browser.

``cpu`` is the processor's part of it, which leaves out what a busy machine adds.
"""

import asyncio
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC
from itertools import batched
from pathlib import Path
from urllib.parse import quote

import httpx

from graph_memory.access import Access
from graph_memory.model import (
    PREDICATES,
    Entity,
    Episode,
    Fact,
    Mention,
    Name,
    Participation,
    Row,
    User,
    episode_id,
    stable_id,
)
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import Draft
from graph_memory.store.rows import FIELDS
from graph_memory.text import normalise
from tests.instruments.eval.metrics import percentile
from webui.app import create_app

from .measure import Figures, say
from .workload import BEGINNING, Workload, owner

PEOPLE, FACTS, MESSAGES = 300, 10_000, 100_000
TOPICS = 4_000
RUN = 40
"""Messages of an episode."""
SURNAMES, GIVEN = "赵钱孙李周吴郑王冯陈", "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平"
ADDRESS = "http://memory.test"


def measure_pages(times: int) -> Figures:
    """Milliseconds of each page, and of the processor."""
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(_measure(Path(directory), times))


async def _measure(directory: Path, times: int) -> Figures:
    settings = Settings(
        local_embedding_model="none", recall_deadline=10_000, webui_public_url=ADDRESS
    )
    memory = await MemoryService.open(
        directory, settings, zone=UTC, now=lambda: BEGINNING + 800 * 86_400
    )
    try:
        say(f"  filling {MESSAGES} messages, {FACTS} facts, {PEOPLE} people")
        work = Workload(0, PEOPLE, 2)
        await _fill(memory, work)
        await memory.settle()
        app = create_app(memory, Access.open(directory, "k" * 20), settings)
        transport = httpx.ASGITransport(app=app, client=("203.0.113.5", 4711))
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as browser:
            await browser.post("/login", data={"key": "k" * 20}, headers={"Origin": ADDRESS})
            found = {}
            for path in _paths(work):
                found[path] = await _time(browser, path, times)
                say(f"  {found[path]}  {path}")
    finally:
        await memory.close()
    worst = max(each["p95"] for each in found.values())
    return {"load": round(os.getloadavg()[0], 1), "worst_p95": worst, "pages": found}


def _paths(work: Workload) -> list[str]:
    person, session = owner(0), work.sessions[0]
    thing, fact, chat = _topic(0), stable_id("f", "0"), session.circle
    seen = f"/viewas?user={person}&persona={session.persona}"
    return [
        "/", "/memories", f"/memories?q={quote('北京')}", "/memories?state=weak", "/review",
        f"/memories/{fact}", f"/memories/{fact}/edit", "/memories/new", "/people",
        f"/people?q={quote('王')}", "/people?q=wang", f"/node?id={person}", f"/node?id={thing}",
        f"/node/merge?id={thing}", f"/node/forget?id={person}", f"/persona?name={session.persona}",
        "/graph", f"/graph?node={person}", "/graph/ask/connected", "/graph/ask/bridges",
        f"/graph/ask/shared?a={person}&b={owner(1)}", f"/api/v1/graph?node={person}",
        "/api/v1/graph/map", "/viewas", seen, f"{seen}&q={quote('喜欢什么')}", "/why",
        "/records", f"/records?chat={quote(chat)}", "/messages/50000", "/changes", "/tuning",
        "/data", "/api/v1/work",
    ]  # fmt: skip


async def _time(browser: httpx.AsyncClient, path: str, times: int) -> Figures:
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(times + 1):  # the first one compiles or builds what later ones find
        started, worked = time.perf_counter(), time.process_time()
        answer = await browser.get(path)
        walls.append((time.perf_counter() - started) * 1000)
        cpus.append((time.process_time() - worked) * 1000)
        if answer.status_code != 200:
            say(f"  {path}: {answer.status_code}")
    return {
        "first": round(walls[0]),
        "p50": round(percentile(walls[1:], 0.5)),
        "p95": round(percentile(walls[1:], 0.95)),
        "cpu": round(percentile(cpus[1:], 0.5)),
        "kB": round(len(answer.content) / 1000),
    }


def _topic(number: int) -> str:
    return stable_id("e", f"topic{number}")


async def _fill(memory: MemoryService, work: Workload) -> None:
    spoken = await memory.journal.alter(lambda db, _: _speak(db, work))
    for some in batched(_rows(work, spoken), 2_000):
        await memory.journal.commit(lambda _, some=some: Draft("bench", "learned", [*some]))


def _speak(db: sqlite3.Connection, work: Workload) -> dict[str, list[tuple[int, float]]]:
    """Messages of all sessions, learned already; their numbers and times, by session."""
    chance = random.Random(3)
    lines = [work.sentence() for _ in range(2_000)]
    db.execute("INSERT INTO batch (id, session, state, created_at) VALUES (1, '', 'learned', 0)")
    number, at = 0, BEGINNING
    spoken: dict[str, list[tuple[int, float]]] = {}
    while number < MESSAGES:
        session = chance.choice(work.sessions)
        at += 25_000
        for _ in range(RUN):
            number, at = number + 1, at + 30
            row = (
                number, session.id, session.owner, "我", chance.choice(lines), at, "", 1, "[]", 0,
            )  # fmt: skip
            db.execute(f"INSERT INTO message ({FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            spoken.setdefault(session.id, []).append((number, at))
    return spoken


def _rows(work: Workload, spoken: dict[str, list[tuple[int, float]]]) -> Iterator[Row]:
    chance = random.Random(5)
    called = [chance.choice(SURNAMES) + "".join(chance.choices(GIVEN, k=2)) for _ in range(PEOPLE)]
    for person in range(PEOPLE):
        yield User(owner(person))
    for topic in range(TOPICS):
        yield Entity(_topic(topic))
    for session in work.sessions:
        person = int(session.owner.rpartition(":")[2])
        said = spoken.get(session.id, [])
        yield session
        if not said:
            continue
        name, times = called[person], [at for _, at in said]
        yield _name(session.id, session.owner, name, times)
        id = stable_id("p", session.id, session.owner)
        yield Participation(id, session.id, session.owner, times[0], times[-1], len(said))
        for first in range(0, len(said), RUN):
            some = said[first : first + RUN]
            yield Episode(
                episode_id(session.id, some[0][0]), session.id, some[0][1], some[-1][1],
                some[0][0], some[-1][0], len(some), work.sentence(), (session.owner,),
            )  # fmt: skip
    sessions = [session for session in work.sessions if session.id in spoken]
    for number in range(FACTS):
        session = sessions[0] if number % 12 == 0 else chance.choice(sessions)
        message, at = chance.choice(spoken[session.id])
        topic = 0 if number % 9 == 0 else chance.randrange(TOPICS)
        word = f"{work.sentence(1)}{topic}"
        yield _name(session.id, _topic(topic), word, [at])
        mention = Mention.key(session.id, _topic(topic))
        yield Mention(mention, session.id, _topic(topic), "thing", at, at)
        about = session.owner if number % 5 else _topic(chance.randrange(TOPICS))
        yield Fact(
            stable_id("f", str(number)), session.id, about, chance.choice(PREDICATES),
            _topic(topic), work.sentence(), session.owner if number % 3 else owner(1), at, at, at,
            chance.uniform(5, 2_000), chance.random(), evidence=(message,),
        )  # fmt: skip


def _name(session: str, node: str, text: str, times: list[float]) -> Row:
    norm = normalise(text)
    return Name(Name.key(session, node, norm), session, node, text, norm, times[0], times[-1])
