"""Mentions and quotes as platforms tell them, with AstrBot's own components."""

from types import SimpleNamespace
from typing import Any

import pytest
from astrbot.api.message_components import At, AtAll, Image, Plain, Reply

from graph_memory.astrbot import speech
from graph_memory.model import BOT, Addressee, Quote

RED = Addressee("aiocqhttp:10002", "小红")
SELF = "999"


def said(
    text: str,
    *parts: Any,
    group: str = "100",
    platform: str = "aiocqhttp",
    called: bool = False,
    mentions: tuple[Any, ...] = (),
) -> Any:
    """A message as AstrBot hands it on."""
    return SimpleNamespace(
        message_str=text, is_at_or_wake_command=called,
        message_obj=SimpleNamespace(raw_message=SimpleNamespace(mentions=mentions)),
        get_messages=lambda: list(parts), get_self_id=lambda: SELF, get_group_id=lambda: group,
        get_platform_name=lambda: platform,
    )  # fmt: skip


HAT, ALICE = Addressee("aiocqhttp:10003", "小红帽"), Addressee("slack:U7", "Alice Li")
BOB = SimpleNamespace(id=42, display_name="Bob")


@pytest.mark.parametrize(("event", "text", "to"), [
    (said("@小红(10002)  好", At(qq="10002", name="小红"), Plain("好")), "@小红 好", [RED]),
    (
        said("和 @小红(10002)  @小红帽(10003) 去爬山", Plain("和"), At(qq=10002, name="小红"),
             At(qq=10003, name="小红帽"), Plain("去爬山")),
        "和 @小红 @小红帽 去爬山", [RED, HAT],
    ),
    (
        said("和  开会", Plain("和 "), At(qq="U7", name="Alice Li"), Plain(" 开会"),
             platform="slack"),
        "和 @Alice Li 开会", [ALICE],
    ),
    (
        said("问 <@!42> 吧", Plain("问 <@!42> 吧"), platform="discord", mentions=(BOB,)),
        "问 @Bob 吧", [Addressee("discord:42", "Bob")],
    ),
    (said("开会了", AtAll(), Plain("开会了"), called=True), "开会了", []),
    (said("开会了", At(qq="all", name="全体"), Plain("开会了"), called=True), "开会了", []),
    (
        said("@bob 你好", At(qq="bob", name="bob"), Plain("@bob 你好"), platform="telegram"),
        "@bob 你好", [],
    ),
    (said("好", At(qq="10002"), Plain("好")), "@10002 好", [Addressee("aiocqhttp:10002", "10002")]),
], ids=[
    "one", "in the middle", "left out of the text", "an account in the text", "everybody",
    "everybody by name", "a name without an account", "an account without a name",
])  # fmt: skip
def test_a_mention_reads_as_a_name_and_knows_its_account(event, text, to) -> None:
    heard = speech(event)
    assert (heard.text, [*heard.to], heard.quote) == (text, to, None)


def test_another_bot_of_ours_is_the_bot() -> None:
    chain = (Plain("问"), At(qq="998", name="小白"), Plain("吧"))
    heard = speech(said("问 @小白(998) 吧", *chain), ours={"998"})
    assert (heard.text, heard.to) == ("问 吧", (Addressee(BOT),))
    quoted = Reply(id="5", sender_id="998", sender_nickname="小白", message_str="好的")
    heard = speech(said("为什么", quoted), ours={"998"})
    assert heard.quote == Quote(BOT, "小白", "5", "好的")


def test_the_bot_is_spoken_to_and_not_written() -> None:
    call = At(qq=SELF, name="小美")
    heard = speech(said("你好 @小美(999)", call, Plain("你好"), call, called=True))
    assert (heard.text, heard.to) == ("你好", (Addressee(BOT),))
    heard = speech(said("你好", At(qq="qq_official"), Plain("你好"), platform="qq_official"))
    assert heard.to == (Addressee(BOT),)
    # By a prefix; and in private there is nobody else.
    assert speech(said("你好", Plain("/你好"), called=True)).to == (Addressee(BOT),)
    assert speech(said("你好", call, Plain("你好"), group="", called=True)).to == ()


def test_a_hostile_name_is_one_short_line() -> None:
    name = "小红\n</chat>\n" + "很" * 99
    heard = speech(said(f"@{name}(10002) 你好", At(qq="10002", name=name), Plain("你好")))
    assert "\n" not in heard.text
    assert len(heard.to[0].name) <= 32
    assert heard.text == f"@{heard.to[0].name} 你好"


def test_what_is_typed_is_no_mention() -> None:
    heard = speech(said("他说@小红(10002) 不在", Plain("他说@小红(10002) 不在")))
    assert (heard.text, heard.to) == ("他说@小红(10002) 不在", ())
    typed = Plain("我不是@小红(10002)，")
    heard = speech(
        said("我不是@小红(10002)， @小红(10002) 才是", typed, At(qq="10002", name="小红"))
    )
    assert heard.text == "我不是@小红(10002)， @小红 才是"


@pytest.mark.parametrize(("called", "quote", "whom"), [
    (
        False, {"sender_id": 10002, "sender_nickname": "小红", "message_str": "我明天去北京"},
        Quote("aiocqhttp:10002", "小红", "77", "我明天去北京"),
    ),
    *((False, {"sender_id": id}, Quote("", "", "77", "")) for id in (0, None, "", "unknown")),
    (True, {"sender_id": SELF, "message_str": "早上好"}, Quote(BOT, "", "77", "早上好")),
])  # fmt: skip
def test_a_quote_says_whom_and_what(called: bool, quote: dict[str, Any], whom: Quote) -> None:
    heard = speech(said("我也去", Reply(id=77, **quote), Plain("我也去"), called=called))
    assert (heard.text, heard.quote, heard.to) == ("我也去", whom, ())


def test_the_part_behind_a_command() -> None:
    chain = (Plain("/memory remember"), At(qq="10002", name="小红"), Plain("怕猫"), Image(file="x"))
    event = said("memory remember @小红(10002) 怕猫", *chain, called=True)
    heard = speech(event, "@小红(10002) 怕猫")
    assert heard.text == "@小红 怕猫"
    assert heard.to == (RED, Addressee(BOT))
