"""The memory page, served from inside AstrBot."""

from __future__ import annotations

import re

import aiohttp
import pytest

from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_login_with_the_key_from_the_log(world: World) -> None:
    await world.say(501, "我喜欢陶艺", "小七")
    await world.learn()
    (key,) = set(re.findall(r"memory page: \S+  key: (\S+)", world.bot.log))
    base = f"http://127.0.0.1:{world.web_port}"
    async with aiohttp.ClientSession(base) as web:
        async with web.get("/api/v1/facts") as refused:
            assert refused.status == 401
        async with web.get("/", allow_redirects=True) as page:
            assert "陶艺" not in await page.text()
        async with web.get("/api/v1/facts", headers={"Authorization": f"Bearer {key}"}) as ok:
            assert ok.status == 200
            assert "喜欢陶艺" in await ok.text()
