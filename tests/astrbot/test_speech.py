"""Mentions and quotes as platforms tell them, with AstrBot's own components."""

from types import SimpleNamespace
from typing import Any

from astrbot.api.message_components import At, AtAll, Image, Plain, Reply

from graph_memory.astrbot import speech
from graph_memory.model import BOT, Addressee, Quote
from tests.cases import tabled

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


def part(of: Any) -> Any:
    """A part of a message as the table writes it."""
    if isinstance(of, str):
        return Plain(of)
    return At(**of) if of else AtAll()


@tabled
def test_a_mention_reads_as_a_name_and_knows_its_account(written, parts, more, text, to) -> None:
    mentions = tuple(SimpleNamespace(**each) for each in more.pop("mentions", ()))
    heard = speech(said(written, *map(part, parts), mentions=mentions, **more))
    assert (heard.text, [*heard.to], heard.quote) == (text, [Addressee(*each) for each in to], None)


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


@tabled
def test_a_quote_says_whom_and_what(called: bool, quote: dict[str, Any], whom: list[str]) -> None:
    heard = speech(said("我也去", Reply(id=77, **quote), Plain("我也去"), called=called))
    assert (heard.text, heard.quote, heard.to) == ("我也去", Quote(*whom), ())


def test_the_part_behind_a_command() -> None:
    chain = (Plain("/memory remember"), At(qq="10002", name="小红"), Plain("怕猫"), Image(file="x"))
    event = said("memory remember @小红(10002) 怕猫", *chain, called=True)
    heard = speech(event, "@小红(10002) 怕猫")
    assert heard.text == "@小红 怕猫"
    assert heard.to == (RED, Addressee(BOT))
