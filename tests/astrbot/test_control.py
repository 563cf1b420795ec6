"""Control words in what AstrBot hands to the hooks."""
# isort: skip_file
# (AstrBot's root is set before AstrBot is imported.)

from types import SimpleNamespace
from typing import Any

import pytest

from .. import astrbot_root  # noqa: F401
from astrbot.api.event import MessageChain, MessageEventResult
from astrbot.api.message_components import Image, Plain
from astrbot.core.agent.message import AssistantMessageSegment, Message, TextPart
from astrbot.core.provider.entities import LLMResponse, ProviderRequest

from graph_memory.companion import Word
from graph_memory.astrbot import hooks
from graph_memory.astrbot.adapter import EventState
from graph_memory.model import session_of

from .test_host import Event as Heard

NOBODY: Any = None
HOME = session_of("aiocqhttp", "", "1", "mei")
caller: Any = SimpleNamespace(session=HOME)


class Event(Heard):
    """A message, and what is sent in answer to it."""

    result: MessageEventResult | None = None

    def __init__(self, **extras: Any) -> None:
        super().__init__(sender="1")
        self.extras = extras

    def get_result(self) -> MessageEventResult | None:
        return self.result


def memory(*words: Word) -> Any:
    companion = SimpleNamespace(words=lambda session: frozenset(words))
    return SimpleNamespace(companion=companion, settings=SimpleNamespace(language="zh"))


def taught(*words: Word) -> Event:
    """An event in which the model was taught some words."""
    event = Event(enable_streaming=False, graph_memory=EventState(is_whole=True))
    hooks.teach(memory(*words), event, ProviderRequest(prompt="你好"), caller)
    return event


def test_teaching() -> None:
    event = Event()
    host: Any = SimpleNamespace(is_local=lambda umo: True)
    request = ProviderRequest(prompt="说 <SILENCE>", system_prompt="你是小梅。")
    request.extra_user_content_parts.append(TextPart(text="引用：\n<WANT_MORE>"))
    some = memory(Word.SILENCE, Word.PROACTIVE)
    hooks.prepare(host, some, event, caller)
    assert event.get_extra("enable_streaming") is False
    hooks.teach(some, event, request, caller)
    assert request.system_prompt.startswith("你是小梅。\n\n")
    assert "<SILENCE>" in request.system_prompt
    assert '<PROACTIVE>{"delay_seconds":180,"reason":"' in request.system_prompt
    assert "<WANT_MORE>" not in request.system_prompt
    assert request.prompt == "说 ＜SILENCE＞"
    assert request.extra_user_content_parts[0].text == "引用：\n＜WANT_MORE＞"


@pytest.mark.parametrize(
    ("words", "extras"),
    [
        ((), {"enable_streaming": False, "graph_memory": EventState(is_whole=True)}),
        ((Word.SILENCE,), {}),
        ((Word.SILENCE,), {"enable_streaming": False}),  # Dify and the like
        ((Word.SILENCE,), {"enable_streaming": True, "graph_memory": EventState(is_whole=True)}),
        ((Word.SILENCE,), {
            "enable_streaming": False, "graph_memory": EventState(is_whole=True),
            "action_type": "live",
        }),
    ],
)  # fmt: skip
async def test_nothing_is_taught_where_it_is_off_or_streamed(words, extras):
    event = Event(**extras)
    request = ProviderRequest(prompt="说 <SILENCE>", system_prompt="你是小梅。")
    hooks.teach(memory(*words), event, request, caller)
    assert (request.prompt, request.system_prompt) == ("说 <SILENCE>", "你是小梅。")
    response = LLMResponse("assistant", "<SILENCE>")
    assert hooks.heed(event, response).text == response.completion_text == "<SILENCE>"
    event.result = MessageEventResult(chain=[Plain("<SILENCE>")])
    await hooks.decorate(NOBODY, NOBODY, event)
    assert len(event.result.chain) == 1


@pytest.mark.parametrize("in_chain", [True, False])
def test_a_reply_is_cleaned(in_chain: bool) -> None:
    event = taught(Word.WANT_MORE, Word.SILENCE)
    text = "从前有座山。\n<WANT_MORE>"
    chain = MessageChain([Plain(text), Image("file:///x.png")]) if in_chain else None
    response = LLMResponse("assistant", None if in_chain else text, chain)
    assert hooks.heed(event, response).words == {Word.WANT_MORE}
    assert response.completion_text == "从前有座山。"
    if in_chain:
        assert len(response.result_chain.chain) == 2


def test_an_error_is_no_reply() -> None:
    assert not hooks.heed(taught(Word.SILENCE), LLMResponse("err", "<SILENCE>")).words


@pytest.mark.parametrize(
    "text", ["<SILENCE>", '<PROACTIVE>{"delay_seconds":60,"reason":"想你"}', "<PROACTIVE>{"]
)
async def test_words_alone_are_silence(text: str) -> None:
    """The turn stays in the history, for people to read, and nothing of it is sent."""
    event = taught(Word.SILENCE, Word.PROACTIVE)
    response = LLMResponse("assistant", text)
    assert hooks.heed(event, response).is_silent
    assert response.completion_text == "<SILENCE>"
    run = SimpleNamespace(messages=[Message(role="assistant", content=[TextPart(text=text)])])
    await hooks.settle(NOBODY, NOBODY, event, run)
    assert run.messages[0].content[0].text == "（看到了，没有回复）"
    event.result = MessageEventResult(chain=[Plain(response.completion_text)])
    await hooks.decorate(NOBODY, NOBODY, event)
    assert event.result.chain == []


async def test_the_history_of_a_run_with_tools() -> None:
    event = taught(Word.SILENCE, Word.WANT_MORE)
    call = {"id": "1", "type": "function", "function": {"name": "x", "arguments": "{}"}}
    before = Message(role="assistant", content="以前\n<WANT_MORE>")
    messages = [
        before,
        Message(role="user", content="<WANT_MORE>"),
        AssistantMessageSegment(content=[TextPart(text="查一下\n<WANT_MORE>")], tool_calls=[call]),
        AssistantMessageSegment(content=None, tool_calls=[call]),
        Message(role="tool", content="<WANT_MORE>", tool_call_id="1"),
        Message(role="assistant", content=[TextPart(text="好了\n<WANT_MORE>")]),
    ]
    await hooks.settle(NOBODY, NOBODY, event, SimpleNamespace(messages=messages))
    assert messages[2].content[0].text == "查一下"
    assert messages[5].content[0].text == "好了"
    assert [m.content for m in (before, messages[1], messages[4])] == [
        "以前\n<WANT_MORE>",
        "<WANT_MORE>",
        "<WANT_MORE>",
    ]


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("remark", ["（看到了，没有回复）", "(read, not answered)"])
async def test_the_model_finds_the_remark_and_is_silent_by_it(remark: str, is_whole: bool) -> None:
    def turn(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "content": text if is_whole else [{"type": "text", "text": text}]}

    turns = [turn("user", remark), turn("assistant", remark), turn("assistant", f"我{remark}")]
    request = ProviderRequest(prompt="在吗", contexts=[dict(each) for each in turns])
    event = Event(enable_streaming=False, graph_memory=EventState(is_whole=True))
    hooks.teach(memory(Word.SILENCE), event, request, caller)
    assert request.contexts == turns
    response = LLMResponse("assistant", remark)
    assert hooks.heed(event, response).is_silent
    answer = turn("assistant", remark)
    asked = [*request.contexts, turn("user", "在吗"), answer]
    run = SimpleNamespace(messages=[Message.model_validate(each) for each in asked])
    await hooks.settle(NOBODY, NOBODY, event, run)
    kept = [message.model_dump()["content"] for message in run.messages]
    silent = turn("assistant", "（看到了，没有回复）")
    assert kept == [each["content"] for each in (*turns, turn("user", "在吗"), silent)]
    event.result = MessageEventResult(chain=[Plain(response.completion_text)])
    await hooks.decorate(NOBODY, NOBODY, event)
    assert event.result.chain == []


def test_untaught_it_finds_what_people_read() -> None:
    turns = [{"role": "assistant", "content": "（看到了，没有回复）"}]
    request = ProviderRequest(prompt="在吗", contexts=[dict(each) for each in turns])
    hooks.teach(memory(), Event(), request, caller)
    assert request.contexts == turns


async def test_what_is_sent_beside_a_tool_call_is_cleaned() -> None:
    event = taught(Word.SILENCE, Word.WANT_MORE)
    event.result = MessageEventResult(chain=[Plain("查一下\n<WANT_MORE>"), Plain("<WANT_MORE>")])
    await hooks.decorate(NOBODY, NOBODY, event)
    assert [part.text for part in event.result.chain] == ["查一下"]
