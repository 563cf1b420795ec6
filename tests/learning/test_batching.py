"""When messages become a batch, and what its claim writes without any model."""

from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from graph_memory.learning.batching import (
    FEW,
    FEW_IN_GROUP,
    MAX_TOKENS,
    PATIENCE,
    Buffers,
    batch_size,
    upcoming,
)
from graph_memory.model import (
    BOT,
    EPISODE_MESSAGES,
    GAP,
    Episode,
    Message,
    Name,
    Participation,
    Session,
    episode_id,
)
from graph_memory.settings import Settings
from graph_memory.store import Journal

from ..cases import cases
from ..makers import T0, group, message, private, user
from .chat import CHINA, Chat

SETTINGS = Settings(buffer_size_private=4, buffer_size_group=6, buffer_timeout=300)
HERE, OTHER, ROOM = private("zhang"), private("zhang", "ruo"), group("100")
PLACES = {"H": HERE, "O": OTHER, "R": ROOM}
CASES = cases(Path(__file__).with_name("batching.txt"))


class Talk:
    """Buffers with a clock of their own, of which ``batching.txt`` has cases.

    ``~`` lets seconds pass, ``grace`` leaves new messages alone for so long, ``due`` are the chats
    that may be learned, ``next`` the seconds until one may (``-``: never), ``held`` the messages
    that would be and ``all`` those that wait; ``move`` gives one to another persona, ``switch``
    turns to one, ``drop`` was learned.
    """

    def __init__(self, grace: float = 0.0) -> None:
        self.buffers = Buffers(SETTINGS, grace)
        self.time = 0.0
        self.said: list[Message] = []
        for session in PLACES.values():
            self.buffers.know(session)
            self.buffers.begin(session.id)

    def say(self, session: Session, text: str = "嗯", sender: str = user("zhang"), ago: float = 0):
        said = message(session, sender, text, T0 + self.time - ago)
        self.said.append(replace(said, id=len(self.said) + 1))
        self.buffers.put(self.said[-1], T0 + self.time, self.time)
        return self.said[-1]

    def step(self, sign: str, text: str) -> None:
        """Do what a line says, or hold what it says against what is."""
        waits = self.buffers.waits(T0 + self.time, self.time)
        match sign:
            case "~":
                self.time += float(text)
            case "grace":
                self.buffers._grace = float(text)
            case "switch":
                self.buffers.turn_to(PLACES[text])
            case "drop":
                self.buffers.drop([int(number) for number in text.split()])
            case "move":
                number, place = text.split()
                moved = replace(self.said[int(number) - 1], session=PLACES[place].id)
                self.buffers.put(moved, T0, self.time)
            case "held" | "all":
                place, *numbers = text.split()
                until = [self.time] if sign == "held" else []
                assert self.buffers.held(PLACES[place].id, *until) == [*map(int, numbers)]
            case "due":
                due = [name for name, place in PLACES.items() if waits.get(place.id, inf) <= 0]
                assert due == [name for name in text.split() if name != "-"]
            case "next":
                assert min(waits.values(), default=inf) == (inf if text == "-" else float(text))
            case _:
                who = sign[2:-1]
                sender = {"sender": BOT} if who == "bot" else {"ago": -float(who or 0)}
                self.say(PLACES[sign[0]], text, **sender)


@pytest.mark.parametrize("name", CASES)
def test_when_a_chat_is_due(name: str) -> None:
    talk = Talk()
    for line in CASES[name]:
        talk.step(*line.partition(" ")[::2])


@pytest.mark.parametrize(("place", "few"), [(HERE, FEW), (ROOM, FEW_IN_GROUP)])
def test_few_messages_wait_longer_than_many(place: Session, few: int):
    buffers = Buffers(Settings(), 0.0)
    buffers.know(place)
    first = replace(message(place, user("zhang"), "嗯", T0), id=99)
    buffers.put(first, T0, 0.0)
    assert buffers.waits(T0, 0.0)[place.id] == 300  # nothing of this Session was learned yet
    buffers.drop([first.id])
    buffers.begin(place.id)
    for number in range(1, few + 1):
        said = replace(message(place, user("zhang"), "嗯", T0), id=number)
        buffers.put(said, T0, 0.0)
        assert buffers.waits(T0, 0.0)[place.id] == 300 * (1 if number == few else PATIENCE)
    for id in range(1, few + 1):
        buffers.drop([id])
    buffers.put(replace(said, text="记住，周五交房租"), T0, 0.0)
    assert buffers.waits(T0, 0.0)[place.id] == 0


PACE = (7, 5, 9, 6, 3, 8)
"""Messages that people write before a quarter of an hour of silence, as in REALTALK."""


def test_a_group_that_pauses_often_is_learned_in_few_calls():
    """Six calls for a hundred messages, where each pause used to be one."""
    buffers = Buffers(Settings(), 0.0)
    buffers.know(ROOM)
    buffers.begin(ROOM.id)
    waiting: list[Message] = []
    last: Episode | None = None
    time, count, batches = 0.0, 0, []
    for number in range(30):
        for _ in range(PACE[number % len(PACE)]):
            count += 1
            said = replace(message(ROOM, user("zhang"), "嗯", T0 + time), id=count)
            buffers.put(said, T0 + time, time)
            waiting.append(said)
            time += 20
        for _ in range(15):
            time += 60
            while min(buffers.waits(T0 + time, time).values(), default=inf) <= 0:
                taken = batch_size(ROOM, last, waiting, CHINA)
                last = upcoming(last, ROOM.id, waiting[:taken], CHINA)[-1]
                buffers.drop([each.id for each in waiting[:taken]])
                batches.append(taken)
                del waiting[:taken]
    assert count - sum(batches) < FEW_IN_GROUP
    assert 100 * len(batches) / sum(batches) <= 6


def test_claimed_messages_are_not_buffered():
    talk = Talk()
    talk.buffers.put(replace(talk.say(HERE), batch=1), T0, 0)
    assert len(talk.buffers) == 0
    assert talk.buffers.waiting() == []
    talk.step("next", "-")


async def test_people_names_and_the_episode(room: Chat):
    await room.say("zhang", "大家好", "张三")
    await room.say(BOT, "你好")
    await room.say("li", "嗨", "李四")
    await room.say("zhang", "改名了", "三哥")
    batch = await room.claim()
    (episode,) = await room.rows(Episode)
    assert episode == Episode(
        episode_id(room.session.id, 1), room.session.id, T0, T0 + 180, 1, 4, 4,
        participants=(user("zhang"), user("li")),
    )  # fmt: skip
    assert [m.batch for m in batch.messages] == [batch.id] * 4
    people = {p.user: p for p in await room.rows(Participation)}
    assert {u: (p.first_at, p.last_at, p.messages) for u, p in people.items()} == {
        user("zhang"): (T0, T0 + 180, 2), user("li"): (T0 + 120, T0 + 120, 1),
    }  # fmt: skip
    assert {(n.node, n.text): (n.first_at, n.last_at) for n in await room.rows(Name)} == {
        (user("zhang"), "张三"): (T0, T0),
        (user("zhang"), "三哥"): (T0 + 180, T0 + 180),
        (user("li"), "李四"): (T0 + 120, T0 + 120),
    }


async def test_a_batch_continues_the_episode_or_begins_the_next(chat: Chat):
    await chat.say("zhang", "一", "张三")
    await chat.claim()
    await chat.say("zhang", "二", "张三")
    chat.at += GAP
    for _ in range(FEW):
        await chat.say("zhang", "三", "张三")
    chat.at += GAP
    await chat.say("zhang", "四", "张三")
    first, second = await chat.claim(), await chat.claim()
    assert [m.text for m in first.messages] == ["二", *["三"] * FEW]
    assert [m.text for m in second.messages] == ["四"]
    episodes = sorted(await chat.rows(Episode), key=lambda e: e.first_message)
    assert [(e.first_message, e.last_message, e.messages) for e in episodes] == [
        (1, 2, 2),
        (3, FEW + 2, FEW),
        (FEW + 3, FEW + 3, 1),
    ]
    (person,) = await chat.rows(Participation)
    assert person.messages == FEW + 3


async def test_a_batch_stops_at_local_midnight(chat: Chat):
    chat.at = T0 + 6_300  # 23:58 in China
    chat.at -= 60 * (FEW - 2)
    for number in range(FEW + 2):
        await chat.say("zhang", f"第{number}句", "张三")
    assert [len((await chat.claim()).messages) for _ in "ab"] == [FEW, 2]


async def test_a_batch_does_not_overfill_an_episode(journal: Journal, room: Chat):
    step = 3.0
    for count in (EPISODE_MESSAGES - FEW_IN_GROUP, FEW_IN_GROUP + 3):
        for number in range(count):
            room.at -= 60 - step
            await room.say("zhang", f"第{number}句", "张三")
        await room.claim()
    last = await journal.read(lambda rows: rows.episode(room.session.id))
    assert (last.messages, last.last_message) == (EPISODE_MESSAGES, EPISODE_MESSAGES)
    assert len((await room.claim()).messages) == 3
    assert len(await room.rows(Episode)) == 2


async def test_a_batch_holds_no_more_than_one_call_can(chat: Chat):
    for _ in range(3):
        await chat.say("zhang", "长" * (MAX_TOKENS // 2 + 1), "张三")
    assert [len((await chat.claim()).messages) for _ in "abc"] == [1, 1, 1]
    assert len(await chat.rows(Episode)) == 1
