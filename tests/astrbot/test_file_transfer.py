"""Files that are handed over are not kept."""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from graph_memory.astrbot import Runtime
from graph_memory.commands.transfers import ExportAnswer, TransferCommands


class Event(SimpleNamespace):
    """Somebody who asks, on a platform that sends files or does not."""

    def __init__(self, platform: str, fails: bool) -> None:
        super().__init__(
            fails=fails, sent=[], chain_result=list, get_platform_name=lambda: platform
        )

    async def send(self, parts: list[Any]) -> None:
        if self.fails:
            raise OSError("no")
        assert Path(parts[1].file).exists(), "while it is sent it is there"
        self.sent += parts


@pytest.mark.parametrize(
    ("platform", "fails", "is_sent"),
    [("aiocqhttp", False, True), ("aiocqhttp", True, False), ("satori", False, False)],
)
async def test_a_file_is_deleted_once_it_was_sent_or_told(tmp_path, platform, fails, is_sent):
    path = tmp_path / "mine-1.jsonl"
    path.write_text("大提琴", encoding="utf-8")
    exports = TransferCommands(
        SimpleNamespace(settings=SimpleNamespace(language="zh"), now=time.time)
    )  # type: ignore[arg-type]

    async def export(_caller: Any, _what: str) -> ExportAnswer:
        return ExportAnswer("这是全部", path)

    exports.export = export  # type: ignore[method-assign]
    commands = SimpleNamespace(transfers=exports)
    caller = SimpleNamespace(is_owner=False)

    async def ask(_event: Any, what: Callable[[Any, Any], Awaitable[str]]) -> str:
        return await what(commands, caller)

    event = Event(platform, fails)
    runtime: Any = SimpleNamespace(ask=ask)
    told = await Runtime.export(runtime, event, "")
    assert bool(event.sent) == is_sent
    assert told == ("" if is_sent else "大提琴")
    assert not path.exists()
