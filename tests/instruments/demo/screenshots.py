"""``./dev screenshots``: the README's pictures of the web UI, in ``docs/images/``.

They show the made-up memory of the web UI's tests.
"""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from graph_memory import embedding
from graph_memory.access import Access
from graph_memory.model import asker_of
from graph_memory.settings import Settings
from tests.instruments.dev.steps import ROOT
from tests.webui.seed import NOW, seed
from tests.webui.story import LI, ZHANG, talks
from tests.world import opened
from webui import WebServer
from webui.app import create_app

KEY = "correct-horse-battery"
IMAGES = ROOT / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
LIFE, GROUP = list(talks())[1:3]
PAGES = {
    "graph": "/graph", "overview": "/", "person": f"/node?id={ZHANG}", "memories": "/memories",
    "viewas": f"/viewas?user={LI}&group={quote(GROUP.session.circle)}&persona=tech_assistant",
    "why": "/why",
}  # fmt: skip
SIZE = {"width": 1280, "height": 800}
QUESTIONS = (
    (LIFE, ZHANG, "我现在还能吃辣吗？"),
    (GROUP, LI, "十一月谁想去黄山？"),
    (LIFE, ZHANG, "我最近睡得怎么样？"),
)


async def take() -> list[Path]:
    """Take the pictures and say where they are."""
    from playwright.async_api import async_playwright

    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise RuntimeError("Chromium is not installed")
    settings, zone = Settings(recall_deadline=10_000), ZoneInfo("Asia/Shanghai")
    with tempfile.TemporaryDirectory() as directory:
        async with opened(Path(directory), settings, zone=zone, now=lambda: NOW) as memory:
            await seed(memory.journal, with_hostile=False)
            memory.use_embedder(lambda: embedding.load(embedding.BUNDLED))
            await memory.settle()
            await memory.backups.make()
            # Whatever is slow the first time is not what the pictures are of.
            await memory.recall.rehearse(asker_of(GROUP.session, LI), "你好")
            for talk, user, text in QUESTIONS:
                await memory.recall.remind(asker_of(talk.session, user), text)
            server = WebServer(create_app(memory, Access.open(memory.directory, KEY), Settings()))
            await server.start(0)
            base = f"http://127.0.0.1:{server.port}"
            try:
                async with async_playwright() as driver:
                    browser = await driver.chromium.launch(executable_path=found, args=FLAGS)
                    return await _taken(await browser.new_page(viewport=SIZE), base)
            finally:
                await server.stop()


async def _taken(page: Any, base: str) -> list[Path]:
    await page.emulate_media(color_scheme="light", reduced_motion="reduce")
    await page.context.add_cookies([{"name": "gm_language", "value": "zh", "url": base}])
    await page.goto(base + "/login")
    await page.fill("#key", KEY)
    await page.press("#key", "Enter")
    await page.wait_for_url(base + "/")
    taken = []
    for name, address in PAGES.items():
        await page.goto(base + address)
        if address == "/graph":
            await page.wait_for_selector("#graph[data-ready]")
        taken.append(IMAGES / f"{name}.png")
        await page.screenshot(path=taken[-1])
    return taken


if __name__ == "__main__":
    for path in asyncio.run(take()):
        print(f"{path}: {path.stat().st_size // 1024} kB")
