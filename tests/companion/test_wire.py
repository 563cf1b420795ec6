"""With the companion off, nothing that goes to a model or is kept tells that there is one.

Conversations pass through the hooks as AstrBot calls them, with AstrBot's own requests.
What the models are given is searched, and compared with what they are given when a part is
on. The way through a running AstrBot is in ``tests/e2e``.
"""
# isort: skip_file
# (AstrBot's root is set before AstrBot is imported.)

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from .. import astrbot_root  # noqa: F401
from astrbot.core.agent.message import AssistantMessageSegment, Message
from astrbot.core.provider.entities import LLMResponse, ProviderRequest

from graph_memory.astrbot import hooks
from graph_memory.astrbot.adapter import state_of
from graph_memory.locales import TEXTS
from graph_memory.settings import PARTS
from graph_memory.model import Turn

from ..astrbot.test_control import Event
from ..cases import rows
from ..makers import QQ
from ..scripted import answer, said
from ..world import SETTINGS, World, living, li, zhang, zhang_in_club

pytestmark = pytest.mark.slow

PERSONA = "你是小梅，说话简短。"
MORE: dict[str, Any] = {
    "mood": {"valence": -0.3, "arousal": 0.3},
    "inner": {"self": "我想多听他说", "user": "嘴硬心软", "bond": "更近了"},
    "core": [{"type": "fact", "text": "怕黑", "about": "U1", "evidence": "1"}],
    "core_used": "C1",
}
"""What a model that learns may say unasked."""
CALLERS = {"zhang": zhang, "li": li, "club": zhang_in_club}
TALK = [(CALLERS[who], text, answered) for who, text, answered in rows(__file__, "talk")]
"""Who says what, and what a model that chats may answer untaught."""


def host(turn: Turn) -> Any:
    """AstrBot, as far as the hooks ask it; who speaks is known."""

    async def who(event: Any, _request: Any = None) -> Turn:
        return state_of(event).turn or turn

    def inject(_event: Any, request: ProviderRequest, block: str) -> None:
        request.system_prompt += f"\n\n{block}"

    return SimpleNamespace(
        notice=lambda event: "", turn=who, inject=inject, is_local=lambda umo: True,
        offer_tools=lambda request: None, context_of=lambda request: ([], ""),
    )  # fmt: skip


async def exchange(world: World, caller: Turn, text: str, response: str) -> list[str]:
    """One message and its answer; what the model was given, and what is kept and sent."""
    event, memory, astrbot = Event(), world.memory, host(replace(caller, text=text))
    event.message_str = text  # type: ignore[attr-defined]
    event.get_platform_name, event.get_self_id = lambda: QQ, lambda: "999"  # type: ignore
    request = ProviderRequest(prompt=text, system_prompt=PERSONA)
    await hooks.hear(astrbot, memory, event)
    await memory.settle()
    await hooks.remind(astrbot, memory, event, request)
    given = LLMResponse("assistant", response)
    await hooks.reply(astrbot, memory, event, given)
    history = [Message(role="user", content=text), AssistantMessageSegment(content=response)]
    await hooks.settle(astrbot, memory, event, SimpleNamespace(messages=history))
    world.later(30)
    streamed = repr(event.get_extra("enable_streaming"))
    kept = [given.completion_text, *(str(message.content) for message in history)]
    return [request.system_prompt, str(request.prompt), streamed, *kept]


async def held(path: Path, *parts: str) -> list[str]:
    """Hold the conversations; all that went to models, was sent and was kept."""
    async with living(path, replace(SETTINGS, companion=parts)) as world:
        found: list[str] = []
        for number, (caller, text, response) in enumerate(TALK):
            found += await exchange(world, caller, text, response)
            if number in (2, 6):
                liked = said("U1", "likes", "登山", "张三喜欢登山", 1)
                world.model.script += [answer(liked, summary="聊了登山") | MORE] * 3
                await world.learn()
                world.model.script.clear()
                world.later(20 * 3_600)
        found += [
            json.dumps([call.system, call.prompt, str(call.tool)], ensure_ascii=False)
            for call in world.model.calls
        ]
        return found


def its_texts() -> set[str]:
    """What the companion tells models, up to the first placeholder; not the words themselves."""
    keys = ("lead_", "control_", "inner_seed_", "mood_")
    texts = [text for each in TEXTS.values() for key, text in each.items() if key.startswith(keys)]
    begun = {line.split("{")[0].strip() for text in texts for line in text.splitlines()}
    return {text for text in begun if len(text) > 5 and not text.startswith("<")}


async def test_off_nothing_of_it_goes_to_a_model(tmp_path: Path) -> None:
    found = await held(tmp_path)
    assert len(its_texts()) > 20
    assert not [text for text in its_texts() if text in "\n".join(found)]
    asked = [each for each in found if each.startswith("[")]
    assert len(asked) >= 4
    assert not [field for field in MORE for each in asked if f"'{field}'" in each]
    # And it is something that is searched.
    assert sum("<memories>" in each for each in found) >= 2
    for _, _, response in TALK:
        assert found.count(response) >= 2, "sent and kept, byte for byte"
    assert "False" not in found, "streaming is left alone"


async def test_each_part_would_be_noticed(tmp_path: Path) -> None:
    off = await held(tmp_path / "off")
    assert await held(tmp_path / "again") == off
    for part in PARTS:
        assert await held(tmp_path / part, part) != off, part
