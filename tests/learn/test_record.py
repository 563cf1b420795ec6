"""What a claim takes, and what it writes without any model."""

from __future__ import annotations

from graph_memory.episode import GAP, MAX_MESSAGES
from graph_memory.journal import Journal
from graph_memory.learn.batching import MAX_TOKENS
from graph_memory.model import BOT, Episode, Name, Participation, episode_id

from ..makers import T0, group, private, user
from .chat import Chat


async def test_people_names_and_the_episode(journal: Journal):
    chat = Chat(journal, group("100"))
    await chat.say("zhang", "大家好", "张三")
    await chat.say(BOT, "你好")
    await chat.say("li", "嗨", "李四")
    await chat.say("zhang", "改名了", "三哥")
    batch = await chat.claim()
    (episode,) = await chat.rows(Episode)
    assert episode == Episode(
        episode_id(chat.session.id, 1), chat.session.id, T0, T0 + 180, 1, 4, 4,
        participants=(user("zhang"), user("li")),
    )  # fmt: skip
    assert [m.batch for m in batch.messages] == [batch.id] * 4
    people = {p.user: p for p in await chat.rows(Participation)}
    assert {u: (p.first_at, p.last_at, p.messages) for u, p in people.items()} == {
        user("zhang"): (T0, T0 + 180, 2), user("li"): (T0 + 120, T0 + 120, 1),
    }  # fmt: skip
    names = {(n.node, n.text): (n.first_at, n.last_at) for n in await chat.rows(Name)}
    assert names == {
        (user("zhang"), "张三"): (T0, T0),
        (user("zhang"), "三哥"): (T0 + 180, T0 + 180),
        (user("li"), "李四"): (T0 + 120, T0 + 120),
    }


async def test_a_batch_continues_the_episode_or_begins_the_next(journal: Journal):
    chat = Chat(journal, private("zhang"))
    await chat.say("zhang", "一", "张三")
    await chat.claim()
    await chat.say("zhang", "二", "张三")
    chat.at += GAP
    await chat.say("zhang", "三", "张三")
    first, second = await chat.claim(), await chat.claim()
    assert [m.text for m in first.messages] == ["二"]
    assert [m.text for m in second.messages] == ["三"]
    episodes = sorted(await chat.rows(Episode), key=lambda e: e.first_message)
    assert [(e.first_message, e.last_message, e.messages) for e in episodes] == [
        (1, 2, 2),
        (3, 3, 1),
    ]
    (person,) = await chat.rows(Participation)
    assert person.messages == 3


async def test_a_batch_stops_at_local_midnight(journal: Journal):
    chat = Chat(journal, private("zhang"))
    chat.at = T0 + 6_300  # 23:58 in China
    for text in "一二三四":
        await chat.say("zhang", text, "张三")
    assert [len((await chat.claim()).messages) for _ in "ab"] == [2, 2]


async def test_a_batch_does_not_overfill_an_episode(journal: Journal):
    chat = Chat(journal, group("100"))
    step = 3.0
    for count in (MAX_MESSAGES - 2, 5):
        for number in range(count):
            chat.at -= 60 - step
            await chat.say("zhang", f"第{number}句", "张三")
        await chat.claim()
    last = await journal.read(lambda rows: rows.episode(chat.session.id))
    assert last is not None
    assert (last.messages, last.last_message) == (MAX_MESSAGES, MAX_MESSAGES)
    rest = await chat.claim()
    assert len(rest.messages) == 3
    assert len(await chat.rows(Episode)) == 2


async def test_a_batch_holds_no_more_than_one_call_can(journal: Journal):
    chat = Chat(journal, private("zhang"))
    for _ in range(3):
        await chat.say("zhang", "长" * (MAX_TOKENS // 2 + 1), "张三")
    assert [len((await chat.claim()).messages) for _ in "abc"] == [1, 1, 1]
    assert len(await chat.rows(Episode)) == 1
