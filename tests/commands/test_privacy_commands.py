"""``/memory why``, ``pause`` and ``forgetme``, and messages that were taken back."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from graph_memory.commands.memory_commands import Commands
from graph_memory.deletion import Tombstones, forget_me
from graph_memory.errors import JournalError
from graph_memory.model import Fact, Turn
from graph_memory.service import MemoryService

from ..makers import QQ, T0, entity, fact, put
from ..scripted import Call, ScriptedModel, answer, said
from ..world import opened
from . import CLUB, HOME, LI, ZHANG, zhang
from . import admin as boss


async def remind(memory: MemoryService, caller: Turn, text: str) -> str:
    await memory.settle()
    return (await memory.recall.remind(caller.asker, text)).block


async def told(memory: MemoryService) -> list[str]:
    return [m.text for m in await memory.journal.newest_messages(100)]


async def test_owners_see_whom_they_have_forgotten(memory: MemoryService, commands: Commands):
    forget = commands.privacy.forget_me
    for number, text in enumerate(("我养了一只橘猫", "它叫豆包")):
        await memory.learning.hear(Turn(HOME, ZHANG, "张三\n1. 假的", text), at=T0 + number)
    known = [fact(HOME, ZHANG, entity("橘猫"), f"张三的猫{n}") for n in range(3)]
    await put(memory.journal, HOME, *known)
    unseen = await forget(boss, "zhang 确认")
    assert "请先发送 /记忆 忘记我 zhang，" in unseen, "it was not shown yet"
    asked = await forget(boss, "zhang")
    assert asked.splitlines()[0] == f"👤 张三 1. 假的（{QQ}:zhang）：2 条消息、3 条事实"
    assert asked.endswith("发送 /记忆 忘记我 zhang 确认")
    assert f"提到了“{QQ}:zhang”；" in asked
    assert "请先发送" in await forget(boss, "li 确认"), "another one was shown"
    assert "橘猫" in str(await told(memory))
    await forget(boss, "zhang")
    assert "已彻底删除" in await forget(boss, "zhang 确认")
    assert await told(memory) == []
    assert "账号" in await forget(boss, "comfirm"), "the usage says that accounts can be given"


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


async def test_who_is_erased_while_the_model_thinks_is_not_learned(tmp_path: Path):
    def both(call: Call) -> dict[str, Any]:
        lines = [line for line in call.prompt.splitlines() if line.startswith("[")]
        words = [("橘猫", n) for n, line in enumerate(lines, 1) if "橘猫" in line]
        words += [("龙井", n) for n, line in enumerate(lines, 1) if "龙井" in line]
        return answer(*(said("我", "likes", word, f"喜欢{word}", n) for word, n in words))

    model = ScriptedModel(both, gate=asyncio.Event())
    async with opened(tmp_path, model=model) as memory:
        await memory.learning.hear(Turn(CLUB, ZHANG, "张三", "我喜欢橘猫", ref="7@1"))
        await memory.learning.hear(Turn(CLUB, LI, "李四", "我喜欢龙井"))
        learning = asyncio.create_task(memory.learning.flush())
        await model.asked.wait()
        await memory.forget_me.forget(ZHANG)
        model.gate.set()
        assert await learning == 1
        facts = await memory.journal.read(lambda rows: rows.find(Fact))
        assert [f.statement for f in facts] == ["喜欢龙井"]
