"""A busy day: who says what, where and when; the hours in which providers are down."""

from __future__ import annotations

import asyncio
import itertools
import random
from dataclasses import dataclass
from functools import cached_property

from graph_memory.errors import ExtractionError
from graph_memory.model import Session, user_id
from graph_memory.ports import Answer, ToolSchema

from ...makers import QQ, group, private
from ..demo.extraction import extract

HOUR = 3600.0
DAY = 24 * HOUR
GROUPS = 10
PEOPLE = 50
"""People in each group."""
PERSONAS = ("mei", "lin", "xiaoyu", "bot-5", "[%None]")
PRIVATE = 0.05
"""Share of the messages that are private."""
ADDRESSED = 0.12
"""Share of the messages in groups that the bot answers."""
_CURVE = (2, 1, 1, 1, 1, 1, 2, 4, 6, 6, 6, 7, 9, 8, 6, 6, 6, 7, 8, 10, 12, 12, 9, 5)
"""How much is said in each hour."""
_BURSTS = 30
"""Quarters of an hour in which a group talks ten times as much."""
OUTAGES = ((3.0, 0.2), (11.5, 0.75), (20.0, 1.0))
"""Hours at which the provider goes down, and for how many."""

_TASTES_TEXT = """
    爬山 火锅 川菜 甜点 摄影 桌游 羽毛球 游泳 推理小说 爵士乐 手冲咖啡 露营 钓鱼 骑行 电影 围棋
"""
_PLACES_TEXT = "杭州 成都 大连 西安 厦门 昆明 青岛 长沙 苏州 重庆"
_PLANS_TEXT = "学大提琴 考驾照 去冰岛 换工作 装修房子 跑马拉松 学日语 养一只猫"
_TALK_TEXT = """
    哈哈 今天 天气 不错 晚上 吃 什么 好 困 加班 又 下雨 了 这个 游戏 更新 真的 好玩 谁 来 开黑
    明天 放假 吗 周末 有空 一起 出去 走走 老板 说 方案 再 改 一版 地铁 好挤 快递 到 了 新 手机 好贵
"""
_TASTES, _PLACES, _PLANS, _TALK = (
    text.split() for text in (_TASTES_TEXT, _PLACES_TEXT, _PLANS_TEXT, _TALK_TEXT)
)
_QUESTIONS = ("喜欢什么", "住在哪里", "有什么打算")


@dataclass(frozen=True, slots=True)
class Line:
    """One message of the day.

    Attributes:
        at: Seconds since midnight.
        asks: Whether the bot is to answer.
    """

    at: float
    session: Session
    sender: str
    name: str
    text: str
    asks: bool


class Day:
    """A day of chat.

    Args:
        messages: How many.
    """

    def __init__(self, seed: int, messages: int) -> None:
        self._rng = random.Random(seed)
        self._messages = messages

    @cached_property
    def lines(self) -> list[Line]:
        """All of it, in order of time."""
        rng = self._rng
        slots = [hour * 4 + quarter for hour in range(24) for quarter in range(4)]
        weights = {(g, slot): float(_CURVE[slot // 4]) for g in range(GROUPS) for slot in slots}
        for _ in range(_BURSTS):
            weights[rng.randrange(GROUPS), rng.choice(slots)] *= 10
        keys = list(weights)
        drawn = rng.choices(keys, list(weights.values()), k=self._messages)
        moments = sorted((slot * 900 + rng.random() * 900, place) for place, slot in drawn)
        return [self._line(at, place) for at, place in moments]

    def _line(self, at: float, place: int) -> Line:
        rng = self._rng
        account = f"{place}{rng.randrange(PEOPLE):03}"
        persona = PERSONAS[(place + int(at // (6 * HOUR))) % len(PERSONAS)]
        is_private = rng.random() < PRIVATE
        session = private(account, persona) if is_private else group(f"g{place}", persona)
        asks = is_private or rng.random() < ADDRESSED
        name = f"网友{account}"
        return Line(at, session, user_id(QQ, account), name, self._text(asks), asks)

    def _text(self, asks: bool) -> str:
        rng = self._rng
        dice = rng.random()
        if dice < 0.06:
            return f"我{rng.choice(('喜欢', '不喜欢'))}{rng.choice(_TASTES)}，你们呢"
        if dice < 0.08:
            return f"我住在{rng.choice(_PLACES)}"
        if dice < 0.10:
            return f"我打算{rng.choice(_PLANS)}"
        if asks and dice < 0.6:
            return f"我{rng.choice(_QUESTIONS)}？还记得{rng.choice(_TASTES)}吗"
        return "".join(rng.choices(_TALK, k=rng.randrange(3, 14)))


def is_down(at: float) -> bool:
    """Whether the provider is down, ``at`` seconds since midnight."""
    return any(start * HOUR <= at < (start + span) * HOUR for start, span in OUTAGES)


class Provider:
    """A language model that takes its time and is down at fixed hours.

    Attributes:
        at: Seconds since midnight; kept up to date by the owner.
        failed: Calls that failed.
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._turns = itertools.count()
        self.at = 0.0
        self.calls = 0
        self.failed = 0

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        self.calls += 1
        await asyncio.sleep(0.05 + 0.3 * self._rng.random())
        if is_down(self.at):
            self.failed += 1
            if next(self._turns) % 5 == 0:
                await asyncio.sleep(3.0)  # some time out instead of refusing
            raise ExtractionError("503 Service Unavailable")
        return Answer("", await asyncio.to_thread(extract, prompt), len(prompt) // 2, 80)
