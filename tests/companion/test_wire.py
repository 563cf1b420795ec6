"""With the companion off, no byte that goes to a model tells that there is one.

Conversations are held through AstrBot's own request, tool loop and adapter. What goes over
the wire is searched for anything of the companion's, and compared with what goes when a part
is on, or when something leaks.
"""
# isort: skip_file
# (AstrBot's root is set before AstrBot is imported.)

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .. import astrbot_root  # noqa: F401
from ..e2e.extractor import TOOL, claims, is_extraction
from ..e2e.harness import ChatCall, ToolCall
from ..makers import T0
from .pipeline import CHAT, LEARN, Pipeline, running

from graph_memory.companion.parts import Lead
from graph_memory.locales import TEXTS
from graph_memory.settings import PARTS
from tests.sources import ROOT

pytestmark = pytest.mark.slow

PACKAGE = "gm_wire.plugin"
OFF: dict[str, Any] = {
    "companion": [],
    "llm_provider_id": LEARN,
    "webui_port": 0,
    "local_embedding_model": "none",
    "recall_deadline": 10_000,
    "buffer_size_private": 200,
    "buffer_size_group": 200,
    "buffer_timeout": 86_400,
    "quiet_hours": "",
}
MORE = {
    "mood": {"valence": -0.3, "arousal": 0.3},
    "inner": {"self": "我想多听他说", "user": "嘴硬心软", "bond": "更近了"},
    "core": [{"type": "fact", "text": "怕黑", "about": "U1", "evidence": "1"}],
    "core_used": "C1",
}
"""What a model that learns may say unasked."""
WORDS = {
    "别理我": "<SILENCE>",
    "讲个故事": "从前有座山。\n<WANT_MORE>",
    "要考试": '加油。\n<PROACTIVE>{"delay_seconds":10,"reason":"问问考得怎么样"}',
    "go away": "<SILENCE>",
}
"""What a model that chats may say untaught."""
QING, BAI, ANN = ("1", "小青"), ("2", "小白"), ("3", "Ann")
Talk = Callable[[Pipeline], Awaitable[None]]


def answers(call: ChatCall) -> str | ToolCall:
    """Both models."""
    if is_extraction(call):
        return ToolCall(TOOL, claims(call) | MORE | {"worth": True})
    said = call.last_user_parts[0]
    return next((line for key, line in WORDS.items() if key in said), f"好的：{said[:20]}")


async def talks(pipeline: Pipeline) -> None:
    """Some days in two private chats and a group, in Chinese and English."""
    say, learn = pipeline.say, pipeline.learn
    await say(*QING, "我喜欢登山，下周想去华山看日出")
    await say(*ANN, "I like climbing, and I live in Bergen with my cat")
    await say(*BAI, "我养了一只叫豆豆的猫", "100")
    await learn()
    await say(*QING, "气死我了，别理我")
    await say(*QING, "讲个故事")
    await say(*ANN, "go away, please")
    await say(*QING, "明天要考试了")
    await learn()
    pipeline.clock[0] += 20 * 3_600
    await say(*QING, "早，你还记得我喜欢什么吗")
    await say(*ANN, "good morning! where do I live?")
    await say(*QING, "那只叫豆豆的猫是谁的", "100")


async def glimpse(pipeline: Pipeline) -> None:
    """Enough for each part to show."""
    await pipeline.say(*QING, "我喜欢登山")
    await pipeline.say(*QING, "讲个故事")
    await pipeline.learn()


@pytest.fixture(scope="module")
def clock() -> Iterator[list[float]]:
    """The time of everything that is imported meanwhile."""
    now = [T0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: now[0])
        yield now


@pytest.fixture(scope="module")
def main(clock: list[float]) -> Iterator[ModuleType]:
    """The plugin, as a part of a package."""
    for name, folder in (("gm_wire", ROOT.parent), (PACKAGE, ROOT)):
        module = ModuleType(name)
        module.__path__ = [str(folder)]
        sys.modules[name] = module
    sys.modules["gm_wire"].plugin = sys.modules[PACKAGE]  # type: ignore[attr-defined]
    yield importlib.import_module(f"{PACKAGE}.main")
    for name in [n for n in sys.modules if n == "gm_wire" or n.startswith("gm_wire.")]:
        del sys.modules[name]


async def held(
    main: ModuleType, path: Path, clock: list[float], talk: Talk, **settings: Any
) -> list[str]:
    """Hold a conversation; everything that went out, and what was kept."""
    clock[0] = T0
    async with running(main, path, answers, clock, OFF | settings) as pipeline:
        await talk(pipeline)
        kept = (pipeline.sent, pipeline.histories)
        return [
            *(request.decode() for request in pipeline.wire.sent),
            *(json.dumps(each, ensure_ascii=False) for each in kept),
        ]


def its_texts() -> set[str]:
    """What the companion tells models, up to the first placeholder; not the words themselves."""
    keys = ("lead_", "control_", "inner_seed_", "mood_")
    texts = [text for each in TEXTS.values() for key, text in each.items() if key.startswith(keys)]
    begun = {line.split("{")[0].strip() for text in texts for line in text.splitlines()}
    return {text for text in begun if len(text) > 5 and not text.startswith("<")}


@pytest.mark.parametrize("is_streaming", [True, False], ids=["streamed", "whole"])
async def test_off_nothing_of_it_goes_over_the_wire(
    main: ModuleType, clock: list[float], tmp_path: Path, is_streaming: bool
) -> None:
    async def talk(pipeline: Pipeline) -> None:
        pipeline.is_streaming = is_streaming
        await talks(pipeline)

    *requests, sent, histories = await held(main, tmp_path, clock, talk)
    wire = "".join(requests)
    assert len(its_texts()) > 20
    assert not [text for text in its_texts() if text in wire]
    learned = [json.loads(each.split("\n\n", 1)[1]) for each in requests if f"//{LEARN}." in each]
    assert len(learned) >= 4
    for request in learned:
        asked = request["tools"][0]["function"]["parameters"]["properties"]
        assert not MORE.keys() & asked.keys()
    # And it is something that is searched.
    chats = [each for each in requests if f"//{CHAT}.test/" in each]
    assert sum("<memories>" in each for each in chats) >= 2
    for words in WORDS.values():
        assert json.dumps(words, ensure_ascii=False) in sent
        assert json.dumps(words, ensure_ascii=False) in histories


@pytest.fixture(scope="module")
def off(
    main: ModuleType, clock: list[float], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Awaitable[list[str]]]:
    """A glimpse of the plugin with the companion off."""
    known: list[str] = []

    async def look() -> list[str]:
        if not known:
            known.extend(await held(main, tmp_path_factory.mktemp("off"), clock, glimpse))
        return known

    return look


@pytest.mark.parametrize("part", PARTS)
async def test_each_part_would_be_noticed(
    main: ModuleType, off: Any, clock: list[float], tmp_path: Path, part: str
) -> None:
    assert await held(main, tmp_path, clock, glimpse, companion=[part]) != await off()


def one_space(patch: pytest.MonkeyPatch) -> None:
    """Behind the system prompt."""

    def teach(_memory: Any, _event: Any, request: Any, _turn: Any) -> None:
        request.system_prompt += " "

    patch.setattr(f"{PACKAGE}.graph_memory.astrbot.hooks.teach", teach)


def one_line(patch: pytest.MonkeyPatch) -> None:
    """Before what is recalled."""
    leading = f"{PACKAGE}.graph_memory.companion.parts.Lead"
    patch.setattr(leading, lambda: Lead(["现在是晚上"]))


def one_parameter(patch: pytest.MonkeyPatch) -> None:
    """Streaming is turned off."""

    def prepare(_host: Any, _memory: Any, event: Any, _turn: Any) -> None:
        event.set_extra("enable_streaming", False)

    patch.setattr(f"{PACKAGE}.graph_memory.astrbot.hooks.prepare", prepare)


@pytest.mark.parametrize("leak", [one_space, one_line, one_parameter])
async def test_a_leak_would_be_noticed(
    main: ModuleType, off: Any, clock: list[float], tmp_path: Path, leak: Any
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        leak(patch)
        found = await held(main, tmp_path, clock, glimpse)
    assert found != await off()


async def test_without_a_leak_there_is_nothing_to_notice(
    main: ModuleType, off: Any, clock: list[float], tmp_path: Path
) -> None:
    assert await held(main, tmp_path, clock, glimpse) == await off()
