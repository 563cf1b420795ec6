"""``/memory forgetme`` where nothing can be written."""

from typing import Any

import pytest

from graph_memory.deletion import Tombstones, forget_me
from graph_memory.errors import JournalError
from graph_memory.model import Turn

from ..makers import T0
from . import HOME, ZHANG, zhang


@pytest.mark.parametrize(
    ("owner", "name", "told"),
    [(forget_me, "erase", "重启也不会忘"), (Tombstones, "add", "请再发一次")],
)
async def test_on_a_full_disk_it_says_that_nothing_happened(
    memory, commands, monkeypatch, owner, name, told
):
    def full(*_: Any) -> None:
        raise JournalError("no room")

    await memory.learning.hear(Turn(HOME, ZHANG, "张三", "我养了一只橘猫"), at=T0)
    monkeypatch.setattr(owner, name, full)
    await commands.privacy.forget_me(zhang)
    answer = await commands.privacy.forget_me(zhang, "确认")
    assert "还什么都没有删除" in answer
    assert told in answer
    assert len(await memory.journal.newest_messages(9)) == 1
    assert "forgetting" in {problem.code for problem in (await memory.health()).problems}
