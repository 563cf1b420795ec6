"""Backups, export, import, examination: seen first, then done, on a memory of its own."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing

import httpx
import pytest
from starlette.requests import ClientDisconnect

from graph_memory.errors import FormatError, GraphError, StorageError
from graph_memory.service import MemoryService
from graph_memory.supervisor import Progress
from graph_memory.transfer import Run
from graph_memory.transfer.transfer_service import Undone
from webui.guard import MAX_BODY
from webui.pages.data import Importing, importer_of

from ..makers import broken_off
from ..waiting import until
from .browsing import OURS, press, see, send
from .conftest import application, entered
from .markup import Markup

pytestmark = pytest.mark.asyncio(loop_scope="package")


def waiting(memory: MemoryService, name: str, text: str) -> Importing:
    """A file with one line of a chat that is among the imports."""
    line = {"time": "2025-09-03T10:00:00+08:00", "sender": "10009", "name": "小周", "group": "77"}
    folder = memory.directory / "imports"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(line | {"text": text}), encoding="utf-8")
    return Importing(name=name)


async def test_a_restore_is_carried_out_where_the_memory_can_be_opened_anew(own):
    asked: list[bool] = []
    async with entered(application(own, reopen=lambda: asked.append(True))) as mine:
        name = (await own.backups.make()).name
        assert "马上就换" in (await see(mine, "/data/restore", name=name)).text
        assert "正在恢复" in Markup((await send(mine, "/data/restore", 200, name=name)).text).text
        assert asked == [True]
        assert [*own.directory.glob("restore-*.sqlite3")]
        assert "已换成备份" in (await see(mine, "/data")).text
        await send(mine, "/data/restore", 404)  # of no name
        assert asked == [True]


async def test_an_export_is_sent_as_it_is(mine: httpx.AsyncClient, own: MemoryService) -> None:
    file = (await own.transfer.export()).path
    sent = await mine.get(f"/data/exports/{file.name}", headers={"Accept-Encoding": "gzip"})
    assert sent.headers["content-length"] == str(file.stat().st_size)
    assert sent.headers["content-disposition"].startswith("attachment")
    assert sent.content == file.read_bytes()
    lines = [json.loads(line) for line in sent.text.splitlines()]
    assert sum(line.get("type") == "fact" for line in lines) == 60


async def test_an_import_that_ends_while_the_page_is_made_is_followed(mine, own, monkeypatch):
    importer = await importer_of(own, waiting(own, "鼓.jsonl", "我在学打鼓"))
    works, runs = own.journal.works, own.transfer.runs
    task = works.begin(own.transfer.bring(importer))
    await asyncio.sleep(0)
    assert own.journal.works.of("import"), "it has been begun"

    async def then_it_ends() -> list[Run]:
        before = await runs()
        await task
        return before

    monkeypatch.setattr(own.transfer, "runs", then_it_ends)
    assert (await see(mine, "/data")).all("div", **{"data-progress": "import"})
    monkeypatch.undo()
    page = await see(mine, "/data")
    assert not page.all("progress")
    assert " 完成，共 1 条新消息" in page.text
    run = page.all("input", name="run")[0]["value"]
    assert "1 条消息" in (await press(mine, "/data/import/undo", run=run)).text
    assert "已经撤销过" in (await press(mine, "/data/import/undo", run=run)).text


async def test_a_file_of_another_program_knows_its_chats_and_the_bot_on_the_page(mine, own):
    folder = own.directory / "imports"
    folder.mkdir()
    about = {"session_id": "qq:FriendMessage:10009", "create_time": 1_750_000_000.0}
    with closing(sqlite3.connect(folder / "旧.db", isolation_level=None)) as old:
        old.execute("CREATE TABLE documents (id INTEGER PRIMARY KEY, text, metadata)")
        values = 1, "小周在学打鼓", json.dumps(about)
        old.execute("INSERT INTO documents VALUES (?, ?, ?)", values)
    own.transfer.platforms = lambda: {"qq": "aiocqhttp"}
    await own.instances.register("aiocqhttp", "10009")
    page = await see(mine, "/data/import", name="旧.db")
    assert "不知出自哪个聊天" not in page.text
    importer = await importer_of(own, waiting(own, "鼓.jsonl", "我是机器人"))
    assert importer.options.bots == {"10009"}


async def test_a_file_is_sent_in_and_waits(mine, own, monkeypatch):
    monkeypatch.setattr("webui.pages.data.PATIENCE", 60)  # however busy the machine is
    (token,) = {tag["value"] for tag in (await see(mine, "/data")).all("input", name="csrf")}
    line = json.dumps({"time": "2025-09-02T10:00:00+08:00", "sender": "10009", "text": "弦" * 99})
    text = "\n".join([line] * 600).encode()
    assert len(text) > 2 * MAX_BODY

    async def pieces(until: int) -> AsyncIterator[bytes]:
        for start in range(0, until, 9_000):
            yield text[start : start + 9_000]

    url = "/api/v1/imports/files"
    proof = {**OURS, "X-CSRF-Token": token}
    folder = own.directory / "imports"
    before = {path.name for path in await own.transfer.waiting()}
    for headers in (
        OURS,
        {**proof, "X-CSRF-Token": "0" * 64},
        {**proof, "Origin": "http://x.test"},
    ):
        answer = await mine.post(url, params={"name": "a"}, content=text, headers=headers)
        assert answer.status_code == 403
    assert {path.name for path in await own.transfer.waiting()} == before
    answer = await mine.post(
        url, params={"name": "../和弦.jsonl"}, content=pieces(len(text)), headers=proof
    )
    assert answer.json() == {"name": "和弦.jsonl"}
    assert (folder / "和弦.jsonl").read_bytes() == text
    page = await see(mine, "/data/import", name="和弦.jsonl")
    assert "600 条" in page.text or "1 / 600 条" in page.text
    answer = await mine.post(url, params={"name": "/"}, content=b"x", headers=proof)
    assert answer.status_code == 422


async def test_how_much_may_be_sent_is_said_before_and_when_it_is_too_much(mine, monkeypatch):
    page = await see(mine, "/data")
    assert "每个最多 1 GiB，目录里最多 20 个" in page.text
    (token,) = {tag["value"] for tag in page.all("input", name="csrf")}
    monkeypatch.setattr("graph_memory.transfer.files.MAX_WAITING", 0)
    answer = await mine.post(
        "/api/v1/imports/files",
        params={"name": "a.json"},
        content=b"{}",
        headers={**OURS, "X-CSRF-Token": token},
    )
    assert answer.status_code == 422
    assert answer.json()["detail"] == "imports/ 里已经有 0 个文件，请先删掉不要的再传"


async def test_a_file_that_breaks_off_is_not_there(own: MemoryService) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ClientDisconnect

    with pytest.raises(ClientDisconnect):
        await own.transfer.receive("half.jsonl", broken())
    assert list((own.directory / "imports").iterdir()) == []


async def test_what_the_doctor_could_not_mend_is_said(mine, own, monkeypatch):
    async def broken() -> None:
        raise GraphError("no room")

    monkeypatch.setattr(own.graph, "rebuild", broken)
    page = await press(mine, "/data/checkup")
    assert "有些没能修好" in page.text
    assert "图谱现在不可用" in page.text


async def test_long_work_is_followed_over_pages_and_its_end_is_said(mine, own):
    works, go_on = own.journal.works, asyncio.Event()

    async def work(progress: Progress) -> Undone:
        progress.take(3, 5)
        await go_on.wait()
        return Undone(5, 0)

    async def waits(_progress: Progress) -> Undone:
        await go_on.wait()
        return Undone(7, 2)

    for each in (work, waits):
        works.begin(works.run("undo", each))
    await asyncio.sleep(0)
    page = await see(mine, "/data")
    (bar,) = page.all("progress")
    assert (bar["value"], bar["max"]) == ("3", "8")
    assert "正在撤回导入" in page.text
    assert not page.all("form", action="/data/import/undo")
    assert (await mine.get("/api/v1/work")).json() == {"undo": {"done": 3, "total": 8}}
    go_on.set()
    await until(lambda: not own.journal.works.under_way)
    assert (await mine.get("/api/v1/work")).json() == {}
    page = await see(mine, "/data")
    assert "撤回完成，删掉了 5 条消息" in page.text
    assert "撤回完成，删掉了 7 条消息。之后改动过的 2 条记录留着。" in page.text
    assert not page.all("progress")


async def test_of_a_damaged_backup_nobody_thinks_that_the_memory_is(mine, own):
    whole = (await own.backups.make()).path.read_bytes()
    cut, scratched = whole[:8192], whole[:-4096] + b"?" * 4096
    for number, damaged in enumerate((b"nonsense" * 999, cut, scratched), 1):
        name = f"journal-2025100{number}T000000Z.sqlite3"
        (own.directory / "backups" / name).write_bytes(damaged)
        asked = await mine.get("/data/restore", params={"name": name}, follow_redirects=True)
        for text in (asked.text, (await press(mine, "/data/restore", name=name)).text):
            assert "这份备份已经损坏，用不了；请换一份" in text
            assert "journal.sqlite3 损坏" not in text


async def test_how_much_room_is_wanting_is_said(mine, own, monkeypatch):
    wanted = waiting(own, "鼓.jsonl", "我在学打鼓")
    monkeypatch.setattr("graph_memory.store.copies.MIN_FREE", 1 << 60)
    asked = await mine.get("/data/import", params={"name": wanted.name}, follow_redirects=True)
    assert asked.status_code == 200
    for told in (asked.text, (await press(mine, "/data/backup")).text):
        assert "磁盘空间不够：需要 1,099,511,627," in told


async def test_an_import_that_broke_off_says_how_it_goes_on(mine, own):
    wanted = waiting(own, "鼓.jsonl", "我在学打鼓")
    with broken_off(own.journal, 3):  # another may write meanwhile
        await own.transfer.bring(await importer_of(own, wanted))
    page = await see(mine, "/data")
    assert "导入 鼓.jsonl 没有完成" in page.text
    assert "再导入同一个文件会接着来" in page.text
    assert "上次没有导入完" in (await see(mine, "/data/import", name=wanted.name)).text
    await own.transfer.bring(await importer_of(own, wanted))
    assert "没有完成" not in (await see(mine, "/data")).text
    await own.transfer.bring(await importer_of(own, wanted))  # from another window
    assert "导入 鼓.jsonl 完成，没有新的：里面的都已经有了" in (await see(mine, "/data")).text
    assert "以前导入过" in (await see(mine, "/data/import", name=wanted.name)).text


async def test_where_a_file_was_wrong_and_why_else_it_ended_is_said(mine, own):
    for error, told in (
        (FormatError("is no text", 7, "text"), "第 7 行，text，内容不合格式"),
        (StorageError("no room").told("full"), "导入 鼓.jsonl 没有完成： 磁盘满了"),
    ):
        own.journal.works.fail("import", "鼓.jsonl", error)
        assert told in (await see(mine, "/data")).text
