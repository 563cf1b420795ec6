"""When messages become a batch, and what its claim writes without any model."""

from dataclasses import replace
from math import inf

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
from graph_memory.model import BOT, GAP, Episode, Message, Name, Participation, Session, episode_id
from graph_memory.model.conversation import MAX_MESSAGES
from graph_memory.settings import Settings
from graph_memory.store import Journal

from ..makers import T0, group, message, private, user
from .chat import CHINA, Chat

SETTINGS = Settings(buffer_size_private=4, buffer_size_group=6, buffer_timeout=300)
HERE, OTHER, ROOM = private("zhang"), private("zhang", "ruo"), group("100")


class Talk:
    """Buffers with a clock of their own."""

    def __init__(self, grace: float = 0.0) -> None:
        self.buffers = Buffers(SETTINGS, grace)
        self.time = 0.0
        self.id = 0
        for session in (HERE, OTHER, ROOM):
            self.buffers.know(session)
            self.buffers.begin(session.id)

    def say(self, session: Session, text: str = "嗯", sender: str = user("zhang"), ago: float = 0):
        self.id += 1
        said = message(session, sender, text, T0 + self.time - ago)
        said = replace(said, id=self.id)
        self.buffers.put(said, T0 + self.time, self.time)
        return said

    def due(self) -> list[str]:
        return [id for id, wait in self._waits().items() if wait <= 0]

    def next(self) -> float:
        return min(self._waits().values(), default=inf)

    def _waits(self) -> dict[str, float]:
        return self.buffers.waits(T0 + self.time, self.time)


def test_nothing_is_due_when_nothing_was_said():
    assert Talk().due() == []
    assert Talk().next() == inf


def test_size_counts_people_and_bot():
    talk = Talk()
    for number in range(4):
        assert talk.due() == []
        talk.say(HERE, sender=BOT if number % 2 else user("zhang"))
    assert talk.due() == [HERE.id]
    for _ in range(5):
        talk.say(ROOM)
    assert talk.due() == [HERE.id]
    talk.say(ROOM)
    assert talk.due() == [HERE.id, ROOM.id]


def test_idle_time_counts_from_the_last_message():
    talk = Talk()
    for _ in range(5):
        talk.say(ROOM)
    talk.time = 200
    talk.say(HERE)
    talk.say(HERE)
    talk.say(HERE)
    assert talk.next() == PATIENCE * 300 - 200
    talk.time = PATIENCE * 300 - 1
    assert talk.due() == []
    talk.time = PATIENCE * 300
    assert talk.due() == [ROOM.id]


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


def test_after_a_restart_idle_time_counts_from_when_it_was_said():
    talk = Talk()
    talk.say(HERE, ago=PATIENCE * 300 - 1)
    assert talk.next() == 1
    # A platform whose clock is ahead delays nothing.
    talk = Talk()
    talk.say(HERE, ago=-9_999)
    assert talk.next() == PATIENCE * 300


def test_asking_to_remember_is_due_at_once_but_only_by_people():
    talk = Talk()
    talk.say(HERE, "记住我对花生过敏", sender=BOT)
    assert talk.due() == []
    talk.say(HERE, "记住我对花生过敏")
    assert talk.due() == [HERE.id]


def test_another_persona_in_the_same_chat_completes_the_first():
    talk = Talk()
    talk.say(HERE)
    talk.say(ROOM)
    talk.say(OTHER, sender=BOT)  # a late reply is no switch
    assert talk.due() == []
    talk.say(OTHER)
    assert talk.due() == [HERE.id]


def test_a_new_message_is_left_alone_for_a_moment():
    talk = Talk(grace=1.0)
    for _ in range(4):
        said = talk.say(HERE)
        talk.time += 0.5
    assert talk.next() == 0.5
    assert talk.buffers.held(HERE.id, talk.time) == [1, 2, 3]
    # Meanwhile the last one was found to belong to another persona.
    talk.buffers.put(replace(said, session=OTHER.id), T0, talk.time)
    assert talk.buffers.held(HERE.id) == [1, 2, 3]
    assert talk.buffers.held(OTHER.id) == [4]
    talk.time += 1.0
    assert talk.due() == [HERE.id]  # by the switch
    talk.buffers.drop([1, 2, 3])
    assert talk.due() == []
    assert len(talk.buffers) == 1


def test_an_urgent_claim_does_not_hurry_what_comes_after_it():
    talk = Talk(grace=1.0)
    talk.say(HERE, "记住这件事")
    talk.time += 0.9
    talk.say(HERE)
    talk.time += 0.2
    assert talk.due() == [HERE.id]
    assert talk.buffers.held(HERE.id, talk.time) == [1]
    talk.buffers.drop([1])
    talk.time += 10
    assert talk.due() == []


def test_claimed_messages_are_not_buffered():
    talk = Talk()
    talk.buffers.put(replace(talk.say(HERE), batch=1), T0, 0)
    assert len(talk.buffers) == 0
    assert talk.buffers.waiting() == []
    assert talk.next() == inf


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
    for count in (MAX_MESSAGES - FEW_IN_GROUP, FEW_IN_GROUP + 3):
        for number in range(count):
            room.at -= 60 - step
            await room.say("zhang", f"第{number}句", "张三")
        await room.claim()
    last = await journal.read(lambda rows: rows.episode(room.session.id))
    assert (last.messages, last.last_message) == (MAX_MESSAGES, MAX_MESSAGES)
    assert len((await room.claim()).messages) == 3
    assert len(await room.rows(Episode)) == 2


async def test_a_batch_holds_no_more_than_one_call_can(chat: Chat):
    for _ in range(3):
        await chat.say("zhang", "长" * (MAX_TOKENS // 2 + 1), "张三")
    assert [len((await chat.claim()).messages) for _ in "abc"] == [1, 1, 1]
    assert len(await chat.rows(Episode)) == 1
