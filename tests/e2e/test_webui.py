"""The memory page, served from inside AstrBot."""

import json
import re
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest

from .world import PLUGIN, World

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_login_with_the_key_from_the_log(world: World) -> None:
    await world.say(501, "我喜欢陶艺", "小七")
    await world.learn()
    (key,) = set(re.findall(r"memory page: \S+  key: (\S+)", world.bot.log))
    base = f"http://127.0.0.1:{world.web_port}"
    jar = aiohttp.CookieJar(unsafe=True)  # the host is an address
    async with aiohttp.ClientSession(base, cookie_jar=jar) as web:
        async with web.get("/api/v1/work") as refused:
            assert refused.status == 401
        async with web.get("/", allow_redirects=True) as page:
            assert "陶艺" not in await page.text()
        async with web.post("/login", data={"key": key, "next": "/memories"}) as entered:
            assert entered.status == 200
            assert "喜欢陶艺" in await entered.text()


@pytest.mark.host
async def test_the_dashboard_shows_the_same_pages_to_who_is_logged_in(world: World) -> None:
    (plugin,) = await world.bot.api("GET", "/api/v1/plugins", params={"name": PLUGIN})
    found = await world.bot.api("GET", "/api/v1/plugins/pages", params={"plugin_id": PLUGIN})
    assert plugin["activated"]
    assert '"memory"' in json.dumps(found)
    entry = await world.bot.api("GET", f"/api/v1/plugins/{PLUGIN}/pages/memory")
    async with world.bot._request("GET", entry["content_path"]) as page:
        assert page.status == 200
        assert 'src="page.js' in re.sub(r"/api/[^\"]*/page\.js", "page.js", await page.text())
    async with world.bot._request("GET", f"/api/plug/{PLUGIN}/page") as answer:
        assert await answer.json() == {"off": False, "problem": ""}
    asked = {"path": "/memories", "language": "zh"}
    async with world.bot._request("POST", f"/api/plug/{PLUGIN}/web", json=asked) as answer:
        shown = await answer.json()
    assert shown["status"] == 200
    assert 'aria-current="page"' in shown["text"]
    await files_pass_both_ways(world)


async def files_pass_both_ways(world: World) -> None:
    """What the dashboard's bridge does for the page, by the same addresses."""
    base = f"/api/v1/plugins/extensions/{PLUGIN}"

    async def ask(path: str, **fields: str) -> dict[str, Any]:
        asked: dict[str, Any] = {"path": path, "language": "zh"}
        if fields:
            asked["form"] = urlencode(fields)
        async with world.bot._request("POST", f"{base}/web", json=asked) as answer:
            found: dict[str, Any] = await answer.json()
        return found

    (proof,) = re.findall(r'name="csrf-token" content="([^"]+)"', (await ask("/data"))["text"])
    assert (await ask("/data/export", csrf=proof))["status"] == 303
    name = re.findall(r'href="/data/exports/([^"]+)"', (await ask("/data"))["text"])[0]
    async with world.bot._request("GET", f"{base}/exports/{name}") as answer:
        told = await answer.read()
    assert told.count(b"\n") > 1
    form = aiohttp.FormData()
    form.add_field("file", told, filename="again.jsonl")
    async with world.bot._request("POST", f"{base}/imports/{proof}", data=form) as answer:
        sent = await answer.json()
    assert (sent["status"], json.loads(sent["text"])) == (200, {"name": "again.jsonl"})
    assert (await ask("/data/import/delete", csrf=proof, name="again.jsonl"))["status"] == 303


STRANGE = (
    ("GET", "page"), ("POST", "web"), ("GET", "web"), ("GET", "exports/x"), ("POST", "imports/x"),
)  # fmt: skip


@pytest.mark.host
async def test_the_dashboard_shows_nothing_to_strangers(world: World) -> None:
    async with aiohttp.ClientSession(f"http://127.0.0.1:{world.bot.dashboard_port}") as stranger:
        for prefix in ("/api/plug", "/api/v1/plugins/extensions"):
            for method, name in STRANGE:
                for headers in ({}, {"Authorization": "Bearer nonsense"}):
                    url = f"{prefix}/{PLUGIN}/{name}"
                    asked = stranger.request(method, url, json={"path": "/"}, headers=headers)
                    async with asked as refused:
                        assert refused.status in {401, 403}, (method, url)
                        assert "记忆" not in await refused.text()
