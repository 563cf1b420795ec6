"""Stop words and how much a search term says.

In small talk everybody uses them, so sharing them is no sign that a memory has to do with
what was said. The ranking learns from the memory itself which words are rare; this is for
the floor, and for messages that are nothing but such words, which are not kept for recall.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_EMPTY = frozenset(
    "的了是在我你您他她它们这那哪有和就不也都很还吗呢吧啊哦噢嗯哈呵嘿呀嘛哎唉诶么什怎样个只一二两"
    "上下去来到说要想会能可以没好大多为与及或被把让给对从得着过再又才最更太真啥谁几些点里时候"
)
"""Characters that mostly carry grammar; a pair of two of them says nothing."""

_FAINT_ZH = """
    今天 明天 昨天 现在 最近 刚才 早上 上午 中午 下午 晚上 今晚 天气 知道 觉得 记得 感觉 事情
    东西 地方 问题 告诉 喜欢 帮我 谢谢 你好 早安 晚安 推荐 聊天 讲个 故事 开心 无聊 名字 叫什
    厉害 回来 吃了 怎么 为什 什么 周末 愉快 聊聊
"""
_FAINT_EN = """
    today tomorrow yesterday now recent morn afternoon even night day time good great nice
    like love know think feel want need get got go went come say said tell told make made
    take give look see thing someth anyth realli well also one lot much mani more some ani
    all oh ok okay yeah haha lol hello hi hey thank thanks pleas sorri sure remember recommend
    weather help let's i'm name people peopl awesom wow cool
    joke stori excit amaz hope happi week weekend year
    doing done gotta gonna
"""
_FAINT_WORDS = frozenset((_FAINT_ZH + _FAINT_EN).split())
FAINT, HALF = 0.25, 0.5


@lru_cache(maxsize=65_536)
def weight(term: str) -> float:
    """How much a search term says, 0…1, whatever the memory."""
    if term in _FAINT_WORDS:
        return FAINT
    empty = sum(character in _EMPTY for character in term)
    if empty == 0:
        return 1.0
    return 0.0 if empty == len(term) else HALF


def says_something(terms: Iterable[str]) -> bool:
    """Whether a text of these terms is more than a greeting, a laugh or a nod."""
    return sum(weight(term) for term in set(terms)) >= HALF
