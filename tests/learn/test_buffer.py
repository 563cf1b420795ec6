"""When a Session is due."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from graph_memory.learn.batching import Buffers
from graph_memory.model import BOT, Session
from graph_memory.settings import Settings

from ..makers import T0, group, message, private, user

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

    def say(self, session: Session, text: str = "嗯", sender: str = user("zhang"), ago: float = 0):
        self.id += 1
        said = message(session, sender, text, T0 + self.time - ago)
        said = replace(said, id=self.id)
        self.buffers.put(said, T0 + self.time, self.time)
        return said

    def due(self) -> list[str]:
        return self.buffers.due(T0 + self.time, self.time)

    def next(self) -> float:
        return self.buffers.next(T0 + self.time, self.time)


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
    talk.say(HERE)
    talk.time = 200
    talk.say(HERE)
    assert talk.next() == 300
    talk.time = 499
    assert talk.due() == []
    talk.time = 500
    assert talk.due() == [HERE.id]


def test_after_a_restart_idle_time_counts_from_when_it_was_said():
    talk = Talk()
    talk.say(HERE, ago=299)
    assert talk.next() == 1
    # A platform whose clock is ahead delays nothing.
    talk = Talk()
    talk.say(HERE, ago=-9_999)
    assert talk.next() == 300


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
    assert talk.buffers.stable(HERE.id, talk.time) == said.id - 1
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
    assert talk.buffers.stable(HERE.id, talk.time) == 1
    talk.buffers.drop([1])
    talk.time += 10
    assert talk.due() == []


def test_claimed_messages_are_not_buffered():
    talk = Talk()
    said = talk.say(HERE)
    talk.buffers.put(replace(said, batch=1), T0, 0)
    assert len(talk.buffers) == 0
    assert talk.buffers.waiting() == []
    assert talk.next() == inf
