"""``/memory undo`` and ``/memory forget`` reach the very words, and never lock for ever."""

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from graph_memory.commands.memory_commands import Commands
from graph_memory.companion import CoreFact
from graph_memory.deletion import retraction
from graph_memory.deletion.plan import plan_for_messages
from graph_memory.model import Fact, Turn
from graph_memory.settings import Settings
from graph_memory.store.rows import write

from ..makers import T0, all_changes
from ..scripted import NOTHING, Call, ScriptedModel, answer, said
from ..world import opened
from . import ZHANG, zhang, zhang_in_club


def dinner(call: Call) -> dict[str, Any]:
    """What a model finds, if there is something."""
    if "韶山冲" not in call.prompt:
        return NOTHING
    number = 2 if "吃饭的事" in call.prompt else 1
    plan = said("U1", "plans", "韶山冲饭店", "张三周五在韶山冲饭店聚餐", number)
    place = {"name": "韶山冲饭店", "type": "place"}
    return answer(plan, entities=[place], summary="张三说聚餐改了")


@pytest_asyncio.fixture(params=["no model", "a model", "a model that finds nothing"])
async def commands(tmp_path: Path, request: Any) -> AsyncIterator[Commands]:
    models = {"a model": ScriptedModel(dinner), "a model that finds nothing": ScriptedModel()}
    settings, now = Settings(companion=("records", "core_facts")), iter(range(10_000))
    asked = models.get(request.param)
    async with opened(tmp_path, settings, model=asked, now=lambda: T0 + next(now) / 10) as service:
        yield Commands(service)


async def shown(commands: Commands, caller: Turn, word: str) -> str:
    """All that the commands and tools tell of a word."""
    await commands.memory.learning.flush()
    await commands.memory.recall.settle()
    listing = await commands.companion.records(caller)
    found = [
        await commands.mine(caller),
        await commands.search(caller, word),
        await commands.companion.search(caller, word),
        listing,
        await commands.companion.core(caller),
    ]
    if "1. " in listing:
        found.append(await commands.companion.records(caller, "1"))
    recall = await commands.memory.recall.remind(caller.asker, f"{word}怎么走？")
    return "\n".join([*found, recall.block])


async def test_undo_of_remember_looks_for_what_goes_before_it_writes(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []

    def plan(db: sqlite3.Connection, messages: Any) -> Any:
        looked.append(db)
        return plan_for_messages(db, messages)

    def written(db: sqlite3.Connection, *more: Any) -> Any:
        assert db not in looked
        return write(db, *more)

    monkeypatch.setattr(retraction, "plan_for_messages", plan)
    monkeypatch.setattr(retraction, "write", written)
    await commands.remember(replace(zhang, text="我们周五聚餐改到韶山冲饭店"))
    assert "刚才记下的那条已删掉" in await commands.undo(zhang)
    assert len(looked) == 1


@pytest.mark.parametrize("caller", [zhang, zhang_in_club])
async def test_undo_of_remember_takes_the_words_along(commands: Commands, caller: Turn) -> None:
    await commands.memory.learning.hear(Turn(caller.session, ZHANG, "张三", "我们聊聊吃饭的事"))
    assert "记住了" in await commands.remember(replace(caller, text="我们周五聚餐改到韶山冲饭店"))
    assert "韶山冲" in await shown(commands, caller, "韶山冲饭店")
    assert "刚才记下的那条已删掉" in await commands.undo(caller)
    after = await shown(commands, caller, "韶山冲饭店")
    assert "韶山冲" not in after.replace("韶山冲饭店怎么走", "")
    assert not [row for row in await rows(commands, Fact) if "韶山冲" in row.statement]
    assert not [row for row in await rows(commands, CoreFact) if "韶山冲" in row.text]
    undone = (await all_changes(commands.memory.journal))[-1]
    assert undone.undoes
    await commands.memory.library.undo(undone.id, "owner")
    assert "韶山冲" in await shown(commands, caller, "韶山冲饭店")


async def rows(commands: Commands, kind: Any) -> list[Any]:
    return await commands.memory.journal.read(lambda them: them.find(kind))
