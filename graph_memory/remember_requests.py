"""Requests to remember something or not to, as people word them in a message."""

from __future__ import annotations

import re
from pathlib import Path

from .text import patterns, simplified

_BEFORE, _ENDS, _ASKS_BACK, _DECLINES, _CLOSES = patterns(Path(__file__).with_suffix(".txt"))
_BEGINS = re.compile(
    r"\s*+(?:@\S+\s+)?(?P<lead>[^\s，,。.！!？?：:]{1,6}[，,]\s*|hey \w+,?\s+"
    r"|[^\s\W他她它我让叫给说]{1,6}?(?=帮我|请你|你(?:要|得|给我|帮我|一定)))?"
    rf"(?:{_BEFORE.pattern})(?:[了哈啊哦噢喔呀吧]+(?=\W|我))?[\s:：,，。.!！]*"
    r"(?:(?:这[件个]?事儿?|这一?点|(?:以下|下面)(?:的?(?:内容|事情|话)|几点)?|我说的话?)\s*[:：,，]\s*)?",
    re.IGNORECASE,
)
_TELLS = re.compile(r"[我他她天晚早午周月年号点0-9]")
"""What no name has that stands before a request."""
_NODS = re.compile(r"[了啊哦噢喔哈呀吧嘛嗷咯哟\W]+")
"""What may follow 记住 and is nothing to remember."""
_BACK = re.compile("刚|上|那|just|last", re.IGNORECASE)
"""What says that something said before is not to be kept."""


def without_request(text: str) -> str:
    """What is to be remembered: ``text`` without the words that ask for it."""
    found = request(text)
    return (found and found[1]) or text


def request(text: str) -> tuple[str, str] | None:
    """The words of a message that ask to remember something, and its other words."""
    plain = simplified(text)
    begins, ends = _BEGINS.match(plain), _ENDS.search(plain)
    what = text[begins.end() :].strip() if begins else ""
    if what and begins and _TELLS.search(begins["lead"] or ""):
        lead = text[begins.start("lead") : begins.end("lead")]
        what = lead.rstrip("，, ") if _NODS.fullmatch(what) else lead + what  # 明天，记住带伞
    if ends and not what and (before := text[: ends.start()].strip()):
        return ends[0], before
    if not begins or _ASKS_BACK.search(what):
        return None
    return begins[0], _CLOSES.sub(r"\1", what)


def declined(text: str) -> int | None:
    """Which message a request not to keep something means; ``None`` if it is none.

    Returns:
        0 for itself alone, -1 for the one right before it as well.
    """
    plain = simplified(text)
    if (found := _DECLINES.search(plain)) is None:
        return None
    besides = sum(map(str.isalpha, plain)) - sum(map(str.isalpha, found[0]))
    return -1 if besides < 2 or _BACK.search(found[0]) else 0
