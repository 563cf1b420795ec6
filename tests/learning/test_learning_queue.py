"""Learning end to end: a real journal, real tasks; only the model is scripted."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from graph_memory.errors import ClosedError, ExtractionError, Failure
from graph_memory.inference.breaker import Breaker
from graph_memory.inference.token_budget import Cost, TokenBudget
from graph_memory.learning import Learning, extractor
from graph_memory.learning.batching import PATIENCE
from graph_memory.learning.prompt import VERSION
from graph_memory.library import Library
from graph_memory.model import BOT, GAP, Change, Episode, Fact, Forgotten, Session, Turn, stable_id
from graph_memory.settings import Settings
from graph_memory.store import Journal
from tests.makers import put, scan

from ..cases import tabled
from ..makers import CHINA, T0, all_changes, claim_all, context, group, private, user
from ..scripted import ScriptedModel, answer, said

ZHANG, LI = user("zhang"), user("li")
HERE, OTHER, ROOM = private("zhang"), private("zhang", "ruo"), group("100")
PLACES = {"home": HERE, "room": ROOM, "other": group("200")}
CATS = answer(said("U1", "likes", "猫", "张三喜欢猫", 1), summary="张三聊了猫。")


class World:
    """One bot: a journal, learning, and a clock that stands still."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.time = T0
        self.model: ScriptedModel | None = ScriptedModel()
        self.settings = Settings(buffer_size_private=4, buffer_size_group=6)
        self.journal: Journal
        self.learning: Learning
        self.budget: TokenBudget

    async def open(self) -> World:
        self.journal = await Journal.open(self.path, lambda: self.time)
        shared = context(self.journal, self.settings, zone=CHINA, now=lambda: self.time)
        self.budget = shared.budget
        self.learning = Learning(
            shared, self.model, grace=0, breaker=Breaker("模型", clock=lambda: self.time)
        )
        await self.learning.start()
        return self

    async def close(self) -> None:
        await self.learning.close()
        await self.journal.close()

    async def hear(self, *texts: str, session: Session = HERE, sender: str = ZHANG) -> None:
        for text in texts:
            await self.learning.hear(Turn(session, sender, "张三", text))
            self.time += 1

    async def facts(self, session: Session | None = None) -> list[Fact]:
        where = session.id if session else None
        return await self.journal.read(lambda rows: rows.find(Fact, session=where))

    async def learned(self) -> list[Change]:
        return [c for c in await all_changes(self.journal) if c.batch is not None]

    @property
    def cost(self) -> Cost:
        """What learning has asked of the model today."""
        return self.budget.today().costs.get(extractor.PURPOSE, Cost())

    @property
    def script(self) -> ScriptedModel:
        assert self.model
        return self.model


@pytest.fixture
async def world(tmp_path: Path, request: Any) -> AsyncIterator[World]:
    """A bot, with settings or a model of its own if a test says so."""
    made = World(tmp_path / "journal.sqlite3")
    vars(made).update(getattr(request, "param", {}))
    yield await made.open()
    await made.close()


async def test_what_is_heard_is_clean_and_on_disk(world: World):
    heard = await world.learning.hear(
        Turn(HERE, ZHANG, " 张\n三 ", " 我喜欢猫\x00 ", ref="m1"), at=T0 - 5
    )
    assert (heard.id, heard.name, heard.text, heard.at) == (1, "张 三", "我喜欢猫", T0 - 5)
    assert await world.journal.pending(HERE.id) == [heard]
    again = await world.learning.hear(Turn(HERE, ZHANG, "张三", "我喜欢猫", ref="m1"))
    assert again == heard
    for text in (
        " \u200b\n",
        "\u2060",
        "\u3164",
        "\U000e0041\U000e0042",
        "\ufe0f\u200d",
        " \u2800 ",
    ):
        assert await world.learning.hear(Turn(ROOM, LI, "李四", text)) is None
    assert await world.journal.presences() == []
    assert (await world.learning.hear(Turn(ROOM, LI, "【\u200b】", "在吗"))).name == ""
    reply = await world.learning.reply(HERE, "我也是")
    assert reply.sender == BOT
    assert (await world.learning.status()).buffered == 3


@tabled
async def test_only_what_is_to_be_remembered_is_stored(world, settings, steps, present):
    """Nothing of chats and people that are left out, nor of answers to them; a pause stays."""
    await world.close()
    world.settings = Settings(**settings)
    learning = (await world.open()).learning
    for what, place, who, is_stored in steps:
        turn = Turn(PLACES[place], user(who) if who else "", who, "大家好")
        match what:
            case "hear":
                found = await learning.hear(turn)
            case "reply":
                found = await learning.reply(turn.session, "你好", to=turn.user)
            case "remember":
                found = await learning.remember(turn)
            case _:
                await learning.pauses.pause("circle", turn.session.circle)
                continue
        assert bool(found) is is_stored, (what, place, who)
    assert (await world.journal.counts())["messages"] == sum(step[-1] for step in steps)
    assert [each.user for each in await world.journal.presences()] == [*map(user, present)]


async def test_a_full_buffer_is_learned_with_one_call(world: World):
    world.script.script = [CATS]
    await world.hear("我喜欢猫", "真的", "很喜欢")
    await world.learning.settle()
    assert world.script.calls == []
    await world.learning.reply(HERE, "看得出来")
    await world.learning.settle()
    (fact,) = await world.facts()
    assert fact.statement == "张三喜欢猫"
    (call,) = world.script.calls
    assert call.where == HERE.umo
    assert call.tool
    assert "[4] BOT: 看得出来" in call.prompt
    (episode,) = await world.journal.read(lambda rows: rows.find(Episode, session=HERE.id))
    assert (episode.messages, episode.summary) == (4, "张三聊了猫。")
    asked = await world.journal.look(lambda db: db.execute("SELECT prompt FROM batch").fetchall())
    assert asked == [(VERSION,)]
    status = await world.learning.status()
    assert (status.buffered, status.waiting, status.dead, status.failed) == (0, 0, 0, 0)
    assert status.last_learned_at == world.time
    assert world.cost == Cost(1, 100, 10)
    world.time += 86_400
    assert world.cost == Cost()


async def test_a_call_that_a_library_cancels_is_not_made_again_at_once(world: World):
    def cancelled(_: object) -> None:
        raise asyncio.CancelledError

    world.model.script = cancelled
    await world.hear(*"我们一二")
    await world.model.asked.wait()
    await asyncio.sleep(0.1)
    assert len(world.model.calls) == 1


async def test_what_was_shown_in_vain_makes_room_for_what_was_not(world: World):
    """Twice without use, and others come first; then it has another chance."""
    orders: list[list[str]] = []
    names = [f"物品{number:02}号" for number in range(40)]
    owned = [said("U1", "owns", name, f"张三有{name}", 1) for name in names]
    world.script.script = [answer(*owned)]
    await world.hear("，".join(names))
    for text in ("嗯", "今天下雨", "我在修电脑", "路上堵车", "晚饭吃面"):
        await world.hear(text)
        await world.learning.flush()
        prompt = world.script.calls[-1].prompt
        orders.append(re.findall(r"(?m)^\d+\. .*: (.*)$", prompt))
    first, again, other = orders[1:4]
    assert first
    assert first == again
    assert not {*first} & {*other[: len(other) // 2]}


async def test_the_timer_itself_wakes_the_learner(world: World):
    await world.learning.hear(Turn(HERE, ZHANG, "张三", "我喜欢猫"), at=T0 - 300 + 0.05)
    await asyncio.sleep(0)  # the learner goes to sleep for 50 ms
    world.time += 0.05
    await asyncio.wait_for(world.script.asked.wait(), 5)


@tabled
async def test_a_word_may_be_all_there_is_to_remember_or_only_announce_it(world, texts, facts):
    await world.hear(*texts)
    await world.learning.flush()
    assert len(await world.facts()) == facts


async def test_what_is_to_be_remembered_is_kept_though_learning_has_to_wait(world: World):
    """At once, and once: the model may be down, or have cost its share of the day.

    What was forgotten meanwhile is not kept again.
    """
    world.script.script = [ExtractionError("没有额度")] * 2
    await world.hear("记住我妈妈的生日是六月一号")
    await world.learning.settle()
    (fact,) = await world.facts()
    assert fact.statement == "张三：我妈妈的生日是六月一号"
    while not world.learning.breaker.retry_in:
        with pytest.raises(ExtractionError), world.learning.breaker.call():
            raise ExtractionError("没有额度")
    await world.hear("记住我爸爸的生日是七月一号")
    await world.learning.settle()
    assert len(await world.facts()) == 2
    library = Library(context(world.journal, world.settings, now=lambda: world.time))
    await library.forget([fact.id], None, "owner")
    world.time += 3600
    await world.learning.flush()
    await world.learning.flush()
    await world.learning.settle()
    assert (await world.learning.status()).waiting == 0
    assert [fact.statement for fact in await world.facts()] == ["张三：我爸爸的生日是七月一号"]
    mine = [change for change in await all_changes(world.journal) if change.actor == ZHANG]
    assert len(mine) == 2, "so that /memory undo takes the words back"


async def test_a_persona_switch_is_learned_into_the_old_personas_session(world: World):
    world.script.script = [CATS]
    await world.hear("我喜欢猫", session=HERE)
    await world.hear("我喜欢狗", session=OTHER)
    await world.learning.settle()
    (fact,) = await world.facts()
    assert fact.session == HERE.id
    (call,) = world.script.calls
    assert "狗" not in call.prompt
    assert [m.session for m in await world.journal.pending()] == [OTHER.id]


async def test_a_message_that_is_moved_to_another_persona_is_learned_there(world: World):
    heard = await world.learning.hear(Turn(HERE, ZHANG, "张三", "我喜欢猫"))
    assert await world.journal.retag(heard.id, OTHER)
    world.script.script = [CATS]
    assert await world.learning.flush() == 1
    assert [f.session for f in await world.facts()] == [OTHER.id]


async def test_flush_learns_one_chat_or_everything(world: World):
    await world.hear("我喜欢猫", session=HERE)
    await world.hear("大家好", session=ROOM)
    world.script.script = [CATS]
    assert await world.learning.flush(HERE.circle) == 1
    assert [c.where for c in world.script.calls] == [HERE.umo]
    assert await world.learning.flush() == 1
    assert await world.learning.flush() == 0
    assert len(world.script.calls) == 2


async def test_a_few_words_are_learned_with_what_follows(world: World):
    await world.hear("上午好，我喜欢猫")
    # Without the clock's going on, or the first would be due by itself before this is heard.
    await world.learning.hear(Turn(HERE, ZHANG, "张三", "下午好"), at=world.time + GAP)
    world.script.script = [{"lines": "summary|张三喜欢猫\nsummary|问好"}]
    assert await world.learning.flush() == 1
    (first,) = world.script.calls
    assert (
        first.prompt.index("上午好") < first.prompt.index("\n---\n") < first.prompt.index("下午好")
    )
    world.time += GAP
    await world.hear("再见")
    assert await world.learning.flush() == 1
    assert "前文 U1: 下午好\n" in world.script.calls[1].prompt
    episodes = await world.journal.read(lambda rows: rows.find(Episode, session=HERE.id))
    assert {each.first_message: each.summary for each in episodes} == {1: "张三喜欢猫", 2: "问好"}


async def test_what_holds_no_words_costs_no_call(world: World):
    await world.hear("😀😀", "……")
    await world.learning.reply(HERE, "你很开心呢")
    assert await world.learning.flush() == 1
    assert world.script.calls == []
    (change,) = await world.learned()
    assert change.ops == ()


async def test_a_restart_picks_up_the_buffer(world: World):
    world.script.script = [CATS]
    await world.hear("我喜欢猫", "真的")
    await world.close()
    world.time += PATIENCE * 300
    await world.open()
    await world.learning.settle()
    assert len(await world.facts()) == 1


async def test_a_kill_while_the_model_thinks_learns_exactly_once(world: World):
    world.script.gate = asyncio.Event()
    await world.hear("我喜欢猫", "真的", "很喜欢", "非常")
    await asyncio.wait_for(world.script.asked.wait(), 5)
    # The journal goes first: nothing can be tidied up, as in a kill.
    await world.journal.close()
    world.script.gate.set()
    await world.learning.close()
    world.model = ScriptedModel([CATS])
    await world.open()
    (queued,) = await world.journal.queue()
    assert (queued.state, queued.attempts) == ("waiting", 0)
    await world.learning.settle()
    assert len(await world.learned()) == 1
    assert [f.use_count for f in await world.facts()] == [1]
    await world.close()
    await world.open()
    await world.learning.settle()
    assert len(world.script.calls) == 1


async def test_closing_while_the_model_thinks_costs_no_attempt(world: World):
    world.script.gate = asyncio.Event()
    await world.hear("我喜欢猫")
    flushing = asyncio.create_task(world.learning.flush())
    await asyncio.wait_for(world.script.asked.wait(), 5)
    await world.learning.close()
    assert await flushing == 0
    (queued,) = await world.journal.queue()
    assert (queued.state, queued.attempts) == ("waiting", 0)
    with pytest.raises(ClosedError):
        await world.learning.flush()
    with pytest.raises(ClosedError):
        await world.learning.remember(Turn(HERE, ZHANG, "张三", "我喜欢猫"))
    await world.learning.settle()


async def test_failures_back_off_then_wait_visibly_then_revive(world, caplog):
    refused = ExtractionError("没有额度", Failure.RATE_LIMIT)
    world.script.script = [*[refused] * 4, "对不起，我不能。"]
    await world.hear("我喜欢猫")
    assert await world.learning.flush() == 0
    for attempt, delay in enumerate((30, 120, 600, 3600), 1):
        (queued,) = await world.journal.queue()
        assert (queued.state, queued.attempts, queued.error) == ("waiting", attempt, "rate_limit")
        assert queued.next_at == world.time + delay
        world.time += delay - 1
        await world.learning.settle()
        assert len(world.script.calls) == attempt
        world.time += 1
        await world.learning.settle()
    status = await world.learning.status()
    assert (status.waiting, status.dead, world.cost.calls) == (0, 1, 5)
    assert (status.failed, status.failure) == (1, "no_json")
    # The third and fourth failure belong to the outage that the breaker reported.
    assert sum(record.levelno >= logging.WARNING for record in caplog.records) == 4
    world.time += 9_999
    await world.learning.settle()
    assert await world.learning.flush() == 0  # the dead stay dead until they are revived
    assert len(world.script.calls) == 5
    # What was said is remembered all the same.
    assert len(await scan(world.journal, Episode)) == 1
    world.script.script = [CATS]
    assert await world.learning.revive() == 1
    await world.learning.settle()
    assert len(await world.facts()) == 1
    assert (await world.learning.status()).failed == 0


async def test_an_answer_without_end_is_not_asked_for_again(world, monkeypatch):
    threads: list[threading.Thread] = []
    read = extractor.parse

    def watched(*args: Any) -> Any:
        threads.append(threading.current_thread())
        return read(*args)

    monkeypatch.setattr(extractor, "parse", watched)
    world.script.script = ["{" * 60_000, CATS]
    await world.hear("我喜欢猫")
    assert await world.learning.flush() == 0
    assert threads
    assert threading.main_thread() not in threads, "the bot goes on meanwhile"
    (batch,) = await world.journal.queue()
    assert (batch.state, batch.attempts, batch.error) == ("dead", 1, "runaway")
    world.time += 9_999
    await world.learning.settle()
    assert len(world.script.calls) == 1
    assert await world.learning.revive() == 1  # by an admin
    await world.learning.settle()
    assert len(await world.facts()) == 1


async def test_a_flush_tries_a_batch_once(world: World, monkeypatch: pytest.MonkeyPatch):
    world.script.script = [ExtractionError("没有额度"), CATS]
    await world.hear("我喜欢猫")
    claim = world.journal.claim

    async def slow(*args: Any) -> Any:
        found = await claim(*args)
        while found is None and not (await world.journal.queue())[0].attempts:
            await asyncio.sleep(0)  # on a busy machine it has failed by now
        return found

    monkeypatch.setattr(world.journal, "claim", slow)
    assert await world.learning.flush() == 0
    assert len(world.script.calls) == 1


async def test_what_is_to_be_remembered_is_tried_once(world, monkeypatch):
    world.script.script = [ExtractionError("没有额度"), CATS]
    find = world.journal.messages

    async def slow(ids: Any) -> Any:
        while not (await world.journal.queue())[0].attempts:
            await asyncio.sleep(0)  # on a busy machine it has failed by now
        return await find(ids)

    monkeypatch.setattr(world.journal, "messages", slow)
    (fact,) = await world.learning.remember(Turn(HERE, ZHANG, "张三", "记住，我喜欢猫"))
    assert fact.statement
    assert len(world.script.calls) == 1


async def test_a_model_that_breaks_in_an_unknown_way_is_a_failure_too(world: World):
    world.script.script = [ZeroDivisionError("?"), CATS]
    await world.hear("我喜欢猫")
    assert await world.learning.flush() == 0
    assert (await world.learning.status()).failure == "other"
    assert await world.learning.flush() == 1


@pytest.mark.parametrize("world", [{"model": None}], indirect=True)
async def test_without_a_model_conversations_are_kept_word_for_word(world: World):
    await world.hear("我喜欢猫", "真的", "很喜欢", "非常")
    await world.learning.settle()
    (change,) = await world.learned()
    assert (change.ops, change.reason) == ((), "learned")
    (episode,) = await scan(world.journal, Episode)
    assert (episode.messages, episode.summary) == (4, "")
    status = await world.learning.status()
    assert (status.buffered, status.waiting, status.dead, world.cost) == (0, 0, 0, Cost())


async def test_two_at_a_time_and_one_of_a_session(world: World):
    world.script.gate = asyncio.Event()
    for session in (HERE, private("li"), private("wang")):
        await world.hear("早上好", session=session)
    for session in (HERE, private("li"), private("wang")):
        await world.learning._claim_all(session.id, world.learning._buffers.held(session.id))
    await world.hear("晚上好", session=HERE)
    flushing = asyncio.create_task(world.learning.flush())
    while len(world.script.calls) < 2:
        await asyncio.wait_for(world.script.asked.wait(), 5)
        world.script.asked.clear()
    assert {c.where for c in world.script.calls} == {HERE.umo, private("li").umo}
    # Nothing waits for the model: messages are stored meanwhile.
    await asyncio.wait_for(world.hear("还在吗", session=HERE), 5)
    world.script.gate.set()
    await flushing
    assert len(await world.learned()) == 4
    assert world.script.most == 2


async def test_two_flushes_share_their_work(world: World):
    world.script.script = [CATS]
    await world.hear("我喜欢猫")
    assert 1 in await asyncio.gather(world.learning.flush(), world.learning.flush())
    assert len(await world.learned()) == 1
    assert len(world.script.calls) == 1


async def test_a_damaged_loop_turn_is_survived(world: World, monkeypatch: pytest.MonkeyPatch):
    broken = [OSError("磁盘已满")]
    claim = world.journal.claim

    async def failing(*args):
        if broken:
            raise broken.pop()
        return await claim(*args)

    monkeypatch.setattr(world.journal, "claim", failing)
    world.script.script = [CATS]
    await world.hear("我喜欢猫", "真的", "很喜欢", "非常")
    await world.learning.settle()
    await world.learning.settle()
    assert len(await world.facts()) == 1


async def test_remember_learns_at_once_what_the_model_finds(world: World):
    world.script.script = [
        answer(said("U1", "allergic_to", "花生", "张三对花生过敏", 2, importance=0.9))
    ]
    await world.hear("你好")
    (fact,) = await world.learning.remember(Turn(HERE, ZHANG, "张三", "我对花生过敏"))
    assert (fact.predicate, fact.evidence) == ("allergic_to", (2,))


@pytest.mark.parametrize("world", [
    {"model": None}, {"model": ScriptedModel([{"worth": False}])},
    {"model": ScriptedModel([ExtractionError("没有额度")])},
], indirect=True)  # fmt: skip
async def test_remember_keeps_what_no_model_made_a_fact_of(world: World):
    (fact,) = await world.learning.remember(Turn(HERE, ZHANG, "张三", "记住，我对花生过敏"))
    assert fact.statement == "张三：我对花生过敏"
    assert (fact.subject, fact.predicate, fact.speaker) == (ZHANG, "other", ZHANG)
    assert fact.object == stable_id("e", "", "我对花生过敏")
    change = (await all_changes(world.journal))[-1]
    # It is the user's own act, who may undo it.
    kept = [c for c in await all_changes(world.journal) if c.reason == "remember"]
    assert [c.actor for c in kept] == [ZHANG]
    assert change.id >= kept[0].id
    # Said again, it is strengthened.
    again = await world.learning.remember(Turn(HERE, ZHANG, "张三", "我对花生过敏"))
    assert [(f.id, f.use_count) for f in again] == [(fact.id, 2)]


async def test_what_was_forgotten_meanwhile_is_not_learned(world: World):
    world.script.script = [ExtractionError("没有额度")]
    await world.hear("你好")
    (fact,) = await world.learning.remember(Turn(HERE, ZHANG, "张三", "我对花生过敏"))
    gone = Forgotten.of(HERE.id, 2)
    await put(world.journal, gone, drop=[fact])
    world.script.script = [answer(said("U1", "likes", "花生", "张三喜欢花生", 2))]
    assert await world.learning.flush() == 1
    assert "花生" not in world.script.calls[-1].prompt
    assert await world.facts() == []


async def test_a_flush_that_is_cancelled_cancels_no_other(world: World):
    world.script.gate = asyncio.Event()
    await world.hear("我喜欢猫")
    first, second = (asyncio.create_task(world.learning.flush()) for _ in "ab")
    await asyncio.wait_for(world.script.asked.wait(), 5)
    first.cancel()
    world.script.gate.set()
    assert await second == 1


async def test_what_was_removed_from_the_buffer_is_not_waited_for(world: World):
    await world.hear("我喜欢猫")
    # As another tool would: the message is claimed behind our back.
    claimed = await world.journal.claim(HERE.id, claim_all)
    assert claimed
    world.time += PATIENCE * 300
    await asyncio.wait_for(world.learning.settle(), 5)
    assert (await world.learning.status()).buffered == 0
