"""Pages look whether there is something new, and are told of nothing else."""

import html
import json
import re

from tests.makers import message, private

from .browsing import press, send
from .conftest import application, client, entered

HOME = private("zhang")
NOW = "/api/v1/events/now"


async def test_who_is_not_logged_in_is_not_told_how_much_happens(memory):
    async with client(application(memory)) as stranger:
        assert "data-marks" not in (await stranger.get("/login")).text
        assert (await stranger.get(NOW)).status_code == 401


async def test_a_page_says_what_had_happened_before_it_was_read(memory):
    async with entered(application(memory)) as browser:
        written = (await browser.get("/")).text
        before = json.loads(html.unescape(re.search('data-marks="([^"]+)"', written)[1]))
        assert set(before) == {"run", "messages", "changes", "recalls"}
        assert (await browser.get(NOW)).json() == before
        await memory.journal.append(message(HOME, "qq:zhang", "我喜欢猫"), HOME)
        now = await browser.get(NOW)
        assert now.json()["messages"] == before["messages"] + 1
        assert "猫" not in now.text


async def test_a_restart_by_which_nothing_happened_is_no_news(memory):
    told = []
    for _ in range(2):
        async with entered(application(memory)) as browser:
            told.append((await browser.get(NOW)).json())
    before, after = told
    assert all(before.pop(name) != after.pop(name) for name in ("run", "recalls"))
    assert before == after


async def test_what_was_done_is_not_told_to_a_script_of_another_window(memory):
    async with entered(application(memory)) as browser:
        await send(browser, "/data/backup")
        script = {"Sec-Fetch-Mode": "cors"}
        assert "已做好一份备份" not in (await browser.get("/", headers=script)).text
        assert "已做好一份备份" in (await browser.get("/data")).text
        assert "已做好一份备份" not in (await browser.get("/data")).text


async def test_logging_out_ends_what_that_login_is_told_only(memory):
    app = application(memory)
    async with entered(app) as browser, entered(app) as other:
        await press(browser, "/logout")
        assert (await browser.get(NOW)).status_code == 401
        assert (await other.get(NOW)).status_code == 200
