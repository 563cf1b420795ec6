"""What models cost: counted by purpose, kept, and capped; a real memory, a scripted model."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_memory.commands.memory_commands import Commands
from graph_memory.errors import ExtractionError, HeldBackError
from graph_memory.inference import Answer, ToolSchema
from graph_memory.inference.token_budget import Account, Cost, TokenBudget
from graph_memory.model import Fact, Turn
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import Journal
from graph_memory.text import tokens

from .. import world
from ..makers import CHINA, HERS, HOME, LI, T0, ZHANG, Clock, admin, broken_off, scan, zhang
from ..scripted import ScriptedModel, answer, said

HOUR, DAY = 3_600.0, 86_400.0
MIDNIGHT = T0 + 6_400.0
"""The one that follows T0 (22:13) in China."""
TOOL = ToolSchema("save", "", {"type": "object"})
CATS = answer(said("U1", "likes", "猫", "张三喜欢猫", 1))


@pytest.fixture
async def spending(journal: Journal, clock: Clock) -> AsyncIterator[TokenBudget]:
    spending = TokenBudget(journal, CHINA, clock)
    yield spending
    await spending.close()


async def written(journal: Journal, clock: Clock) -> dict[str, Cost]:
    """What was written down of this day."""
    again = TokenBudget(journal, CHINA, clock)
    await again.load()
    return again.today().costs


async def test_every_purpose_has_its_own_count_and_a_day_ends_at_midnight(spending, clock):
    assert spending.today() == Account()
    spending.add("learn", 100, 10)
    spending.add("learn", 1, 1)
    spending.add("records", 5, 0)
    account = spending.today()
    assert account.costs == {"learn": Cost(2, 101, 11), "records": Cost(1, 5, 0)}
    assert account.tokens == 117
    clock.now = MIDNIGHT - 1
    assert spending.today() == account
    clock.now = MIDNIGHT
    assert spending.today().costs == {}


async def test_a_restart_does_not_reset_the_day(journal, spending, clock):
    for _ in range(50):
        spending.add("learn", 100, 10)
    await spending.close()
    assert await written(journal, clock) == {"learn": Cost(50, 5_000, 500)}


async def test_what_several_count_adds_up(journal, spending, clock):
    other = TokenBudget(journal, CHINA, clock)
    for number in range(10):
        (spending, other)[number % 2].add("learn", 10, 1)
        other.add("records", 1, 1)
        if number % 3 == 0:
            await spending.close()
    await other.close()
    await spending.close()
    assert await written(journal, clock) == {
        "learn": Cost(10, 100, 10),
        "records": Cost(10, 10, 10),
    }


async def test_what_could_not_be_written_down_is_added_later(journal, spending, clock):
    with broken_off(journal, 0):
        for _ in range(2):
            spending.add("learn", 10, 1)
            await asyncio.sleep(0.05)
    spending.add("learn", 10, 1)
    await spending.close()
    assert await written(journal, clock) == {"learn": Cost(3, 30, 3)}


async def test_what_a_provider_does_not_count_is_estimated(spending: TokenBudget) -> None:
    uncounted = ScriptedModel(["好的", {"worth": True}], cost=(0, 0))
    for _ in range(2):
        await spending.metered(uncounted, "learn").ask("系统", "问题", tool=TOOL)
    given = tokens("系统问题" + json.dumps(TOOL.parameters))
    out = tokens("好的") + tokens(json.dumps({"worth": True}))
    assert spending.today().costs == {"learn": Cost(2, 2 * given, out)}
    await spending.metered(ScriptedModel(["好"], cost=(7, 3)), "rewrite").ask("", "x")
    assert spending.today().costs["rewrite"] == Cost(1, 7, 3)


async def test_what_stands_below_talk_of_a_password_is_none(spending: TokenBudget) -> None:
    model = ScriptedModel(["好"])
    chat = "[9] U1: 我忘了那个密码\n2026-11-29 周日\n[100] U1: 我想改密码\n</chat>"
    await spending.metered(model, "learn").ask("", f"{chat}\n密码是 hunter2!")
    assert model.calls[0].prompt == f"{chat}\n密码是 ••••••!"


async def test_a_failure_is_a_call_that_cost_nothing(spending: TokenBudget) -> None:
    with pytest.raises(ExtractionError):
        await spending.metered(ScriptedModel([None]), "learn").ask("系统", "问题")
    assert spending.today().costs == {"learn": Cost(1)}


async def test_the_journal_may_be_closed_meanwhile(journal, spending, caplog):
    await journal.close()
    with caplog.at_level(logging.INFO):
        spending.add("learn", 1, 1)
        await spending.close()
    assert spending.today().tokens == 2
    assert caplog.records == []


async def test_beyond_the_limit_no_model_is_asked(journal: Journal, clock: Clock) -> None:
    spending = TokenBudget(journal, CHINA, clock, 100)
    model = spending.metered(ScriptedModel(lambda _: "好", cost=(60, 30)), "learn")
    await model.ask("", "一")
    assert spending.blocked_for == 0
    await model.ask("", "二")  # the limit is looked at before, a call is never cut short
    assert spending.blocked_for == MIDNIGHT - T0
    with pytest.raises(HeldBackError, match="100 tokens"):
        await model.ask("", "三")
    assert spending.today().costs == {"learn": Cost(2, 120, 60)}
    clock.now = MIDNIGHT
    assert spending.blocked_for == 0
    await model.ask("", "四")
    await spending.close()


def opened(
    directory: Path, clock: Clock, model: ScriptedModel, limit: int, **more: Any
) -> AbstractAsyncContextManager[MemoryService]:
    settings = Settings(daily_llm_tokens=limit, buffer_size_private=2, **more)
    return world.opened(directory, settings, zone=CHINA, now=clock, model=model)


async def facts(service: MemoryService) -> list[str]:
    found = await scan(service.journal, Fact)
    return [fact.statement for fact in found]


async def test_learning_waits_visibly_and_goes_on_after_midnight(tmp_path, clock):
    model = ScriptedModel([CATS])
    async with opened(tmp_path, clock, model, 10_000) as service:
        service.spending.add("learn", 9_000, 1_000)
        await service.learning.hear(Turn(HOME, ZHANG, "张三", "我喜欢猫"))
        assert await service.learning.flush() == 0
        await service.learning.settle()
        (batch,) = await service.journal.queue()
        assert (batch.state, batch.attempts, batch.error) == ("waiting", 0, "")
        assert model.calls == []
        status = await Commands(service).status(admin)
        assert "学习 1 次 10000 token；共 10000 token，上限 10000" in status
        assert "⏸" in status
        assert "零点" in await Commands(service).flush(admin)
        clock.now = MIDNIGHT
        await service.learning.settle()
        assert await facts(service) == ["张三喜欢猫"]
        assert "⏸" not in await Commands(service).status(admin)


async def test_a_restart_keeps_the_cap_and_a_higher_setting_lifts_it(tmp_path, clock):
    model = ScriptedModel([CATS])
    async with opened(tmp_path, clock, model, 10_000) as service:
        service.spending.add("learn", 10_000, 0)
        await service.learning.hear(Turn(HOME, ZHANG, "张三", "我喜欢猫"))
        await service.learning.flush()
    async with opened(tmp_path, clock, model, 10_000) as service:
        await service.learning.settle()
        assert model.calls == []
    async with opened(tmp_path, clock, model, 20_000) as service:
        await service.learning.settle()
        assert await facts(service) == ["张三喜欢猫"]


async def test_nobody_uses_up_the_day_for_all_others(tmp_path: Path, clock: Clock) -> None:
    model = ScriptedModel()
    async with opened(tmp_path, clock, model, 10_000) as service:
        learning, commands = service.learning, Commands(service)
        for session, account in ((HOME, ZHANG), (HERS, LI)):
            await learning.hear(Turn(session, account, account, "你好"))
        half = Answer("", tokens_in=5_000)  # half of the day, for one of two people
        service.spending.charge({ZHANG: 9}, "", half)
        async with asyncio.timeout(5):
            (kept,) = await learning.remember(Turn(HOME, ZHANG, "张三", "我对花生过敏"))
            await learning.remember(Turn(HERS, LI, "李四", "我对花生过敏"))
        assert kept.statement == "张三：我对花生过敏", "as it was said, without the model"
        assert [call.where for call in model.calls] == [HERS.umo], "the others go on"
        (waiting,) = await service.journal.queue()
        assert (waiting.session, waiting.state, waiting.attempts) == (HOME.id, "waiting", 0)
        assert "1 批等到零点再学" in await commands.status(admin)
        assert await learning.flush(HOME.circle) == 1, "an admin may have it learned"
        assert "等到零点再学" not in await commands.status(admin)
        async with asyncio.timeout(5):
            await learning.remember(Turn(HOME, ZHANG, "张三", "我怕蛇"))
        assert len(await service.journal.queue()) == 1
        clock.now = MIDNIGHT
        await learning.settle()
        assert await service.journal.queue() == []


async def test_who_is_alone_may_use_the_whole_day(journal: Journal, clock: Clock) -> None:
    spending = TokenBudget(journal, CHINA, clock, 100)
    for people, share in ((1, 100), (2, 50), (3, 34), (4, 25), (99, 25)):
        who = f"person {people}"
        spending.people = {f"person {number}" for number in range(people)}
        spending.charge({who: 5}, "", Answer("", tokens_in=share - 1))
        assert spending.share_blocked_for(who) == 0
        spending.charge({who: 5}, "", Answer("", tokens_in=1))
        assert spending.share_blocked_for(who) == MIDNIGHT - T0
    clock.now = MIDNIGHT
    assert spending.share_blocked_for("person 99") == 0
    await spending.close()
    kept = await journal.look(lambda db: db.execute("SELECT * FROM spending").fetchall())
    assert "person" not in str(kept), "who chats how much is not kept"


async def test_who_says_little_beside_a_flood_is_charged_little(journal, clock):
    spending = TokenBudget(journal, CHINA, clock, 400)
    spending.charge({ZHANG: 9_900, LI: 100}, "", Answer("", tokens_in=200))
    spending.people = {f"person {number}" for number in range(9)}
    assert spending.share_blocked_for(ZHANG) > 0
    assert spending.share_blocked_for(LI) == 0


async def test_no_limit(tmp_path: Path, clock: Clock) -> None:
    async with opened(tmp_path, clock, ScriptedModel([CATS]), 0) as service:
        service.spending.add("learn", 10**9, 0)
        await service.learning.hear(Turn(HOME, ZHANG, "张三", "我喜欢猫"))
        assert await service.learning.flush() == 1
        assert "上限 不限" in await Commands(service).status(admin)


async def test_what_is_to_be_remembered_is_kept_verbatim_at_once(tmp_path, clock):
    model = ScriptedModel()
    async with opened(tmp_path, clock, model, 10_000) as service:
        service.spending.add("learn", 10_000, 0)
        async with asyncio.timeout(5):
            await Commands(service).remember(replace(zhang, text="我对花生过敏"))
        assert await facts(service) == ["张三：我对花生过敏"]
        assert model.calls == []
