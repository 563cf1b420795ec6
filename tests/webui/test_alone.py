"""The page in a process of its own, as one would start it."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import httpx
import pytest

from graph_memory.settings import Settings
from tests.world import living, zhang

pytestmark = pytest.mark.server
KEY = "correct-horse-battery"


async def started(folder: Path, **more: str) -> tuple[asyncio.subprocess.Process, str]:
    """The process, and the first line it prints."""
    command = (sys.executable, "-m", "webui", str(folder), "--port", "0")
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **more}, stdout=asyncio.subprocess.PIPE
    )
    return process, (await asyncio.wait_for(process.stdout.readline(), 60)).decode()


async def test_a_page_by_itself_shows_what_bots_share_and_learns_nothing(tmp_path, dsn):
    bot, page = tmp_path / "bot", tmp_path / "page"
    bot.mkdir()
    async with living(bot, Settings(shared_journal=dsn)) as world:
        await world.say(zhang, "我最爱吃的是椒麻鸡")
        process, line = await started(page, GRAPH_MEMORY_JOURNAL=dsn, GRAPH_MEMORY_KEY=KEY)
        try:
            address = line.split(",")[0].strip()
            assert KEY not in line
            async with httpx.AsyncClient(base_url=address, follow_redirects=True) as browser:
                assert "椒麻鸡" not in (await browser.get("/messages/1")).text
                await browser.post("/login", data={"key": KEY}, headers={"Origin": address})
                assert "椒麻鸡" in (await browser.get("/messages/1")).text
                await world.say(zhang, "我还爱吃凉皮")
                for _ in range(100):
                    if "凉皮" in (text := (await browser.get("/messages/2")).text):
                        break
                    await asyncio.sleep(0.1)
                assert "凉皮" in text
            await asyncio.sleep(1)
        finally:
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 30) == 0
        await world.memory.learning.flush()
        await world.memory.settle()
        assert not await world.memory.journal.queue()
        query = "SELECT count(*) FROM batch WHERE state = 'learned'"
        learned = await world.memory.journal.look(lambda db: db.execute(query).fetchone())
        assert len(world.model.calls) == learned[0] > 0


@pytest.mark.parametrize(("journal", "key"), [("", KEY), ("postgresql://127.0.0.1:1/x", "short")])
async def test_what_is_missing_or_wrong_is_said_before_anything_is_done(tmp_path, journal, key):
    folder = tmp_path / "page"
    process, _ = await started(folder, GRAPH_MEMORY_JOURNAL=journal, GRAPH_MEMORY_KEY=key)
    assert await process.wait() == 2
    assert not folder.exists()
