"""Files are sent in and taken back, a backup is restored, through the browser."""

import asyncio
import logging
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from graph_memory.astrbot import Runtime
from graph_memory.supervisor import Progress
from graph_memory.transfer.transfer_service import Undone
from tests.makers import message, private
from webui import WebServer
from webui.app import create_app

from .conftest import KEY, Opener, expect

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="package")]


@pytest.mark.parametrize(("language", "width"), [("zh", 1280), ("en", 360)])
async def test_long_work_is_followed_over_a_reload_to_its_end(visit, service, language, width):
    works, go_on, told = service.journal.works, asyncio.Event(), list[Progress]()

    async def work(progress: Progress) -> Undone:
        told.append(progress)
        progress.take(1_200, 3_800)
        await go_on.wait()
        return Undone(1_000, 0)

    works.begin(works.run("undo", work))
    page = (await visit(width, language=language, at="/data")).page
    bar, words = page.locator("progress"), {"zh": "删掉了 1,000 条", "en": "1,000 messages went"}
    await expect(page.locator("[data-progress]")).to_contain_text("1,200 / 5,000")
    assert await bar.get_attribute("value") == "1200"
    await page.reload()
    await expect(page.locator("[data-progress]")).to_contain_text("1,200 / 5,000")
    told[0].take(3_600)
    await expect(page.locator("[data-progress]")).to_contain_text("4,800 / 5,000")
    assert await page.evaluate("document.querySelector('progress').value") == 4_800
    go_on.set()
    await page.get_by_text(words[language]).wait_for()  # by itself
    await expect(bar).to_have_count(0)


async def _slowly(route: Any) -> None:
    await asyncio.sleep(0.8)
    await route.continue_()


async def test_a_backup_is_restored_and_the_page_comes_back_by_itself(visit: Opener, tmp_path):
    async def serve(memory: Any, access: Any, settings: Any, *more: Any) -> WebServer:
        server = WebServer(create_app(memory, access, settings, *more))
        await server.start(settings.webui_port)
        return server

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nothing = SimpleNamespace(
        get_all_providers=list,
        get_all_embedding_providers=list,
        get_config=lambda umo=None: {},
        register_web_api=lambda *_: None,
    )
    settings = {"webui_port": port, "webui_key": KEY, "local_embedding_model": "none"}
    settings["enable_function_calling"] = False
    bot = Runtime(nothing, settings, lambda: tmp_path / "memory", serve)
    await bot.start(logging.getLogger("astrbot-of-a-test"))
    home = private("zhang")
    await bot.memory.journal.append(message(home, "qq:zhang", "我喜欢猫"), home)
    await bot.memory.backups.make()
    await bot.memory.journal.append(message(home, "qq:zhang", "我也喜欢狗"), home)
    seen = await visit()
    seen.base = f"http://127.0.0.1:{port}"
    await seen.log_in()
    await seen.go("/data")
    await seen.page.get_by_role("link", name="恢复").first.click()
    await seen.page.route("**/data.js", _slowly)
    await seen.page.get_by_role("button", name="现在恢复").click()
    await seen.page.get_by_role("heading", name="正在恢复").wait_for()
    await seen.page.get_by_text("记忆已换成备份").wait_for()
    assert (await bot.memory.health()).counts["messages"] == 1
    await seen.page.close()
    await bot.stop()
    seen.wrong = [each for each in seen.wrong if "ERR_" not in each]


async def test_a_connection_that_breaks_is_said(visit: Opener) -> None:
    found = await visit(at="/data")
    await found.page.route("**/api/v1/imports/files*", lambda route: route.abort())
    await found.page.set_input_files(
        "#file", {"name": "x.json", "mimeType": "application/json", "buffer": b"{}"}
    )
    await expect(found.page.locator("#send-state")).to_have_text("没有传上去：连接断了")
    assert [wrong for wrong in found.wrong if "ERR_FAILED" not in wrong] == []
    found.wrong.clear()
