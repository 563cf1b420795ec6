"""``/memory export``, ``import`` and ``move``, as people use them."""

import asyncio
import json
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_memory.commands.transfers import EXPORT_PAUSE, ImportEnvironment, TransferCommands
from graph_memory.model import Turn
from graph_memory.service import MemoryService
from graph_memory.transfer import Importer, Plan
from tests.makers import T0, private, user
from tests.waiting import until

from ..world import opened

HERS = private("1")
RED = Turn(HERS, user("1"), "小红")
OWNER = Turn(private("7"), user("7"), "主人", is_admin=True)
NOWHERE = ImportEnvironment()


@pytest.fixture
def moves(memory: MemoryService) -> TransferCommands:
    return TransferCommands(memory)


def chat(memory: MemoryService, name: str = "聊天 记录.jsonl", text: str = "我在学大提琴") -> str:
    folder = memory.directory / "imports"
    folder.mkdir(exist_ok=True)
    line = {"time": T0 - 9_000, "sender": "1", "name": "小红", "text": text}
    (folder / name).write_text(json.dumps(line), encoding="utf-8")
    return name


async def test_taking_out(memory: MemoryService, moves: TransferCommands) -> None:
    await memory.learning.hear(Turn(HERS, user("1"), "小红", "我在学大提琴"), at=T0)
    await memory.learning.hear(Turn(private("2"), user("2"), "小明", "我在学小号"), at=T0)
    mine = await moves.export(RED)
    text = mine.path.read_text(encoding="utf-8")
    assert "大提琴" in text
    assert "小号" not in text
    # Where no file can be sent, it is told what is in it, and never where it is.
    told = await moves.unsent(RED, mine.path)
    assert "大提琴" in told
    assert str(memory.directory) not in told
    assert not mine.path.exists()
    own = await moves.export(OWNER)
    assert own.path is not None
    where = await moves.unsent(OWNER, own.path)
    (kept,) = (memory.directory / "exports").glob("owner-*.jsonl")
    assert str(kept) in where
    await memory.learning.hear(Turn(private("alan"), user("alan"), "Alan", "我在学琴"), at=T0)
    assert "1 条消息" in (await moves.export(OWNER, "alan")).text, "not taken for all"
    told = (await moves.export(OWNER, "all")).text
    assert "3 条消息" in told
    assert "密码和要求保密的事也在" in told
    assert "1 条消息" in (await moves.export(OWNER, user("2").replace(":", "："))).text
    written = sorted(path.name for path in (memory.directory / "exports").glob("[ep]*-*.jsonl"))
    assert [name.partition("-")[0] for name in written] == ["everything", "person", "person"]


async def test_who_is_forgotten_is_in_no_file_any_more(memory, moves):
    await memory.learning.hear(Turn(HERS, user("1"), "小红", "我在学大提琴"), at=T0)
    await moves.export(OWNER, "all")
    await moves.import_(OWNER, f"{chat(memory)} persona=mei", NOWHERE)
    await memory.forget_me.forget(user("1"))
    await memory.backups.purge()
    assert list((memory.directory / "exports").iterdir()) == []
    assert "没有改动" in await moves.import_(OWNER, "确认", NOWHERE)
    assert await memory.journal.newest_messages(9) == []


async def test_one_takes_away_their_own_once_a_minute(tmp_path: Path) -> None:
    now = [T0]
    async with opened(tmp_path, now=lambda: now[0]) as memory:
        moves = TransferCommands(memory)
        taken = await asyncio.gather(*(moves.export(RED) for _ in range(5)))
        assert [bool(each.path) for each in taken] == [True, False, False, False, False]
        assert all("一分钟" in each.text for each in taken[1:])
        now[0] += EXPORT_PAUSE - 1
        assert (await moves.export(RED)).path is None
        assert (await moves.export(replace(RED, user=user("2"), session=private("2")))).path
        now[0] += 1
        assert (await moves.export(RED)).path
        now[0] -= 1_000_000  # the clock is set back
        assert (await moves.export(RED)).path


async def test_who_has_more_than_fits_is_told_that_the_file_is_not_all(memory, moves, monkeypatch):
    monkeypatch.setattr("graph_memory.transfer.transfer_service.MAX_OWN", 60)
    told = await moves.export(RED)
    assert "64 MB" in told.text
    assert told.path.read_text("utf-8").count("\n") == 1


async def test_what_a_kill_left_is_gone_after_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    left = [
        folder / "mine-20260922T000000Z.jsonl",
        folder / "everything-20260922T000001Z.jsonl.tmp",
    ]
    kept = [folder / "everything-20260922T000000Z.jsonl", folder / "owner-20260922T000000Z.jsonl"]
    for path in (*left, *kept):
        path.write_text("{}", encoding="utf-8")
        os.utime(path, (T0, T0))
    async with opened(tmp_path, now=lambda: T0):
        await until(lambda: not any(path.exists() for path in left))
        assert sorted(folder.iterdir()) == sorted(kept)


async def test_a_long_look_at_a_file_is_told_and_is_there_when_asked_again(
    memory: MemoryService, moves: TransferCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, look, goes_on = chat(memory), Importer._preview, threading.Event()

    def slow(importer: Importer, *more: Any) -> Plan:
        assert goes_on.wait(30)
        return look(importer, *more)

    monkeypatch.setattr(Importer, "_preview", slow)
    monkeypatch.setattr("graph_memory.commands.transfers.PATIENCE", 0.05)
    assert "还在读" in await moves.import_(OWNER, name, NOWHERE)
    assert "预览" in await moves.import_(OWNER, "确认", NOWHERE)  # nothing was shown yet
    goes_on.set()
    monkeypatch.setattr("graph_memory.commands.transfers.PATIENCE", 30)
    assert "1 条消息" in await moves.import_(OWNER, name, NOWHERE)
    assert "已导入 1 条" in await moves.import_(OWNER, "确认", NOWHERE)
    assert "以前导入过，只会补上缺少的" in await moves.import_(OWNER, name, NOWHERE)


async def test_while_an_import_reads_its_file_no_other_is_undone(memory, moves, monkeypatch):
    await moves.import_(OWNER, chat(memory), NOWHERE)
    await moves.import_(OWNER, "确认", NOWHERE)
    begin, begun, goes_on = Importer._begin, threading.Event(), threading.Event()

    def slow(importer: Importer, *more: Any) -> Any:
        found = begin(importer, *more)  # all of it is read by now, and nothing is written
        begun.set()
        assert goes_on.wait(30)
        return found

    monkeypatch.setattr(Importer, "_begin", slow)
    await moves.import_(OWNER, chat(memory, "另一份.jsonl", "我在学小号"), NOWHERE)
    monkeypatch.setattr("graph_memory.commands.transfers.PATIENCE", 0.05)
    assert "后台" in await moves.import_(OWNER, "确认", NOWHERE)
    assert await asyncio.to_thread(begun.wait, 30)
    assert "正在读" in await moves.import_(OWNER, "撤销", NOWHERE)
    assert "正在导入" in await moves.import_(OWNER, "", NOWHERE)
    goes_on.set()
    await until(lambda: not memory.journal.works.under_way)
    assert [run.is_there for run in await memory.transfer.runs()] == [True, True]
