"""Two bots of ours in one group: real hooks, one memory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from astrbot.api.provider import ProviderRequest
from astrbot.core.provider.entities import LLMResponse

from graph_memory.astrbot import Host, hooks
from graph_memory.model import BOT, User
from graph_memory.store.instances import DAY

from ..world import World, living
from .test_host import Event, host

ONE, OTHER = "999", "998"
"""Our two accounts."""


@dataclass
class Group:
    """A group in which both bots hear everything that somebody else says."""

    world: World
    host: Host
    number: int = 0

    def event(self, own: str, sender: str, text: str, asked: bool = False, **more: Any) -> Event:
        """What one of the bots is told; ids are each client's own."""
        self.number += 1
        event: Any = Event(**{"group": "42", "sender": sender} | more)
        event.get_self_id = lambda: own
        event.message_str, event.is_at_or_wake_command = text, asked
        event.message_obj.message_id = str(self.number)
        return event

    async def hears(self, own: str, sender: str, text: str, asked: bool = False) -> Event:
        event = self.event(own, sender, text, asked)
        await hooks.hear(self.host, self.world.memory, event)
        return event

    async def answers(self, event: Event, text: str) -> None:
        """The bot is asked and says something, which the other one hears."""
        asked = ProviderRequest(prompt=event.message_str)
        await hooks.remind(self.host, self.world.memory, event, asked)
        said = LLMResponse("assistant", text)
        await hooks.reply(self.host, self.world.memory, event, said)

    async def stored(self) -> list[tuple[str, str]]:
        return await self.world.memory.journal.look(
            lambda db: db.execute("SELECT sender, text FROM message ORDER BY id").fetchall()
        )


@pytest.fixture
async def club(tmp_path: Path) -> AsyncIterator[Group]:
    async with living(tmp_path) as world:
        here = host()
        here.ours = world.memory.instances.accounts
        yield Group(world, here)


async def test_what_one_bot_says_is_no_persons_word_to_the_other(club: Group) -> None:
    await club.hears(OTHER, "10001", "大家好")
    asked = await club.hears(ONE, "10002", "小雪，推荐一本书", asked=True)
    await club.answers(asked, "《三体》，我最喜欢。")
    await club.hears(OTHER, ONE, "《三体》，我最喜欢。")
    senders = [sender for sender, text in await club.stored() if "三体" in text]
    assert senders == [BOT]
    await club.world.learn()
    people = {row.id for row in await club.world.rows(User)}
    assert people == {"aiocqhttp:10001", "aiocqhttp:10002"}
    assert "aiocqhttp:999" not in club.world.model.calls[-1].prompt


async def test_bots_that_answer_each_other_leave_nothing_in_the_memory(club: Group) -> None:
    for own in (ONE, OTHER):
        await club.hears(own, "10001", f"你们好，{own}")
    before = await club.stored()
    speakers = (ONE, OTHER)
    for turn in range(6):
        speaker, hearer = speakers[turn % 2], speakers[(turn + 1) % 2]
        event = await club.hears(hearer, speaker, f"你说得对，第{turn}次", asked=True)
        await club.answers(event, f"不，你说得更对，第{turn}次")
    assert await club.stored() == before


async def test_an_account_is_noted_once_a_day(club: Group) -> None:
    instances = club.world.memory.instances
    await club.hears(ONE, "10001", "早")
    first = instances.seen["aiocqhttp", ONE]
    club.world.later(DAY - 1)
    await club.hears(ONE, "10001", "早啊")
    assert instances.seen["aiocqhttp", ONE] == first
    club.world.later(2)
    await club.hears(ONE, "10001", "晚安")
    assert instances.seen["aiocqhttp", ONE] == first + DAY + 1
