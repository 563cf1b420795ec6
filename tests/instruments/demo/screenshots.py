"""``python -m tests.instruments.demo.screenshots [--all] [--folder DIR]``: pictures of the web UI.

The README's, in ``docs/images/``; with ``--all`` every main page in both languages, light
and dark, wide and narrow. They show the made-up memory of the web UI's tests.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from zoneinfo import ZoneInfo

from graph_memory import embedding
from graph_memory.access import Access
from graph_memory.model import asker_of
from graph_memory.recall import RecallOptions
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from tests.instruments.dev.steps import ROOT
from tests.webui.seed import NOW, fact_id, seed
from tests.webui.story import LI, ZHANG, talks
from webui import WebServer, create_app

if TYPE_CHECKING:
    from playwright.async_api import Browser

KEY = "correct-horse-battery"
IMAGES = ROOT / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
LIFE, GROUP = list(talks())[1:3]
FACT = fact_id(LIFE.session, "张三肠胃不好，现在不吃辣了")
README = {
    "memories": "/memories",
    "graph": f"/graph?node={ZHANG}",
    "viewas": f"/viewas?user={LI}&group={quote(GROUP.session.circle)}&persona=tech_assistant",
    "why": "/why",
}
OTHERS = {
    "overview": "/",
    "memory": f"/memories/{FACT}",
    "edit": f"/memories/{FACT}/edit",
    "node": f"/node?id={ZHANG}",
    "records": "/records",
    "changes": "/changes",
    "data": "/data",
    "tuning": "/tuning",
    "path": f"/graph/ask/path?a={LI}&b={ZHANG}",
    "nothing": "/memories?q=火星",
}
DRESSES = [("zh", "light", 1280), ("zh", "dark", 360), ("en", "light", 1280)]
HEIGHT = 800
QUESTIONS = (
    (LIFE, ZHANG, "我现在还能吃辣吗？"),
    (GROUP, LI, "十一月谁想去黄山？"),
    (LIFE, ZHANG, "我最近睡得怎么样？"),
)


async def take(folder: Path, *, everything: bool) -> list[Path]:
    """Take the pictures and say where they are.

    Raises:
        RuntimeError: There is no Chromium.
    """
    from playwright.async_api import async_playwright

    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise RuntimeError("Chromium is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        memory = await MemoryService.open(
            Path(directory),
            Settings(recall_deadline=10_000),
            zone=ZoneInfo("Asia/Shanghai"),
            now=lambda: NOW,
        )
        await seed(memory.journal, with_hostile=False)
        memory.use_embedder(lambda: embedding.load(embedding.BUNDLED))
        await memory.settle()
        await memory.backups.make()
        # Whatever is slow the first time is not what the pictures are of.
        await memory.recall.rehearse(asker_of(GROUP.session, LI), "你好")
        for talk, user, text in QUESTIONS:
            await memory.recall.remind(
                asker_of(talk.session, user), text, RecallOptions(where=talk.session.umo)
            )
        access = Access.open(memory.directory, KEY)
        server = WebServer(create_app(memory, access, Settings()))
        await server.start(0)
        base = f"http://127.0.0.1:{server.port}"
        try:
            async with async_playwright() as driver:
                browser = await driver.chromium.launch(executable_path=found, args=FLAGS)
                pages = README | OTHERS if everything else README
                taken = []
                for dress in DRESSES if everything else DRESSES[:1]:
                    taken += await _dressed(browser, base, folder, pages, dress, everything)
                await browser.close()
        finally:
            await server.stop()
            await memory.close()
    return taken


async def _dressed(
    browser: Browser,
    base: str,
    folder: Path,
    pages: dict[str, str],
    dress: tuple[str, str, int],
    is_whole: bool,
) -> list[Path]:
    """Pictures in one language, theme and width; of the whole page or of what is seen first."""
    language, scheme, width = dress
    context = await browser.new_context(
        viewport={"width": width, "height": HEIGHT},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    await context.add_cookies([{"name": "gm_language", "value": language, "url": base}])
    page = await context.new_page()
    await page.goto(base + "/login")
    await page.fill("#key", KEY)
    await page.press("#key", "Enter")
    await page.wait_for_url(base + "/")
    taken = []
    for name, address in pages.items():
        await page.goto(base + address)
        if address.startswith("/graph?"):
            await page.wait_for_selector("#graph[data-ready]")
        suffix = f"-{language}-{scheme}-{width}" if is_whole else ""
        path = folder / f"{name}{suffix}.png"
        await page.screenshot(path=path, full_page=is_whole)
        taken.append(path)
    await context.close()
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev screenshots", description=__doc__)
    parser.add_argument("--all", action="store_true", help="every main page, in every dress")
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where to put them")
    chosen = parser.parse_args()
    for path in asyncio.run(take(chosen.folder, everything=chosen.all)):
        print(f"{path}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
