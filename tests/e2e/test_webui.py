"""The memory page, served from inside AstrBot."""

from __future__ import annotations

import json
import re

import aiohttp
import pytest

from .world import PLUGIN, World

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


async def test_the_dashboard_has_a_page_that_leads_there(world: World) -> None:
    (plugin,) = await world.bot.api("GET", "/api/v1/plugins", params={"name": PLUGIN})
    found = await world.bot.api("GET", "/api/v1/plugins/pages", params={"plugin_id": PLUGIN})
    assert plugin["activated"]
    assert '"memory"' in json.dumps(found)
    entry = await world.bot.api("GET", f"/api/v1/plugins/{PLUGIN}/pages/memory")
    async with world.bot._request("GET", entry["content_path"]) as page:
        assert page.status == 200
        assert 'id="address"' in await page.text()
    async with world.bot._request("GET", f"/api/plug/{PLUGIN}/page") as answer:
        state = await answer.json()
    assert state["address"] == f"http://127.0.0.1:{world.web_port}"
    async with (
        aiohttp.ClientSession(f"http://127.0.0.1:{world.bot.dashboard_port}") as stranger,
        stranger.get(f"/api/plug/{PLUGIN}/page") as refused,
    ):
        assert refused.status == 401
