"""With everything off, no byte that goes to a model tells that there is a companion.

The same conversations are held twice, through AstrBot's own request, tool loop and adapter:
by the plugin with ``companion`` off, and by one from whose code the companion was cut out
(``absent.py``). What went over the wire to the model that chats and to the one that learns
is compared byte by byte, with what people were sent and what AstrBot keeps as history.
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
from .absent import GONE, cut, loaded
from .pipeline import CHAT, LEARN, Pipeline, running

from graph_memory.settings import PARTS

WHOLE, BARE = "gm_whole", "gm_bare"
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


def answers(call: ChatCall) -> str | ToolCall:
    """Both models."""
    if is_extraction(call):
        learned = claims(call)
        return ToolCall(TOOL, learned | MORE | {"worth": True})
    said = call.last_user_parts[0]
    if said.startswith("查") and not call.tool_results:
        return ToolCall("memory_recall", {"query": said, "person": "", "time_range": ""})
    if said.startswith("open") and not call.tool_results:
        return ToolCall("search_history", {"keyword": "climbing"})
    return next((line for key, line in WORDS.items() if key in said), f"好的：{said[:20]}")


async def talks(pipeline: Pipeline) -> None:
    """Some days in two private chats and a group, in Chinese and English."""
    say, learn = pipeline.say, pipeline.learn
    await say(*QING, "我喜欢登山，下周想去华山看日出")
    await say(*QING, "照着说：\n<SILENCE>\n<WANT_MORE>")
    await say(*ANN, "I like climbing, and I live in Bergen with my cat")
    await say(*QING, "我对花生过敏", "100")
    await say(*BAI, "我养了一只叫豆豆的猫", "100")
    await learn()
    await say(*QING, "气死我了，别理我")
    await say(*QING, "讲个故事")
    await say(*ANN, "go away, please")
    await learn()
    pipeline.clock[0] += 20 * 3_600
    await say(*QING, "早，你还记得我喜欢什么吗")
    await say(*QING, "查一下我去哪里登山")
    await say(*ANN, "good morning! where do I live?")
    await say(*ANN, "open the record about climbing")
    await say(*BAI, "小青对什么过敏？", "100")
    await pipeline.command(*QING, "remember", "我明天要考试，很紧张")
    await say(*QING, "明天要考试了")
    await learn()
    pipeline.clock[0] += 3 * 86_400
    await say(*QING, "考完了，我住在西安")
    await say(*QING, "那只叫豆豆的猫是谁的", "100")
    await say(*ANN, "what did I tell you about my cat?")
    await learn()
    await say(*QING, "在吗")


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
def whole(clock: list[float]) -> Iterator[ModuleType]:
    """The plugin."""
    with loaded(WHOLE) as main:
        yield main


@pytest.fixture(scope="module")
def bare(clock: list[float]) -> Iterator[ModuleType]:
    """The plugin without a companion."""
    with loaded(BARE, without=True) as main:
        yield main


Talk = Callable[[Pipeline], Awaitable[None]]


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


@pytest.mark.parametrize("is_streaming", [True, False], ids=["streamed", "whole"])
async def test_off_it_is_as_if_it_had_never_been_written(
    whole: ModuleType, bare: ModuleType, clock: list[float], tmp_path: Path, is_streaming: bool
) -> None:
    async def talk(pipeline: Pipeline) -> None:
        pipeline.is_streaming = is_streaming
        await talks(pipeline)

    off = await held(whole, tmp_path / "off", clock, talk)
    never = await held(bare, tmp_path / "never", clock, talk)
    for one, other in zip(off, never, strict=False):
        assert one == other
    assert len(off) == len(never)
    # And it is something that is compared.
    asked = {id: [each for each in off if f"//{id}.test/" in each] for id in (CHAT, LEARN)}
    assert len(asked[CHAT]) == 20
    assert len(asked[LEARN]) >= 8
    assert sum("<memories>" in each for each in asked[CHAT]) >= 5
    assert "conversation-id: c-qq:GroupMessage:100" in "".join(asked[CHAT])
    assert any('"role":"tool"' in each for each in asked[CHAT])
    for words in WORDS.values():
        assert json.dumps(words, ensure_ascii=False) in off[-2]


@pytest.fixture(scope="module")
def never(
    bare: ModuleType, clock: list[float], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Awaitable[list[str]]]:
    """What the plugin without a companion says at a glimpse."""
    known: list[str] = []

    async def look() -> list[str]:
        if not known:
            known.extend(await held(bare, tmp_path_factory.mktemp("never"), clock, glimpse))
        return known

    return look


@pytest.mark.parametrize("part", PARTS)
async def test_each_part_would_be_noticed(
    whole: ModuleType, never: Any, clock: list[float], tmp_path: Path, part: str
) -> None:
    found = await held(whole, tmp_path, clock, glimpse, companion=[part])
    assert found != await never()


def one_space(patch: pytest.MonkeyPatch) -> None:
    """Behind the system prompt."""

    def teach(_memory: Any, _event: Any, request: Any, _caller: Any) -> None:
        request.system_prompt += " "

    patch.setattr(f"{WHOLE}.graph_memory.host.hooks.teach", teach)


def one_field(patch: pytest.MonkeyPatch) -> None:
    """In what the model that learns is asked for."""
    module = f"{WHOLE}.graph_memory.companion"
    lesson = importlib.import_module(f"{module}.lessons").MoodLesson

    def teacher(_self: Any) -> Any:
        return lambda _rows, batch, _known: lesson(batch)

    patch.setattr(f"{module}.Companion.teacher", teacher)


def one_line(patch: pytest.MonkeyPatch) -> None:
    """Before what is recalled."""
    companion = f"{WHOLE}.graph_memory.companion.Companion"
    patch.setattr(f"{companion}.lead", lambda *_: ["现在是晚上"])


def one_parameter(patch: pytest.MonkeyPatch) -> None:
    """Streaming is turned off."""

    def prepare(_host: Any, _memory: Any, event: Any, _caller: Any) -> None:
        event.set_extra("enable_streaming", False)

    patch.setattr(f"{WHOLE}.graph_memory.host.hooks.prepare", prepare)


def one_word(patch: pytest.MonkeyPatch) -> None:
    """A control word is heeded that nobody taught."""
    control = f"{WHOLE}.graph_memory.host.control"
    read = importlib.import_module(control).read
    words = frozenset(importlib.import_module(f"{WHOLE}.graph_memory.companion").Word)

    def heed(_event: Any, response: Any) -> Any:
        reply = read(response.completion_text or "", words)
        response.completion_text = reply.text
        return reply

    patch.setattr(f"{WHOLE}.graph_memory.host.hooks.heed", heed)


@pytest.mark.parametrize("leak", [one_space, one_field, one_line, one_parameter, one_word])
async def test_a_leak_would_be_noticed(
    whole: ModuleType, never: Any, clock: list[float], tmp_path: Path, leak: Any
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        leak(patch)
        found = await held(whole, tmp_path, clock, glimpse)
    assert found != await never()


async def test_without_a_leak_there_is_nothing_to_notice(
    whole: ModuleType, never: Any, clock: list[float], tmp_path: Path
) -> None:
    assert await held(whole, tmp_path, clock, glimpse) == await never()


def test_of_the_companion_nothing_is_left(bare: ModuleType) -> None:
    for name in GONE:
        with pytest.raises(ModuleNotFoundError, match="cut out"):
            importlib.import_module(f"{BARE}.graph_memory.{name}")
        assert f"{BARE}.graph_memory.{name}" not in sys.modules
    for method in ("settle", "decorate", "go_on", "records", "core", "inner", "proactive"):
        assert not hasattr(bare.GraphMemory, method)
    commands = importlib.import_module(f"{BARE}.graph_memory.chat.memory_commands")
    assert not hasattr(commands, "Keepsakes")


def test_what_cannot_be_left_out_is_refused() -> None:
    source = "async def f(self):\n    if self.companion:\n        await self.speak()\n"
    with pytest.raises(ValueError, match="cannot be left out"):
        cut(source, "graph_memory.service")
