"""How fast the web UI is with many facts, and whether the chat notices that somebody browses.

At the server: the table's first and a later page, a search, and one hop around the most
connected nodes, without a socket. In the browser: until the graph of the most connected
one is drawn. The chat: a question's time, without its embedding, alone and while another
process turns pages.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import shutil
import tempfile
import time
from datetime import UTC
from itertools import batched, count
from pathlib import Path
from typing import Any

import httpx

from graph_memory.access import Access
from graph_memory.model import Entity, Fact, Name, Row, Session, User, asker_of, is_entity
from graph_memory.model import stable_id as id_of
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import Draft
from graph_memory.text import normalise
from tests.instruments.eval.metrics import percentile
from webui import WebServer, create_app

from .measure import WARM_UP, Figures, say
from .workload import BEGINNING, Workload

KEY = "correct-horse-battery"
PAGES = {
    "table": "/memories",
    "table_by_strength": "/memories?sort=strength",
    "table_search": "/memories?q=花生",
    "one_hop_page": "/graph?node={node}",
    "one_hop_api": "/api/v1/graph?node={node}&limit=60",
    "overview": "/",
}
ROUNDS = 40
PAUSE = 0.25
"""Seconds between two pages of somebody who browses."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def measure_web(facts: int, questions: int) -> Figures:
    """All figures of one size, in milliseconds."""
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(_measure(Path(directory), facts, questions))


async def _measure(directory: Path, facts: int, questions: int) -> Figures:
    settings = Settings(local_embedding_model="none", audience="off", recall_deadline=10_000)
    work = Workload(2 * facts)
    memory = await MemoryService.open(directory, settings, zone=UTC, now=lambda: BEGINNING + 1e7)
    app = create_app(memory, Access.open(memory.directory, KEY), Settings())
    server = WebServer(app)
    found: Figures = {"facts": facts, "load": round(os.getloadavg()[0], 1)}
    try:
        say(f"  filling {facts} facts")
        await _fill(memory, work)
        nodes = [node.id for node in await memory.graph.ask(lambda graph: graph.nodes("", 5))]
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            await client.post("/login", data={"key": KEY})
            found["server_ms"] = {
                name: await _page(client, address, nodes) for name, address in PAGES.items()
            }
        await server.start(0)
        base = f"http://127.0.0.1:{server.port}"
        found["graph_drawn_ms"] = await _drawn(base, nodes[0])
        found["recall_ms"] = await _recall(memory, work, questions, base, nodes[0])
    finally:
        await server.stop()
        await memory.close()
    return found


async def _fill(memory: MemoryService, work: Workload) -> None:
    stored = [(await memory.journal.append(m, s)).message for s, m in work.messages()]
    facts = list(work.facts(stored))
    home = {session.id: session for session in work.sessions}
    for some in batched([*_named(facts, home), *facts], 500):
        await memory.journal.commit(lambda _, some=some: Draft("bench", "learned", [*some]))
    await memory.settle()


def _named(facts: list[Fact], home: dict[str, Session]) -> list[Row]:
    """Everybody and everything in the facts, with a name."""
    rows: dict[str, list[Row]] = {}
    for fact in facts:
        for node in (fact.subject, fact.object):
            if node not in rows:
                called = f"名字{len(rows)}"
                key = id_of("n", fact.session, node, called)
                name = Name(
                    key,
                    home[fact.session].id,
                    node,
                    called,
                    normalise(called),
                    BEGINNING,
                    BEGINNING,
                )
                rows[node] = [Entity(node) if is_entity(node) else User(node), name]
    return [row for some in rows.values() for row in some]


async def _page(client: httpx.AsyncClient, address: str, nodes: list[str]) -> Figures:
    taken = []
    for number in range(ROUNDS + WARM_UP):
        url = address.format(node=nodes[number % len(nodes)])
        started = time.perf_counter()
        answer = await client.get(url)
        taken.append((time.perf_counter() - started) * 1000)
        assert answer.status_code == 200, (url, answer.status_code)
    return _spread(taken)


async def _drawn(base: str, node: str) -> float | None:
    """Milliseconds from asking for the page until the graph is drawn; ``None`` without Chromium."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        browser = None
    if browser is None:
        return None
    async with async_playwright() as driver:
        chromium = await driver.chromium.launch(
            executable_path=browser, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        context = await chromium.new_context(viewport={"width": 1280, "height": 800})
        page = await context.new_page()
        await page.goto(base + "/login")
        await page.fill("#key", KEY)
        await page.press("#key", "Enter")
        await page.wait_for_url(base + "/")
        started = time.perf_counter()
        await page.goto(f"{base}/graph?node={node}")
        await page.wait_for_selector("#graph[data-ready]")
        taken = (time.perf_counter() - started) * 1000
        await chromium.close()
    return round(taken, 1)


async def _recall(
    memory: MemoryService, work: Workload, questions: int, base: str, node: str
) -> Figures:
    """Half of the questions alone, half while somebody browses, in turns of ten."""
    asked = work.questions(2 * questions + WARM_UP)
    for session, text in asked[:WARM_UP]:
        await _remind(memory, session, text)
    taken: dict[str, list[float]] = {"alone": [], "while_browsing": []}
    context = multiprocessing.get_context("spawn")
    browsing = context.Event()
    reader = context.Process(target=_browse, args=(base, node, browsing), daemon=True)
    reader.start()
    try:
        for number, some in enumerate(batched(asked[WARM_UP:], 20)):
            name = "while_browsing" if number % 2 else "alone"
            browsing.set() if number % 2 else browsing.clear()
            await asyncio.sleep(3 * PAUSE)
            for session, text in some:
                taken[name].append(await _remind(memory, session, text))
                await asyncio.sleep(0.02)
    finally:
        reader.terminate()
        await asyncio.to_thread(reader.join)
    return {name: _spread(each, 0) for name, each in taken.items()}


def _browse(base: str, node: str, browsing: Any) -> None:
    """What another process does: turn pages, as long as it is told to."""
    with (
        httpx.Client(base_url=base) as client,
        contextlib.suppress(httpx.HTTPError),
    ):
        client.post("/login", data={"key": KEY})
        for number in count():
            browsing.wait()
            addresses = list(PAGES.values())
            client.get(addresses[number % len(addresses)].format(node=node))
            time.sleep(PAUSE)


async def _remind(memory: MemoryService, session: Session, text: str) -> float:
    started = time.perf_counter()
    await memory.recall.remind(asker_of(session, session.owner), text)
    return (time.perf_counter() - started) * 1000


def _spread(taken: list[float], warm_up: int = WARM_UP) -> Figures:
    shares = {"p50": 0.5, "p95": 0.95}
    return {name: round(percentile(taken[warm_up:], share), 1) for name, share in shares.items()}
