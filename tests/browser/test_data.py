"""A file is sent in through the browser, looked at, brought in and taken back."""

import json

import pytest

from .conftest import Opener, expect

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="package")]


async def test_a_file_is_sent_seen_brought_in_and_taken_back(visit, service):
    base = {"sender": "10009", "name": "小周", "group": "77"}
    lines = [
        {"time": "2025-09-01T10:00:00+08:00", "text": "我在学吉他", **base},
        {"time": "2025-09-01T10:01:00+08:00", "text": "<img src=x onerror=alert(8)>", **base},
    ]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    before = (await service.journal.counts())["messages"]
    seen = await visit(at="/data")
    page = seen.page
    file = {"name": "吉他<b>.jsonl", "mimeType": "application/octet-stream", "buffer": text}
    await page.get_by_label("选一个文件上传").set_input_files(files=[file])  # type: ignore[list-item]
    await page.get_by_role("heading", name="导入 吉他_b_.jsonl？").wait_for()
    await expect(page.locator(".facts")).to_contain_text("2 / 2 条")
    assert (await service.journal.counts())["messages"] == before
    await page.get_by_role("button", name="导入", exact=True).click()
    undo = page.get_by_role("button", name="撤回")
    await undo.wait_for()  # the page follows the import by itself
    assert (await service.journal.counts())["messages"] == before + 2
    await undo.click()
    await page.get_by_text("已撤回这次导入，共 2 条消息").wait_for()
    assert (await service.journal.counts())["messages"] == before
    # The file waits on, until it is deleted.
    await page.get_by_role("link", name="删除 吉他_b_.jsonl").click()
    await page.get_by_role("heading", name="删除 吉他_b_.jsonl？").wait_for()
    assert len(await service.transfer.waiting()) == 1
    await page.get_by_role("button", name="删除", exact=True).click()
    await page.get_by_text("已删除这个文件").wait_for()
    assert await service.transfer.waiting() == []


async def test_a_file_that_is_refused_is_said_and_can_be_sent_again(visit: Opener) -> None:
    seen = await visit(at="/data")
    page = seen.page
    field, state = page.locator("#file"), page.locator("#send-state")
    file = {"name": "x.json", "mimeType": "application/json", "buffer": b"{}"}
    await page.context.clear_cookies(name="gm_language")
    for cookie in await page.context.cookies():
        if cookie["name"].startswith("gm_"):  # the login has run out meanwhile
            await page.context.clear_cookies(name=cookie["name"])
    await field.set_input_files(files=[file])  # type: ignore[list-item]
    await expect(state).to_contain_text("没有传上去")
    await expect(field).to_be_enabled()
    seen.wrong = [text for text in seen.wrong if "401" not in text]
