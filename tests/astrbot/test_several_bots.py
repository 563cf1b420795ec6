"""Two bots of ours in one group: real hooks, one memory."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from astrbot.api.message_components import At, Reply
from astrbot.api.provider import ProviderRequest
from astrbot.core.provider.entities import LLMResponse
from astrbot.core.star.filter.command import CommandFilter
from astrbot.core.star.star_handler import star_handlers_registry

from graph_memory.astrbot import Host, hooks
from graph_memory.astrbot.adapter import state_of
from graph_memory.learning.learning_queue import EAR
from graph_memory.model import BOT, Fact, Session, User
from graph_memory.retention import DAY
from graph_memory.store.messages import LATE

from ..cases import cases, words
from ..world import World
from .test_host import Event, host

ONE, OTHER = "999", "998"
"""Our two accounts."""
CASES = cases(Path(__file__).with_name("several_bots.txt"))
SPOKEN = re.compile(r"(?P<who>\d+)(?:@(?P<group>\d*))?(?:#(?P<id>\d+))?: (?P<text>.*)")


@dataclass
class Group:
    """A group in which both bots hear everything that somebody else says."""

    world: World
    host: Host
    number: int = 0
    platform: str = "aiocqhttp"
    heard: list[Event] = field(default_factory=list)

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
        await hooks.reply(self.host, self.world.memory, event, LLMResponse("assistant", text))

    async def stored(self) -> list[tuple[str, str]]:
        return await self.world.memory.journal.look(
            lambda db: db.execute("SELECT sender, text FROM message ORDER BY id").fetchall()
        )

    async def play(self, line: str) -> None:
        """Do what a line of ``several_bots.txt`` says, or hold it against what is.

        ``10001@43`` speaks in another group (``@``: in private), ``#1`` is an id that the line is
        sent under; ``each ABA …`` is told to them in turn, ``both`` says that both are known,
        ``~ 20`` lets seconds pass (``LATE``: until nothing is the same line any more). ``texts``
        and ``bots`` are what is kept of people and of the bots, ``same`` that what was heard last
        is one message, ``asked 1 …`` how often the model was shown some words.
        """
        sign, _, text = line.partition(" ")
        calls = self.world.model.calls
        match sign:
            case "both":
                await acquainted(self, text or "aiocqhttp")
            case "~":
                self.world.later(LATE + 1 if text == "LATE" else float(text))
            case "learn":
                await self.world.learn()
            case "each":
                turns, _, said = text.partition(" ")
                for bot in turns:
                    await self.play(f"{bot} {said}")
            case "A=" | "B=":
                await self.answers(self.heard[-1], text)
            case "texts" | "bots":
                kept = [each for by, each in await self.stored() if (by == BOT) is (sign == "bots")]
                assert kept == words(text)
            case "same":
                one, other = (state_of(event).turn.message for event in self.heard[-2:])
                assert one == other
            case "users":
                assert {row.id for row in await self.world.rows(User)} == {*words(text)}
            case "calls":
                assert len(calls) == int(text)
            case "asked":
                count, part = text.split(" ", 1)
                assert calls[-1].prompt.count(part) == int(count)
            case _:
                spoken = SPOKEN.fullmatch(text)
                where = {} if spoken["group"] is None else {"group": spoken["group"]}
                own = {"A": ONE, "B": OTHER}[sign[0]]
                event = self.event(own, spoken["who"], spoken["text"], sign[1:] == "!", **where)
                event.get_platform_name = lambda: self.platform
                event.message_obj.message_id = spoken["id"] or event.message_obj.message_id
                await hooks.hear(self.host, self.world.memory, event)
                self.heard.append(event)


@pytest.fixture
async def club(world: World) -> Group:
    here = host()
    here.ours = world.memory.instances.accounts
    return Group(world, here)


async def texts(club: Group) -> list[str]:
    return [text for sender, text in await club.stored() if sender != BOT]


async def acquainted(club: Group, platform: str = "aiocqhttp") -> None:
    """Both accounts are known."""
    club.platform = platform
    for own in (ONE, OTHER):
        await club.world.memory.instances.register(platform, own)


@pytest.mark.parametrize("name", CASES)
async def test_what_is_kept_of_what_two_bots_hear(club: Group, name: str) -> None:
    for line in CASES[name]:
        await club.play(line)


async def test_each_account_takes_back_and_quotes_by_its_own_ids(club: Group) -> None:
    await acquainted(club)
    await club.hears(ONE, "10001", "一")  # 1
    await club.hears(OTHER, "10001", "一")  # 2
    second = await club.hears(ONE, "10002", "二")  # 3
    await club.hears(OTHER, "10002", "二")  # 4
    notice: Any = club.event(OTHER, "10001", "")
    notice.message_obj.raw_message = {"notice_type": "group_recall", "message_id": 3}
    await hooks.hear(club.host, club.world.memory, notice)
    assert await texts(club) == ["一", "二"]  # 3 is none of that account's
    asked: Any = club.event(OTHER, "10001", "为什么")
    asked.get_messages = lambda: [Reply(id="4", sender_id="10002", message_str="二")]
    await hooks.hear(club.host, club.world.memory, asked)
    (addressee,) = state_of(asked).turn.message.to
    assert addressee.quoted == state_of(second).turn.message.id
    notice.message_obj.raw_message = {"notice_type": "group_recall", "message_id": 2}
    await hooks.hear(club.host, club.world.memory, notice)
    assert await texts(club) == ["二", "为什么"]
    copies = "SELECT count(*) FROM copy"
    assert await club.world.memory.journal.look(lambda db: db.execute(copies).fetchone()) == (1,)


async def test_bots_of_two_personas_do_not_cut_each_others_batches_short(club: Group) -> None:
    await acquainted(club)
    names = {ONE: "mei", OTHER: "lan"}

    async def persona(event: Any, request: Any = None) -> str:
        return names[event.get_self_id()]

    club.host.persona = persona  # type: ignore[method-assign]
    for number in range(6):
        for own in ((ONE, OTHER), (OTHER, ONE))[number % 2]:
            await club.hears(own, "10001", f"第{number}句")
    assert {row.persona for row in await club.world.rows(Session)} == {"mei"}
    asked = await club.hears(OTHER, "10001", "小兰，你怎么看", asked=True)
    await club.hears(ONE, "10001", "小兰，你怎么看")
    await club.answers(asked, "我也这么看。")
    held = await club.world.memory.journal.pending()
    assert Counter(each.session.rpartition("#")[2] for each in held) == {"mei": 6, "lan": 2}


async def test_who_does_not_hear_any_more_does_not_listen(club: Group) -> None:
    await acquainted(club)
    umo = {ONE: "qq", OTHER: "zwei"}

    async def say(own: str, text: str) -> None:
        event = club.event(own, "10001", text)
        event.unified_msg_origin = f"{umo[own]}:GroupMessage:42"
        await hooks.hear(club.host, club.world.memory, event)

    async def origin() -> str:
        (row,) = await club.world.rows(Session)
        return str(row.umo).partition(":")[0]

    await say(ONE, "一")
    await say(OTHER, "二")
    await say(ONE, "二")
    club.world.later(3_600)
    await say(OTHER, "三")
    assert await origin() == "qq"  # an hour of silence is no hour of deafness
    club.world.later(EAR + 1)
    await say(OTHER, "四")
    assert await origin() == "zwei"


async def test_a_command_to_one_bot_is_no_talk_to_the_other(club, monkeypatch):
    await acquainted(club)
    rule = CommandFilter("记忆 状态")
    handler = SimpleNamespace(handler_module_path="data.plugins.x", event_filters=[rule])
    monkeypatch.setattr(
        star_handlers_registry, "get_handlers_by_event_type", lambda *_, **__: [handler]
    )
    for said, to in (("记忆 状态", ONE), ("记忆 状态 怎么样", "10003"), ("记得去爬山", ONE)):
        event: Any = club.event(OTHER, "10001", f"@小雪({to}) {said}")
        event.get_messages = lambda to=to: [At(qq=to, name="小雪")]
        event.plugins_name = None
        await hooks.hear(club.host, club.world.memory, event)
    assert await texts(club) == ["@小雪 记忆 状态 怎么样", "记得去爬山"]


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


async def test_what_a_bot_is_told_to_remember_is_kept_though_another_one_listens(club, monkeypatch):
    async def persona(event: Event, _request: object = None) -> str:
        return {ONE: "mei", OTHER: "lan"}[event.get_self_id()]

    monkeypatch.setattr(club.host, "persona", persona)
    await acquainted(club)
    for own in (ONE, OTHER):
        await club.hears(own, "10001", "大家好")
    asked = await club.host.turn(club.event(OTHER, "10001", "", asked=True), text="我对花生过敏")
    await club.world.commands.remember(asked)
    (kept,) = await club.world.rows(Fact)
    assert (kept.session, "花生" in kept.statement) == (asked.session.id, True)
    assert "已删掉" in await club.world.commands.undo(asked)
