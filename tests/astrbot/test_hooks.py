"""What the hooks do with a message that is taken back while it is being answered."""
# isort: skip_file
# (AstrBot's root is set before AstrBot is imported.)

from dataclasses import replace

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from .. import astrbot_root  # noqa: F401
from astrbot.api.message_components import Image
from astrbot.core.agent.runners.tool_loop_agent_runner import ToolLoopAgentRunner
from astrbot.core.provider.entities import LLMResponse, ProviderRequest

from graph_memory.companion import Word
from graph_memory.astrbot.adapter import STATE, EventState, state_of
from graph_memory.astrbot import handlers, hooks
from graph_memory.model import BOT
from graph_memory.companion import FollowUp

from ..world import HOME, World, zhang
from ..scripted import Voice
from .test_control import Event
from .test_host import Event as Heard, host
from graph_memory.model import Turn

NOBODY: Any = None
"""A host that is not asked for anything."""
WISH = '好的。\n<PROACTIVE>{"delay_seconds":180,"reason":"问问他好点没"}'


async def said(world: World) -> list[str]:
    found = await world.memory.journal.look(
        lambda db: db.execute("SELECT sender, text FROM message ORDER BY id").fetchall()
    )
    return [text for sender, text in found if sender == BOT]


async def asked(world: World) -> Event:
    """张三 says something, and the model is asked."""
    world.speak(Voice())
    message = await world.memory.learning.hear(
        Turn(HOME, zhang.user, zhang.name, "我今天感冒了", ref="7@1")
    )
    return Event(**{STATE: EventState(replace(zhang, message=message), words=frozenset(Word))})


async def test_the_answer_is_kept_with_what_it_intends(world: World) -> None:
    await hooks.reply(NOBODY, world.memory, await asked(world), LLMResponse("assistant", WISH))
    assert await said(world) == ["好的。"]
    assert len(await world.rows(FollowUp)) == 1


async def test_who_is_back_with_a_picture_is_not_come_back_to(world: World) -> None:
    await hooks.reply(NOBODY, world.memory, await asked(world), LLMResponse("assistant", WISH))
    for parts, waits in (([], 1), ([Image("file:///soup.png")], 0)):
        event = Heard(sender=zhang.user.partition(":")[2])
        event.message_str, event.get_messages = "", lambda parts=parts: parts
        state_of(event).turn = zhang
        await hooks.hear(host(), world.memory, event)
        assert len(await world.memory.companion.proactive.standing(HOME)) == waits


async def test_of_a_run_that_was_stopped_there_is_no_answer(world: World) -> None:
    stopped = LLMResponse("assistant", ToolLoopAgentRunner.USER_INTERRUPTION_MESSAGE)
    await hooks.reply(NOBODY, world.memory, await asked(world), stopped)
    assert await said(world) == []


async def test_of_what_was_taken_back_no_answer_is_kept(world: World) -> None:
    event = await asked(world)
    assert await world.memory.library.retract(HOME.circle, "7")
    response = LLMResponse("assistant", WISH)
    await hooks.reply(NOBODY, world.memory, event, response)
    assert response.completion_text == "好的。"  # words are taken out all the same
    assert await said(world) == []
    assert await world.rows(FollowUp) == []


async def test_of_what_is_not_to_be_kept_nothing_is_and_who_says_it_is_back(world: World) -> None:
    await hooks.reply(NOBODY, world.memory, await asked(world), LLMResponse("assistant", WISH))
    event = Heard(sender=zhang.user.partition(":")[2])
    event.message_str = "别记这个 我今天抽烟了"
    state_of(event).turn = replace(zhang, text=event.message_str)
    await hooks.hear(host(), world.memory, event)
    await hooks.reply(NOBODY, world.memory, event, LLMResponse("assistant", "抽烟的事我不记。"))
    assert await said(world) == ["好的。"]
    kept = await world.memory.journal.newest_messages(9)
    assert all("抽烟" not in message.text for message in kept)
    assert await world.memory.companion.proactive.standing(HOME) == []


async def test_a_disk_that_is_stuck_holds_no_answer_up(world, monkeypatch):
    monkeypatch.setattr(hooks, "LOOK_TIMEOUT", 0.05)
    stuck, moves = threading.Event(), threading.Event()

    def wait(_db: object) -> None:
        stuck.set()
        moves.wait(30)

    event = await asked(world)
    reading = asyncio.create_task(world.memory.journal.look(wait))
    await asyncio.to_thread(stuck.wait)
    try:
        async with asyncio.timeout(10):
            await hooks.reply(NOBODY, world.memory, event, LLMResponse("assistant", "好的。"))
    finally:
        moves.set()
        await reading
    assert await said(world) == ["好的。"]


async def test_to_what_was_taken_back_nothing_is_added(world: World) -> None:
    event = await asked(world)
    await hooks.reply(NOBODY, world.memory, event, LLMResponse("assistant", "好。\n<WANT_MORE>"))
    assert await world.memory.library.retract(HOME.circle, "7")
    state_of(event).run = object()
    await hooks.go_on(NOBODY, world.memory, event)
    assert await said(world) == []


@pytest.mark.parametrize(("module", "is_on"), [("memory", True), ("other", False)])
async def test_a_chat_for_which_the_plugin_is_off_is_left_alone(world, monkeypatch, module, is_on):
    """AstrBot leaves out the hearing there, and calls all the other hooks."""
    monkeypatch.setattr(handlers, "PLUGIN", "data.plugins.memory.")
    astrbot, blocks = host(), list[str]()
    monkeypatch.setattr(astrbot, "inject", lambda _event, _request, block: blocks.append(block))
    event, told = Heard(), Heard()
    told.message_str = "我对花生过敏"
    await hooks.hear(astrbot, world.memory, told)
    await world.memory.recall.settle()
    event.extras["activated_handlers"] = [
        SimpleNamespace(handler_module_path=f"data.plugins.{module}.main")
    ]
    await hooks.remind(astrbot, world.memory, event, ProviderRequest(prompt="我对什么过敏"))
    await hooks.reply(astrbot, world.memory, event, LLMResponse("assistant", "花生。"))
    assert (len(blocks), len(await said(world))) == (is_on, is_on)


async def test_a_file_alone_asks_nothing(world, monkeypatch):
    astrbot, asked = host(), list[str]()

    async def remind(_asker: object, query: str, _options: object) -> SimpleNamespace:
        asked.append(query)
        return SimpleNamespace(block="")

    monkeypatch.setattr(world.memory.recall, "remind", remind)
    for prompt in ("<attachment>", "总结一下"):
        event = Heard()
        event.message_str = ""
        await hooks.remind(astrbot, world.memory, event, ProviderRequest(prompt=prompt))
    assert asked == ["", "总结一下"]
