"""Archive, grace, deletion: by the clock that is handed in."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_memory.context import Context
from graph_memory.dates import midnight
from graph_memory.inference import LanguageModel
from graph_memory.inference.breaker import Breaker
from graph_memory.learning.dedup import ended
from graph_memory.library import Library
from graph_memory.maintenance import Upkeep
from graph_memory.maintenance import upkeep as schedule
from graph_memory.maintenance.upkeep import GRACE, HOUR, SLICE
from graph_memory.model import Entity, Fact, Forgotten, Mention, Name
from graph_memory.retention import DAY, fades_at, strength
from graph_memory.settings import Settings
from graph_memory.store import Journal

from ..cases import cases, words
from ..makers import (
    CLUB,
    HOME,
    LI,
    OTHER,
    T0,
    ZHANG,
    Clock,
    PromptUpkeep,
    all_changes,
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
    zhang_in_club,
)

CASES = cases(Path(__file__).with_name("upkeep.txt"))


def make(shared: Context, model: LanguageModel | None = None) -> Upkeep:
    return PromptUpkeep(
        shared, Library(shared), model=model, breaker=Breaker("the writer"), embedding=str
    )


@pytest.fixture
def upkeep(journal: Journal, clock: Clock) -> Upkeep:
    return make(context(journal, now=clock))


class Nights:
    """Plays a case of ``upkeep.txt``.

    ``+ statement|field value`` is a fact of Zhang's, times in days since the beginning;
    ``day 3 -1`` a second before the third day, ``later 2`` two seconds later, ``GRACE`` a time,
    ``fades … -60`` a minute before a fact fades. ``night`` is a run and what it did, ``hour`` what
    is done every hour, ``begin 1`` how much begins; ``expire 1 …`` has a fact forgotten on a day,
    ``undo`` takes the newest change back, ``changed`` why and by whom it was done. ``preview 0 9;
    0 2`` is how much would be archived within days, and what; ``ran``: a run was noted just now.
    """

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self.journal, self.clock = journal, clock
        self.upkeep = make(context(journal, now=clock))
        self.facts: dict[str, Fact] = {}
        self.stored: list[Fact] = []

    async def step(self, sign: str, text: str) -> None:
        match sign:
            case "+":
                await self._know(*text.split("|"))
            case "day":
                day, *more = text.split()
                self.clock.now = T0 + float(day) * DAY + self._seconds(more)
            case "later":
                self.clock.now += self._seconds(text.split())
            case "fades":
                statement, seconds = text.split()
                self.clock.now = fades_at(self.facts[statement], 0.25) + float(seconds)
            case "night":
                what, count = text.split()
                assert getattr(await self.upkeep.run(), what) == int(count)
            case "hour":
                assert await self.upkeep._step() <= HOUR
            case "begin":
                assert await self.upkeep.begin() == int(text)
            case "expire":
                day, statement = text.split()
                library, fact = (
                    Library(context(self.journal, now=self.clock)),
                    self.facts[statement],
                )
                await library.expire(fact.id, T0 + float(day) * DAY, None, "owner")
            case "undo":
                await undo(self.journal, await last_change(self.journal), "owner")
            case "changed":
                last = (await all_changes(self.journal))[-1]
                assert f"{last.reason} by {last.actor}" == text
            case "preview":
                days, totals, *weakest = words(text)
                found = await self.upkeep.preview([*map(int, days.split())])
                assert [each.total for each in found] == [*map(int, totals.split())]
                told = [line.fact.statement for line in found[-1].lines]
                assert not weakest or told == weakest
            case "keep":
                self.stored = await scan(self.journal, Fact)
            case "kept":
                assert await scan(self.journal, Fact) == self.stored
            case "ran":
                assert await self.upkeep.last_run() == self.clock.now
            case "fact":
                statement, *fields = text.split("|")
                stored = {fact.statement: fact for fact in await scan(self.journal, Fact)}
                for key, _, value in (field.partition(" ") for field in fields):
                    wanted = {self.facts[each].id for each in words(value)}
                    assert {*getattr(stored[statement], key)} == wanted
            case _:
                found = [fact for fact in await scan(self.journal, Fact) if fact.status == sign]
                assert sorted(fact.statement for fact in found) == sorted(words(text))

    def _seconds(self, texts: list[str]) -> float:
        return sum(GRACE if text == "GRACE" else float(text) for text in texts)

    async def _know(self, statement: str, *fields: str) -> None:
        given: dict[str, Any] = {}
        for key, _, value in (field.partition(" ") for field in fields):
            match key:
                case "supersedes" | "awaits":
                    given[key] = tuple(self.facts[each].id for each in words(value))
                case "predicate" | "status":
                    given[key] = value
                case "importance":
                    given[key] = float(value)
                case "pinned":
                    given[key] = value == "yes"
                case "session":
                    given[key] = group(value)
                case _:
                    given[key] = T0 + float(value) * DAY
        here = given.pop("session", HOME)
        self.facts[statement] = fact(here, ZHANG, entity(statement), statement, **given)
        await put(self.journal, here, self.facts[statement])


@pytest.mark.parametrize("name", CASES)
async def test_what_becomes_of_it_by_the_clock(journal: Journal, clock: Clock, name: str) -> None:
    nights = Nights(journal, clock)
    for line in CASES[name]:
        await nights.step(*line.partition(" ")[::2])


@pytest.mark.parametrize("interval", [0, 24])
async def test_it_wakes_at_midnight(journal: Journal, clock: Clock, interval: int):
    shared = context(journal, Settings(prune_interval=interval), now=clock)
    clock.now = midnight(T0, shared.zone, 1) - 60
    assert await make(shared)._step() == 61.0


async def test_many_facts_go_in_slices(journal, upkeep, clock):
    rainy = (f"第{day}天下雨" for day in range(SLICE + 7))
    await put(journal, HOME, *(fact(HOME, ZHANG, entity("雨"), s, importance=0.0) for s in rainy))
    clock.now = T0 + 400 * DAY
    assert (await upkeep.run()).archived == SLICE + 7
    changes = await all_changes(journal, 1)
    assert [len(change.ops) for change in changes] == [SLICE, 7]


async def test_an_entity_goes_with_its_last_row(journal, upkeep, clock):
    rain, cat = entity("雨"), entity("猫")
    gone = fact(HOME, ZHANG, rain, "昨天下雨了", status="archived", archived_at=T0)
    also_gone = fact(HOME, ZHANG, cat, "有只猫路过", status="archived", archived_at=T0)
    kept = fact(group("1"), ZHANG, cat, "张三养猫", importance=1.0)
    await put(
        journal, HOME, group("1"), gone, also_gone, kept, Entity(rain), Entity(cat),
        name(HOME, rain, "雨"), name(HOME, cat, "猫"), name(group("1"), cat, "猫"),
        Mention("m:1", HOME.id, rain, "topic", T0, T0),
    )  # fmt: skip
    clock.now = T0 + GRACE + 60
    assert (await upkeep.run()).deleted == 2
    assert [row.id for row in await scan(journal, Entity)] == [cat]
    names = await scan(journal, Name)
    assert {row.node for row in names} == {cat}, "which has its names as long as it is there"
    assert await scan(journal, Mention) == []


async def test_other_settings_are_tried_out_and_then_used(journal, upkeep, clock):
    rain = fact(HOME, ZHANG, entity("雨"), "昨天下雨了", importance=0.0)
    await put(journal, HOME, rain)
    clock.now = T0 + 40 * DAY
    (now,) = await upkeep.preview((0,))
    (tried,) = await upkeep.preview((0,), rate=10.0, threshold=0.5)
    assert (now.total, tried.total) == (0, 1)
    assert tried.lines[0].strength == strength(rain, clock.now, 10.0)
    assert tried.lines[0].fades_at == fades_at(rain, 0.5, 10.0)
    assert (await upkeep.run()).archived == 0
    upkeep._context.tune(time_decay_rate=10.0, min_importance_threshold=0.5)
    assert (await upkeep.run()).archived == 1


async def test_it_runs_by_itself_when_an_interval_is_over(journal, clock, monkeypatch):
    monkeypatch.setattr(schedule, "SETTLING", 0.0)
    shared = context(journal, Settings(prune_interval=0), now=clock)
    upkeep = make(shared)
    await upkeep.start()
    await upkeep._job.idle()
    assert await upkeep.last_run() is None, "it is turned off"
    shared.tune(prune_interval=24)
    upkeep.look_again()
    await upkeep._job.idle()
    assert await upkeep.last_run() == T0, "it waits a whole interval"
    clock.now += DAY
    await upkeep._job.idle()
    assert await upkeep.last_run() == T0 + DAY
    await upkeep.close()


async def test_turned_off_it_archives_nothing_and_looks_after_old_messages_daily(journal, clock):
    await put(journal, HOME, fact(HOME, ZHANG, entity("雨"), "昨天下雨了", importance=0.0))
    upkeep = make(context(journal, Settings(prune_interval=0, keep_messages_days=30), now=clock))
    await upkeep._step()
    clock.now = T0 + 400 * DAY
    (now,) = await upkeep.preview((0,))
    (tried,) = await upkeep.preview((0,), rate=1.0, threshold=0.25)
    assert (now.total, tried.total) == (0, 1)
    await upkeep._step()
    assert [row.status for row in await scan(journal, Fact)] == ["active"]
    assert await upkeep.last_run() == clock.now


async def test_what_somebody_dated_goes_with_what_it_replaced_but_not_with_others_words(
    journal, upkeep, clock
):
    told = await journal.append(message(CLUB, LI, "张三欠我钱"), CLUB)
    owes = fact(CLUB, ZHANG, entity("钱"), "张三欠李四钱", speaker=LI, evidence=(told.id,))
    old = fact(CLUB, ZHANG, entity("账"), "张三欠债", speaker=LI)
    owes = replace(owes, supersedes=(old.id,))
    await journal.append(message(CLUB, ZHANG, "哦"), CLUB)
    await put(journal, CLUB, owes, old)
    library = Library(context(journal, now=clock))
    await library.expire(owes.id, T0 + DAY, zhang_in_club.asker, ZHANG)
    clock.now = T0 + 2 * DAY
    await upkeep._step()
    assert await scan(journal, Fact) == await scan(journal, Forgotten) == []
    assert (await all_changes(journal))[-1].actor == ZHANG


async def test_what_was_called_off_replaces_nothing_on_its_day(journal, upkeep, clock):
    old = fact(HOME, ZHANG, entity("北京"), "张三住在北京", predicate="lives_in")
    about = {"predicate": "lives_in", "valid_from": T0 + DAY, "awaits": (old.id,)}
    new = fact(HOME, ZHANG, entity("上海"), "张三搬去上海", **about)
    off = ended(new, HOME.id, ZHANG, [message(HOME, ZHANG, "不搬了")], T0, [])
    await put(journal, HOME, old, new, off)
    clock.now = T0 + 2 * DAY
    assert await upkeep.begin() == 0
    elsewhere = replace(off, id="f:elsewhere", session=OTHER.id)
    await put(journal, elsewhere, drop=[off])  # who is there alone knows nothing of it
    assert await upkeep.begin() == 1


async def test_facts_begin_every_hour_whatever_the_interval_is(journal, clock):
    upkeep = make(context(journal, Settings(prune_interval=0), now=clock))
    new = fact(HOME, ZHANG, entity("新厂"), "张三去新厂上班", valid_from=T0 - 1, awaits=("f:1",))
    await put(journal, HOME, new)
    assert await upkeep._step() == HOUR
    assert (await journal.read(lambda rows: rows.get(Fact, new.id))).supersedes == ("f:1",)
