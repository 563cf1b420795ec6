"""Backups, export, import, examination: seen first, then done, on a memory of its own."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from starlette.requests import ClientDisconnect

from graph_memory.errors import GraphError
from graph_memory.service import MemoryService
from graph_memory.supervisor import Told
from graph_memory.transfer import SOURCES, Run
from graph_memory.transfer.transfer_service import Undone
from webui.guard import MAX_BODY
from webui.pages.data import Importing, importer_of

from ..waiting import until
from .browsing import OURS, press, see, send
from .conftest import KEY, application, client, opened
from .markup import Markup
from .seed import NOW
from .story import ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def memory(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MemoryService]:
    async with opened(tmp_path_factory.mktemp("data")) as memory:
        yield memory


@pytest_asyncio.fixture(loop_scope="module")
async def keeper(memory: MemoryService) -> AsyncIterator[httpx.AsyncClient]:
    """A browser of the owner of that memory."""
    async with client(application(memory)) as browser:
        await browser.post("/login", data={"key": KEY}, headers=OURS)
        yield browser


async def test_a_backup_is_made_and_its_restore_shown_prepared_and_called_off(keeper, memory):
    done = await press(keeper, "/data/backup")
    assert "已做好一份备份" in done.text
    (link,) = [t["href"] for t in done.all("a") if t["href"].startswith("/data/restore")]
    (line, *_) = (await memory.library.browse()).items
    change = await memory.library.act("forget", [line.fact.id], "owner")
    asked = await see(keeper, link)
    assert "事实 59 60 +1" in asked.text
    assert await memory.backups.staged() is None
    (name,) = [tag["value"] for tag in asked.all("input", name="name")]
    assert "有一次恢复在等待" in (await press(keeper, "/data/restore", name=name)).text
    assert await memory.backups.staged() == NOW
    assert "已取消恢复" in (await press(keeper, "/data/unstage")).text
    assert await memory.backups.staged() is None
    await memory.library.undo(change.id, "owner")


async def test_a_restore_is_carried_out_where_the_memory_can_be_opened_anew(memory):
    asked: list[bool] = []
    async with client(application(memory, reopen=lambda: asked.append(True))) as keeper:
        await keeper.post("/login", data={"key": KEY}, headers=OURS)
        name = (await memory.backups.make()).name
        assert "马上就换" in (await see(keeper, "/data/restore", name=name)).text
        assert "正在恢复" in Markup((await send(keeper, "/data/restore", 200, name=name)).text).text
        assert asked == [True]
        assert await memory.backups.staged()
        assert "已换成备份" in (await see(keeper, "/data")).text
        await send(keeper, "/data/restore", 200)  # the one that waits
        assert asked == [True, True]
        await memory.backups.unstage()
        await send(keeper, "/data/restore", 404)


async def test_backups_that_are_not_there_are_said(keeper: httpx.AsyncClient) -> None:
    for name in ("no.sqlite3", "../journal.sqlite3", "..", "<b>"):
        await see(keeper, "/data/restore", 404, name=name)
        await send(keeper, "/data/restore", 404, name=name)


async def test_a_damaged_backup_is_said(keeper: httpx.AsyncClient, memory: MemoryService) -> None:
    broken = memory.directory / "backups" / "journal-20240101T000000Z.sqlite3"
    broken.parent.mkdir(exist_ok=True)
    broken.write_bytes(b"nothing of the kind" * 400)
    answer = await keeper.get("/data/restore", params={"name": broken.name})
    assert answer.headers["location"] == "/data"
    assert "没有做成" in (await see(keeper, "/data")).text
    broken.unlink()


async def test_an_export_is_written_and_downloaded(keeper: httpx.AsyncClient) -> None:
    done = await press(keeper, "/data/export", person="")
    assert "已导出" in done.text
    (link,) = [tag["href"] for tag in done.all("a") if "download" in tag]
    answer = await keeper.get(link)
    assert answer.headers["content-disposition"].startswith("attachment")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines[0]["format"] == "graph-memory"
    assert sum(line.get("type") == "fact" for line in lines) == 60
    own = await press(keeper, "/data/export", person=ZHANG)
    assert len([tag for tag in own.all("a") if "download" in tag]) == 2


async def test_an_import_is_shown_then_done_then_taken_back(keeper, memory):
    folder = memory.directory / "imports"
    folder.mkdir(exist_ok=True)
    base = {"sender": "10009", "name": "小周", "group": "77"}
    lines = [
        {"time": "2025-09-01T10:00:00+08:00", "text": "我在学吉他", **base},
        {"time": "2025-09-01T10:01:00+08:00", "text": "<b>弦断了</b>", **base},
    ]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    (folder / "吉他.jsonl").write_text(text, encoding="utf-8")
    before = (await memory.journal.counts())["messages"]
    page = await see(keeper, "/data")
    (link,) = [t["href"] for t in page.all("a") if t["href"].startswith("/data/import?")]
    plan = await see(keeper, link)
    assert "2 / 2 条" in plan.text
    assert "<b>弦断了</b>" in plan.text
    assert (await memory.journal.counts())["messages"] == before
    assert "导入已开始" in (await press(keeper, "/data/import", name="吉他.jsonl")).text
    await until(lambda: not memory.journal.works.under_way)  # the import goes on in the background
    assert (await memory.journal.counts())["messages"] == before + 2
    done = await see(keeper, "/data")
    (run,) = [tag["value"] for tag in done.all("input", name="run")]
    log = await see(keeper, "/changes")
    assert run not in str(log.text) + str([tag["value"] for tag in log.all("option")])
    assert "2 条消息" in (await press(keeper, "/data/import/undo", run=run)).text
    assert (await memory.journal.counts())["messages"] == before


async def test_a_file_of_an_unknown_kind_can_be_named(keeper, memory):
    folder = memory.directory / "imports"
    folder.mkdir(exist_ok=True)
    line = {"user": "10001", "sender": "10001", "text": "我在学大提琴", "time": "2025-03-01"}
    file = folder / "谁知道.txt"
    file.write_text(f"# 导出于三月\n{json.dumps(line, ensure_ascii=False)}\n", encoding="utf-8")
    page = await see(keeper, "/data/import", 422, name=file.name)
    assert "无法识别这是哪种文件" in page.text
    assert '"sender": "10001"' in page.text  # what was expected
    assert {tag["value"] for tag in page.all("option")} >= set(SOURCES)
    named = await see(keeper, "/data/import", 422, name=file.name, format="chat")
    assert "无法识别" not in named.text
    await see(keeper, "/data/import", 422, name=file.name, format="exe")
    file.unlink()


async def test_an_import_that_ends_while_the_page_is_made_is_followed(keeper, memory, monkeypatch):
    line = {"time": "2025-09-03T10:00:00+08:00", "sender": "10009", "name": "小周", "group": "77"}
    path = memory.directory / "imports" / "鼓.jsonl"
    path.write_text(json.dumps(line | {"text": "我在学打鼓"}, ensure_ascii=False), encoding="utf-8")
    importer = await importer_of(memory, Importing(name=path.name))
    runs, task = memory.transfer.runs, memory.transfer.begin(importer)
    await asyncio.sleep(0)
    assert memory.transfer.progress is not None, "it has been begun"

    async def then_it_ends() -> list[Run]:
        before = await runs()
        await task
        return before

    monkeypatch.setattr(memory.transfer, "runs", then_it_ends)
    assert (await see(keeper, "/data")).all("div", **{"data-progress": "import"})
    monkeypatch.undo()
    page = await see(keeper, "/data")
    assert not page.all("progress")
    assert "导入完成，共 1 条新消息" in page.text
    run = page.all("input", name="run")[0]["value"]
    assert "1 条消息" in (await press(keeper, "/data/import/undo", run=run)).text
    path.unlink()


async def test_a_file_is_sent_in_and_waits(keeper, memory):
    (token,) = {tag["value"] for tag in (await see(keeper, "/data")).all("input", name="csrf")}
    line = json.dumps({"time": "2025-09-02T10:00:00+08:00", "sender": "10009", "text": "弦" * 99})
    text = "\n".join([line] * 600).encode()
    assert len(text) > 2 * MAX_BODY

    async def pieces(until: int) -> AsyncIterator[bytes]:
        for start in range(0, until, 9_000):
            yield text[start : start + 9_000]

    url = "/api/v1/imports/files"
    proof = {**OURS, "X-CSRF-Token": token}
    folder = memory.directory / "imports"
    before = {path.name for path in await memory.transfer.waiting()}
    for headers in (
        OURS,
        {**proof, "X-CSRF-Token": "0" * 64},
        {**proof, "Origin": "http://x.test"},
    ):
        answer = await keeper.post(url, params={"name": "a"}, content=text, headers=headers)
        assert answer.status_code == 403
    assert {path.name for path in await memory.transfer.waiting()} == before
    answer = await keeper.post(
        url, params={"name": "../和弦.jsonl"}, content=pieces(len(text)), headers=proof
    )
    assert answer.json() == {"name": "和弦.jsonl"}
    assert (folder / "和弦.jsonl").read_bytes() == text
    page = await see(keeper, "/data/import", name="和弦.jsonl")
    assert "600 条" in page.text or "1 / 600 条" in page.text
    (folder / "和弦.jsonl").unlink()
    answer = await keeper.post(url, params={"name": "/"}, content=b"x", headers=proof)
    assert answer.status_code == 422


async def test_a_file_that_waits_is_deleted_once_it_was_asked(keeper, memory):
    folder = memory.directory / "imports"
    folder.mkdir(exist_ok=True)
    path, other = folder / "旧 历史&<b>.jsonl", folder / "另一份.jsonl"
    path.write_text("{}")
    other.write_text("{}")
    (link,) = [
        tag["href"]
        for tag in (await see(keeper, "/data")).all("a", **{"aria-label": f"删除 {path.name}"})
    ]
    asked = await see(keeper, link)
    assert f"删除 {path.name}？" in asked.text
    assert path.exists(), "it was only asked"
    (name,) = [tag["value"] for tag in asked.all("input", name="name")]
    answer = await keeper.post("/data/import/delete", data={"name": name}, headers=OURS)
    assert answer.status_code == 403, "no page of ours asked for it"
    assert path.exists()
    assert "已删除这个文件" in (await press(keeper, "/data/import/delete", name=name)).text
    assert not path.exists()
    for gone in (name, "../journal.sqlite3", str(other), ""):
        await send(keeper, "/data/import/delete", 404, name=gone)
        await see(keeper, "/data/import/delete", 404, name=gone)
    assert other.exists()


async def test_how_much_may_be_sent_is_said_before_and_when_it_is_too_much(keeper, monkeypatch):
    page = await see(keeper, "/data")
    assert "每个最多 1 GiB，目录里最多 20 个" in page.text
    (token,) = {tag["value"] for tag in page.all("input", name="csrf")}
    monkeypatch.setattr("graph_memory.transfer.files.MAX_WAITING", 0)
    answer = await keeper.post(
        "/api/v1/imports/files",
        params={"name": "a.json"},
        content=b"{}",
        headers={**OURS, "X-CSRF-Token": token},
    )
    assert answer.status_code == 422
    assert "delete" in answer.json()["detail"]


async def test_a_file_that_breaks_off_is_not_there(memory: MemoryService) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ClientDisconnect

    before = set((memory.directory / "imports").iterdir())
    with pytest.raises(ClientDisconnect):
        await memory.transfer.receive("half.jsonl", broken())
    assert set((memory.directory / "imports").iterdir()) == before


async def test_only_files_in_imports_are_read(keeper, memory, tmp_path):
    outside = tmp_path / "outside.jsonl"
    outside.write_text("{}")
    for name in (str(outside), "../journal.sqlite3", "", "no.jsonl"):
        page = await see(keeper, "/data/import", 422, name=name)
        assert page.all("p", role="alert")
        assert not page.all("form", action="/data/import", method="post")
        refused = (await press(keeper, "/data/import", name=name)).text
        assert "没有做成：没有文件" in refused or "没有做成：详情见日志" in refused, refused[-300:]


async def test_the_doctor_examines_and_says_so(keeper: httpx.AsyncClient) -> None:
    assert "日志没有问题" in (await press(keeper, "/data/checkup")).text
    assert "日志没有问题" in (await see(keeper, "/data/checkup")).text, "it can be read again"


async def test_what_the_doctor_could_not_mend_is_said(keeper, memory, monkeypatch):
    async def broken() -> None:
        raise GraphError("no room")

    monkeypatch.setattr(memory.graph, "rebuild", broken)
    page = await press(keeper, "/data/checkup")
    assert "有些没能修好" in page.text
    assert "图谱现在不可用" in page.text


async def test_long_work_is_followed_over_pages_and_its_end_is_said(keeper, memory):
    works, go_on = memory.journal.works, asyncio.Event()

    async def work(tell: Told) -> Undone:
        tell(3, 8)
        await go_on.wait()
        return Undone(5, 0)

    works.begin(works.run("undo", work))
    await asyncio.sleep(0)
    page = await see(keeper, "/data")
    (bar,) = page.all("progress")
    assert (bar["value"], bar["max"]) == ("3", "8")
    assert "正在撤回导入" in page.text
    assert not page.all("form", action="/data/import/undo")
    assert (await keeper.get("/api/v1/work")).json() == {"undo": {"done": 3, "total": 8}}
    go_on.set()
    await until(lambda: not memory.journal.works.under_way)
    assert (await keeper.get("/api/v1/work")).json() == {}
    page = await see(keeper, "/data")
    assert "撤回完成，删掉了 5 条消息" in page.text
    assert not page.all("progress")


async def test_who_does_not_wait_finds_an_undo_and_an_examination_later(
    keeper, memory, monkeypatch
):
    monkeypatch.setattr("webui.pages.data.SOON", 0)
    line = {"time": "2025-09-04T10:00:00+08:00", "sender": "10009", "name": "小周", "group": "77"}
    path = memory.directory / "imports" / "琴.jsonl"
    path.write_text(json.dumps(line | {"text": "我在学琴"}, ensure_ascii=False), encoding="utf-8")
    await memory.transfer.bring(await importer_of(memory, Importing(name=path.name)))
    run = (await see(keeper, "/data")).all("input", name="run")[0]["value"]
    assert "已经开始" in (await press(keeper, "/data/import/undo", run=run)).text
    await until(lambda: not memory.journal.works.under_way)
    assert "撤回完成，删掉了 1 条消息" in (await see(keeper, "/data")).text
    await send(keeper, "/data/checkup")
    page = await see(keeper, "/data/checkup")
    assert page.all("progress") or "日志没有问题" in page.text
    await until(lambda: not memory.journal.works.under_way)
    assert "日志没有问题" in (await see(keeper, "/data/checkup")).text
    path.unlink()
