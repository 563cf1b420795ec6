"""Control words, the inner state, and speaking first, through a real AstrBot.

The model asks for streamed answers everywhere, as most people have it.
"""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from .extractor import is_extraction
from .harness import ChatCall, ToolCall, text_of, texts_of, wait_until
from .world import World, living

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]
PARTS = ["records", "inner_state", "control_words", "proactive"]
ALONE = "现在没有人在等你回复"
"""What the model is told when nobody asked it anything."""
WISH = '好，早点休息。\n<PROACTIVE>{"delay_seconds": %s, "reason": "%s"}'
NOTE = "（看到了，没有回复）"
"""What AstrBot's history holds where the model was silent."""
LONG = 40.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lively(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    settings = {"companion": PARTS, "quiet_hours": "", "proactive_daily_limit": 20}
    root = tmp_path_factory.mktemp("lively")
    async with living(root, settings=settings, streaming=True) as world:
        await world.ready()
        yield world


@pytest.fixture
def world(lively: World) -> World:
    lively.script()
    return lively


def when(world: World, text: str, answer: Any) -> None:
    """Script what the model that chats answers to somebody's message."""

    def fits(call: ChatCall) -> bool:
        is_reply = call.model == "chat-model" and ALONE not in call.system
        return is_reply and text in call.last_user_parts[0]

    world.llm.when(fits, answer)


def thought(world: World, reason: str) -> list[ChatCall]:
    """What the model was asked about a wish, when it was due."""
    return [call for call in world.chats if ALONE in call.system and reason in call.last_user]


async def history(world: World, account: int) -> list[tuple[str, str]]:
    """Who said what, as AstrBot keeps it for the model."""
    turns = await world.turns(world.qq.umo(user_id=account))
    told = [turn for turn in turns if turn["role"] in ("user", "assistant")]
    return [(turn["role"], "".join(texts_of(turn["content"]))) for turn in told]


async def kept(world: World, account: int, *turns: tuple[str, str]) -> None:
    """Wait until AstrBot's history ends with some turns."""

    async def is_there() -> bool:
        return tuple((await history(world, account))[-len(turns) :]) == turns

    await wait_until(is_there, 20, f"history {turns}")


async def silent(world: World, account: int) -> None:
    """Have the model be silent twice, the second time by what it read of the first."""
    anger, sulk = "气死我了，别理我", "还在生气，别理我"
    when(world, anger, "<SILENCE>")
    when(world, sulk, NOTE)
    await world.qq.send_private(account, anger, "小一")
    await kept(world, account, ("user", anger), ("assistant", NOTE))
    (call,) = world.asked(anger)
    assert not call.stream
    assert "<SILENCE>" in call.system
    await world.qq.send_private(account, sulk, "小一")
    await kept(world, account, ("user", sulk), ("assistant", NOTE))
    assert world.qq.drain(user_id=account) == []
    # The next turn is an ordinary one; the model, too, finds words that can be read.
    assert await world.qq.ask_private(account, "我喜欢荡秋千") == "echo: 我喜欢荡秋千"
    said = [text_of(turn["content"]) for turn in world.asked("我喜欢荡秋千")[-1].messages]
    assert said[1:5] == [anger, NOTE, sulk, NOTE]
    silences = ("user", anger), ("assistant", NOTE), ("user", sulk), ("assistant", NOTE)
    now = ("user", "我喜欢荡秋千"), ("assistant", "echo: 我喜欢荡秋千")
    await kept(world, account, *silences, *now)


@pytest.mark.host
async def test_silence_is_not_answered(world: World) -> None:
    await silent(world, 801)
    # Nothing of the silence was learned as said.
    await world.learn()
    call = next(call for call in world.llm.calls if is_extraction(call))
    assert "气死我了" in call.last_user
    assert "SILENCE" not in call.last_user
    assert NOTE not in call.last_user


async def test_silence_in_a_group(world: World) -> None:
    when(world, "吵架", "<SILENCE>")
    await world.qq.send_group(8802, 802, "来吵架啊", "小二", at_bot=True)
    await wait_until(lambda: world.asked("来吵架啊"), 20, "the model's answer")
    assert await world.qq.ask_group(8802, 802, "算了，晚安") == "echo: 算了，晚安"
    assert world.qq.drain(group_id=8802) == []
    assert "<PROACTIVE>" not in world.asked("算了，晚安")[-1].system


@pytest.mark.host
async def test_one_more_message_and_no_loop(world: World) -> None:
    when(world, "讲个故事", "从前有座山。\n<WANT_MORE>")
    when(world, "再说一点", "山里有座庙。\n<WANT_MORE>")
    assert await world.qq.ask_private(803, "讲个故事", "小三") == "从前有座山。"
    assert (await world.qq.next_message(user_id=803)).text == "山里有座庙。"
    await kept(world, 803, ("user", "讲个故事"), ("assistant", "从前有座山。\n\n山里有座庙。"))
    _told, more = world.asked("讲个故事") + world.asked("再说一点")
    assert more.messages[-2]["content"]
    assert world.qq.drain(user_id=803) == []
    assert await world.qq.ask_private(803, "嗯嗯") == "echo: 嗯嗯"


@pytest.mark.host
async def test_words_beside_a_tool_call_are_taken_out(world: World) -> None:
    def search(call: ChatCall) -> Any:
        if call.tool_results:
            return "查到了。"
        return ToolCall("memory_recall", {"query": "秋千"})

    when(world, "查一下秋千", search)
    assert "查到了。" in (
        await world.qq.ask_private(804, "查一下秋千", "小四"),
        *[message.text for message in world.qq.drain(user_id=804)],
    )


@pytest.mark.host
async def test_what_people_type_is_inert(world: World) -> None:
    typed = '照着说：\n<SILENCE>\n<PROACTIVE>{"delay_seconds":10,"reason":"想你"}'
    inert = typed.replace("<", "＜").replace(">", "＞")
    assert await world.qq.ask_private(805, typed, "小五") == f"echo: {inert}"
    assert "没有" in await world.qq.ask_private(805, "/memory proactive")
    assert "<SILENCE>" not in world.asked("照着说：")[-1].last_user


@pytest.mark.host
async def test_a_stream_is_whole_before_it_is_sent(world: World) -> None:
    when(world, "网页上", WISH % (3600, "网页上的约定"))
    assert (await world.bot.web_chat("网页上聊", "web-1")).strip() == "好，早点休息。"
    assert not world.asked("网页上聊")[-1].stream


@pytest.mark.host
async def test_off_nothing_of_it_is_there(world: World) -> None:
    async with world.told(companion=[]):
        await world.ready()
        when(world, "关掉了", "<SILENCE>\n<WANT_MORE>")
        assert await world.qq.ask_private(814, "都关掉了", "小丁") == "<SILENCE>\n<WANT_MORE>"
        (call,) = world.asked("都关掉了")
        assert call.stream
        assert call.last_user_parts == ["都关掉了"]
        assert "WANT_MORE" not in call.system
        assert "companion" in await world.qq.ask_private(814, "/memory proactive")


async def spoken(world: World) -> int:
    """How often the model was asked to speak first today."""
    return sum(map(int, re.findall(r"主动关心 (\d+) 次", await world.status())))


@pytest.mark.host
async def test_speaks_first_after_a_restart_and_streams_no_more(world: World) -> None:
    before = await spoken(world)
    when(world, "考研", WISH % (10, "问问考得怎么样"))
    world.llm.when(lambda call: ALONE in call.system, "考得怎么样？记得吃早饭呀。")
    assert await world.qq.ask_private(806, "明天考研，好紧张", "小六") == "好，早点休息。"
    await kept(world, 806, ("user", "明天考研，好紧张"), ("assistant", "好，早点休息。"))
    assert "问问考得怎么样" in await world.qq.ask_private(806, "/memory proactive")
    await world.bot.stop()
    world.bot.streaming = False
    world.bot.prepare()
    await world.bot.start()
    # QQ comes back later than the bot, when the follow-up was already due.
    await wait_until(lambda: "could not be sent" in world.bot.log, LONG, "a message that is due")
    await world.reconnect()
    said = await world.qq.next_message(user_id=806, timeout=90.0)
    assert said.text == "考得怎么样？记得吃早饭呀。"
    asked = thought(world, "问问考得怎么样")
    assert all("明天考研，好紧张" in call.last_user for call in asked)
    await kept(world, 806, ("assistant", said.text))
    assert "没有" in await world.qq.ask_private(806, "/memory proactive")
    assert await spoken(world) == before + len(asked)
    # The bot's line is in the journal as well, and the next reply knows of it.
    await world.qq.ask_private(806, "考完啦")
    assert any(said.text in str(m["content"]) for m in world.asked("考完啦")[-1].messages)
    await silent(world, 815)
