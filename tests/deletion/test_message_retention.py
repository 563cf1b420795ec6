"""Retention of messages, of empty nodes and of vectors of former models."""

import asyncio
import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from graph_memory.companion import CoreFact, InnerState
from graph_memory.deletion.message_retention import LOG_KEPT, PRUNED, SLICE, SPARE, prune, trim_log
from graph_memory.deletion.retraction import retract
from graph_memory.embedding import calibrate, text_hash
from graph_memory.errors import NotFoundError
from graph_memory.maintenance import Report, Upkeep
from graph_memory.maintenance import upkeep as maintenance
from graph_memory.maintenance.upkeep import FEW, GRACE
from graph_memory.model import (
    Change,
    Entity,
    Episode,
    Erased,
    Fact,
    Mention,
    Merge,
    Message,
    Name,
    Row,
    asker_of,
)
from graph_memory.recall import Recaller
from graph_memory.retention import DAY
from graph_memory.settings import Settings
from graph_memory.store import Draft, Journal

from ..maintenance.test_upkeep import make
from ..makers import (
    CHINA,
    HOME,
    T0,
    ZHANG,
    Clock,
    all_changes,
    claim_all,
    context,
    entity,
    fact,
    group,
    last_change,
    message,
    name,
    put,
    scan,
    undo,
)
from ..scripted import HashEmbedder


class World:
    def __init__(self, journal: Journal, clock: Clock) -> None:
        self.journal, self.clock = journal, clock
        self.erased: list[int] = []
        journal.listen(self._follow)

    def _follow(self, event: object) -> None:
        if isinstance(event, Erased):
            self.erased += event.messages

    async def run(self, **settings: object) -> Report:
        chosen = Settings(**settings)  # type: ignore[arg-type]
        return await make(context(self.journal, chosen, now=self.clock)).run()

    async def say(self, text: str, at: float = T0, *, learn: bool = True) -> Message:
        said = await self.journal.append(message(HOME, ZHANG, text, at=at), HOME)
        if learn:
            await self.learn()
        return said

    async def learn(self) -> None:
        batch, _ = await self.journal.claim(HOME.id, claim_all)
        await self.journal.commit(lambda _: Draft("learn", "learned", batch=batch.id))

    async def put(self, *rows: Row) -> Change | None:
        return await put(self.journal, HOME, *rows)

    async def left(self) -> list[str]:
        return [row.text for row in await self.journal.newest_messages(10_000)]


@pytest.fixture
def world(journal: Journal, clock: Clock) -> World:
    return World(journal, clock)


def told(first: Message, last: Message, summary: str = "张三聊了很多", **more: object) -> Episode:
    made = Episode("ep:1", HOME.id, first.at, last.at, first.id, last.id, 2, summary, (ZHANG,))
    return replace(made, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("interval", [0, 24])
async def test_what_went_over_time_is_counted(world, interval: int):
    assert (await world.journal.counts())["thinned"] == 0
    for days in (100, 200):
        first = await world.say("今天好累", world.clock.now)
        last = await world.say("睡了", world.clock.now + 1)
        await world.put(replace(told(first, last), id=f"ep:{days}"))
        world.clock.now += 100 * DAY
        await world.run(keep_messages_days=99, prune_interval=interval)
    counts = await world.journal.counts()
    assert (counts["thinned"], counts["messages"]) == (4, 0)


async def test_only_what_is_told_elsewhere_and_cited_by_nothing_goes(world):
    cited = await world.say("我对花生过敏")
    core = await world.say("我最怕打雷", T0 + 0.5)
    plain = await world.say("今天好累", T0 + 1)
    archived = await world.say("昨天下雨", T0 + 2)
    bare = await world.say("没有摘要的话", T0 + 9_000)
    unlearned = await world.say("还没有学过", T0 + 3, learn=False)
    await world.put(
        told(cited, replace(unlearned, at=T0 + 3)),
        replace(told(bare, bare, ""), id="ep:2"),
        replace(told(cited, bare), id="rec:1", level="month", parts=("ep:1", "ep:2")),
        fact(HOME, ZHANG, entity("花生"), "张三对花生过敏", evidence=(cited.id,), pinned=True),
        fact(HOME, ZHANG, entity("雨"), "下雨", evidence=(archived.id,), status="archived",
             archived_at=T0 + 99 * DAY),
        CoreFact("c:1", HOME.id, ZHANG, 1, "identity", "怕打雷", T0, T0, evidence=(core.id,)),
    )  # fmt: skip
    world.clock.now = T0 + 100 * DAY
    await world.run()
    assert len(await world.left()) == 6, "by default nothing goes"
    await world.run(keep_messages_days=101)
    assert len(await world.left()) == 6
    done = await world.run(keep_messages_days=99)
    assert world.erased == [plain.id]
    assert done.thinned == 1
    assert (await world.journal.counts())["thinned"] == 1
    assert await world.left() == [
        "我对花生过敏", "我最怕打雷", "昨天下雨", "没有摘要的话", "还没有学过",
    ]  # fmt: skip


async def test_what_falls_into_a_span_but_was_said_at_another_time_is_not_told_by_it(world):
    first = await world.say("很早的话")
    strange = await world.say("另一天的话", T0 + 3 * DAY)
    last = await world.say("很早的另一句", T0 + 60)
    await world.put(told(first, last))
    world.clock.now = T0 + 100 * DAY
    await world.run(keep_messages_days=30)
    assert world.erased == [first.id, last.id]
    assert await world.left() == [strange.text]


async def test_many_go_in_slices_and_recall_follows(world):
    recaller = Recaller(context(world.journal, zone=CHINA, now=world.clock))
    recaller.follow()
    await recaller.start()
    count = 2 * SLICE + 5
    for number in range(count):
        said = message(HOME, ZHANG, f"第{number}次说起青岛的海", at=T0 + number)
        await world.journal.append(said, HOME)
    await world.learn()
    first, *_, last = await world.journal.newest_messages(count)
    await world.put(told(first, last, "张三说起青岛"))
    hashes = [text_hash("第7次说起青岛的海"), text_hash("张三说起青岛")]
    await world.journal.put_vectors("m", dict.fromkeys(hashes, np.ones(4, np.float32)))
    world.clock.now = T0 + 100 * DAY
    await world.run(keep_messages_days=30)
    await recaller.settle()
    assert (len(world.erased), await world.left(), recaller.items) == (count, [], 1)
    assert [*await world.journal.vectors("m", hashes)] == hashes[1:]
    found = await recaller.remind(asker_of(HOME, ZHANG), "青岛的海怎么样")
    assert [item.kind for item in found.items] == ["episode"]
    await recaller.close()


async def test_entities_of_which_nothing_is_known_go_after_a_while(world):
    here, there = HOME, group("1")
    known, old, fresh, merged, bot = (entity(text) for text in ("猫", "雨", "雪", "风", "机器人"))
    traces = [
        Mention(f"m:{node}", here.id, node, "bot" if node == bot else "topic", T0, T0)
        for node in (known, old, fresh, bot)
    ]
    again = Mention("m:again", there.id, fresh, "topic", T0 + 50 * DAY, T0 + 50 * DAY)
    await world.put(
        there, *(Entity(node) for node in (known, old, fresh, merged, bot)), *traces, again,
        name(here, old, "雨"), name(here, merged, "风"), name(here, ZHANG, "张三"),
        fact(here, ZHANG, known, "张三养猫", pinned=True),
        Merge("g:1", merged, known, T0),
    )  # fmt: skip
    world.clock.now = T0 + GRACE - 1
    assert (await world.run()).orphaned == 0
    world.clock.now = T0 + GRACE + 1
    assert (await world.run()).orphaned == 1
    left = {row.id for row in await scan(world.journal, Entity)}
    assert left == {known, fresh, merged, bot}
    assert {row.text for row in await scan(world.journal, Name)} == {"风", "张三"}
    await undo(world.journal, await last_change(world.journal), "owner")
    assert await world.journal.read(lambda rows: rows.get(Entity, old)) == Entity(old)


async def test_changes_of_upkeep_are_small(world):
    count = 3 * FEW + 1
    rain = [entity(f"雨{number}") for number in range(count)]
    facts = [
        fact(HOME, ZHANG, node, f"{node}下雨", status="archived", archived_at=T0) for node in rain
    ]
    rows = [Entity(node) for node in rain]
    await world.put(*rows, *facts, *(name(HOME, node, node) for node in rain))
    world.clock.now = T0 + GRACE + 1
    assert (await world.run()).deleted == count
    changes = await all_changes(world.journal, 1)
    assert len(changes) == 5, "facts at once, entities by the way"
    assert max(len(change.ops) for change in changes) <= 100
    assert await world.journal.read(lambda rows: [*rows.scan(Fact), *rows.scan(Name)]) == []


async def test_it_waits_until_nobody_chats_but_not_for_ever(world, monkeypatch):
    now, slept = 100.0, list[float]()

    async def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(seconds)
        now += seconds
        if talking and seconds:
            world.journal.heard_at = now

    talking = False
    upkeep = Upkeep(context(world.journal), None, model=None, breaker=None, embedding=str)
    monkeypatch.setattr(maintenance, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(maintenance, "time", SimpleNamespace(monotonic=lambda: now))
    await upkeep._quiet()
    assert slept == [0], "nobody has said anything"
    world.journal.heard_at = now
    now += 1
    await upkeep._quiet()
    assert now == 103
    talking, world.journal.heard_at = True, now
    await upkeep._quiet()
    assert now == 163


async def test_the_journal_knows_when_somebody_last_spoke(journal: Journal) -> None:
    before = time.monotonic()
    await journal.append(message(HOME, ZHANG, "在吗"), HOME)
    await asyncio.sleep(0)
    assert before <= journal.heard_at <= time.monotonic()


async def test_vectors_of_a_model_of_the_past_go_after_some_days(world):
    many = {text_hash(str(number)): np.ones(4, np.float32) for number in range(PRUNED + 3)}
    await world.journal.put_vectors("old", many)
    await world.journal.put_vectors("new", many)
    assert await prune(world.journal, "old", T0) == 0
    assert await prune(world.journal, "", T0 + 2 * SPARE) == 0, "it is not loaded yet"
    assert await prune(world.journal, "new", T0 + SPARE - 1) == 0
    assert await prune(world.journal, "new", T0 + SPARE) == len(many)
    assert await world.journal.vectors("old", [*many]) == {}
    assert len(await world.journal.vectors("new", [*many])) == len(many)


async def test_a_model_in_use_need_not_be_measured_anew(world):
    model = await calibrate(HashEmbedder(), world.journal)
    for days in (0, 20, 40):
        assert await prune(world.journal, model.name, T0 + days * DAY) == 0
    assert await prune(world.journal, "new~1", T0 + 60 * DAY) > 0


async def test_after_ninety_days_the_log_only_counts(world):
    peanut = fact(HOME, ZHANG, entity("花生"), "张三对花生过敏")
    old = await world.put(peanut, name(HOME, ZHANG, "张三", T0))
    assert old
    newer = await world.put(replace(peanut, use_count=2))
    world.clock.now += LOG_KEPT
    late = await world.put(replace(peanut, use_count=3))
    assert late
    assert await world.journal.in_slices(partial(trim_log, now=world.clock.now)) == 0, "to the day"
    assert await world.journal.in_slices(partial(trim_log, now=world.clock.now + 1)) == 2
    assert await world.journal.in_slices(partial(trim_log, now=world.clock.now + 1)) == 0
    trimmed, kept = await world.journal.change(old.id), await world.journal.change(late.id)
    assert trimmed
    assert sorted(op.kind for op in trimmed.ops) == ["fact", "name", "session"]
    assert not any(op.before or op.after for op in trimmed.ops)
    assert kept == late
    assert (await world.journal.read(lambda rows: rows.get(Fact, peanut.id))) is not None
    for number in (old.id, newer.id):
        with pytest.raises(NotFoundError, match="too old"):
            await undo(world.journal, number, "owner")
    assert await undo(world.journal, late.id, "owner")


async def test_changes_of_a_clock_that_was_ahead_hold_up_no_trimming(world):
    peanut = fact(HOME, ZHANG, entity("花生"), "张三对花生过敏")
    for ahead, use in ((0, 1), (3650 * DAY, 2), (0, 3), (3650 * DAY, 4)):
        world.clock.now = T0 + ahead
        await world.put(replace(peanut, use_count=use))
    assert await world.journal.in_slices(partial(trim_log, now=T0 + LOG_KEPT + 1)) == 3, (
        "but not what may be of today"
    )


async def test_a_message_retracted_late_takes_its_names_and_what_was_understood(world):
    said = await world.say("我家有只猫叫豆豆")
    cat = entity("豆豆")
    state = InnerState("in:1", HOME.id, "我懂了", "养猫的人", "近了", 1, T0)
    await world.put(Entity(cat), name(HOME, cat, "豆豆", T0), state)
    assert await world.journal.in_slices(partial(trim_log, now=T0 + 100 * DAY)) == 3
    await world.journal.in_slices(
        lambda db, tell: retract(db, tell, ids=[said.id], at=T0 + 100 * DAY)
    )
    for kind in (Name, InnerState):
        assert await scan(world.journal, kind) == []
