"""Archive, grace, deletion: by the clock that is handed in."""

from dataclasses import replace

import pytest

from graph_memory.context import Context
from graph_memory.dates import midnight
from graph_memory.inference.breaker import Breaker
from graph_memory.inference.ports import LanguageModel
from graph_memory.learning.dedup import ended
from graph_memory.library import Library
from graph_memory.maintenance import Upkeep
from graph_memory.maintenance import upkeep as schedule
from graph_memory.maintenance.upkeep import GRACE, HOUR, SLICE
from graph_memory.model import Entity, Fact, Forgotten, Mention, Name
from graph_memory.retention import DAY, fades_at, strength
from graph_memory.settings import Settings
from graph_memory.store import Journal

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


def make(shared: Context, model: LanguageModel | None = None) -> Upkeep:
    return PromptUpkeep(
        shared, Library(shared), model=model, breaker=Breaker("the writer"), embedding=str
    )


@pytest.fixture
def upkeep(journal: Journal, clock: Clock) -> Upkeep:
    return make(context(journal, now=clock))


async def statements(journal: Journal, status: str) -> set[str]:
    facts = await scan(journal, Fact)
    return {f.statement for f in facts if f.status == status}


async def test_what_is_to_be_forgotten_goes_on_its_day(journal, upkeep, clock):
    trip = fact(HOME, ZHANG, entity("出差"), "张三在出差", valid_to=T0 + DAY, expires=T0 + DAY)
    kept = fact(HOME, ZHANG, entity("感冒"), "张三感冒了", expires=T0 + DAY, pinned=True)
    old = fact(HOME, ZHANG, entity("居家"), "张三在家办公")
    await put(journal, HOME, old, replace(trip, supersedes=(old.id,)), kept)
    clock.now = T0 + DAY - 1
    assert await upkeep._step() <= 3_600
    assert len(await statements(journal, "active")) == 3
    clock.now += 2
    await upkeep._step()
    assert await statements(journal, "active") == {"张三感冒了", "张三在家办公"}
    last = (await all_changes(journal))[-1]
    assert (last.reason, last.actor) == ("expire", ZHANG)
    await undo(journal, last.id, ZHANG)
    clock.now += 10 * DAY
    await upkeep._step()
    assert "张三在出差" in await statements(journal, "active"), "taken back for good"


@pytest.mark.parametrize("interval", [0, 24])
async def test_it_wakes_at_midnight(journal: Journal, clock: Clock, interval: int):
    shared = context(journal, Settings(prune_interval=interval), now=clock)
    clock.now = midnight(T0, shared.zone, 1) - 60
    assert await make(shared)._step() == 61.0


async def test_faded_facts_are_archived_and_deleted_after_grace(journal, upkeep, clock):
    trivial = fact(HOME, ZHANG, entity("雨"), "昨天下雨了", importance=0.0)
    pinned = fact(HOME, ZHANG, entity("花生"), "张三对花生过敏", importance=0.0, pinned=True)
    vital = fact(HOME, ZHANG, entity("女儿"), "张三的女儿叫小雨", importance=1.0)
    await put(journal, HOME, trivial, pinned, vital)
    clock.now = fades_at(trivial, 0.25) - 60
    assert (await upkeep.run()).archived == 0
    clock.now += 120
    assert (await upkeep.run()).archived == 1
    assert await statements(journal, "archived") == {"昨天下雨了"}
    clock.now += GRACE - 60
    assert (await upkeep.run()).deleted == 0
    clock.now += 120
    assert (await upkeep.run()).deleted == 1
    assert await statements(journal, "active") == {"张三对花生过敏", "张三的女儿叫小雨"}
    assert await upkeep.last_run() == clock.now


async def test_what_is_to_come_is_kept_until_its_day(journal, upkeep, clock):
    day = T0 + 400 * DAY
    trip = fact(HOME, ZHANG, entity("云南"), "张三明年去云南", predicate="plans", importance=0.0)
    move = fact(HOME, ZHANG, entity("上海"), "张三明年搬去上海", importance=0.0)
    await put(journal, HOME, replace(trip, due=day), replace(move, valid_from=day))
    clock.now = day - DAY
    assert [each.total for each in await upkeep.preview((0, 9))] == [0, 2]
    assert (await upkeep.run()).archived == 0
    clock.now = day + DAY
    assert (await upkeep.run()).archived == 2


async def test_a_run_can_be_undone(journal, upkeep, clock):
    trivial = fact(HOME, ZHANG, entity("雨"), "昨天下雨了", importance=0.0)
    await put(journal, HOME, trivial)
    clock.now = fades_at(trivial, 0.25) + 60
    await upkeep.run()
    await undo(journal, await last_change(journal), "owner")
    assert await journal.read(lambda rows: rows.get(Fact, trivial.id)) == trivial


async def test_many_facts_go_in_slices(journal, upkeep, clock):
    rainy = (f"第{day}天下雨" for day in range(SLICE + 7))
    await put(journal, HOME, *(fact(HOME, ZHANG, entity("雨"), s, importance=0.0) for s in rainy))
    clock.now = T0 + 400 * DAY
    assert (await upkeep.run()).archived == SLICE + 7
    changes = await all_changes(journal, 1)
    assert [len(change.ops) for change in changes] == [SLICE, 7]


async def test_superseded_facts_go_on_their_own_clock_but_only_within_a_session(
    journal, upkeep, clock
):
    room = group("1")
    old = fact(HOME, ZHANG, entity("北京"), "张三住在北京", importance=1.0)
    elsewhere = fact(room, ZHANG, entity("北京"), "张三说他住在北京", importance=1.0)
    new = fact(
        HOME, ZHANG, entity("上海"), "张三住在上海", importance=1.0,
        supersedes=(old.id, elsewhere.id),
    )  # fmt: skip
    await put(journal, HOME, room, old, elsewhere, new)
    clock.now = T0 + GRACE - 60
    assert (await upkeep.run()).archived == 0
    clock.now = T0 + GRACE + 60
    assert (await upkeep.run()).archived == 1
    assert await statements(journal, "archived") == {"张三住在北京"}


async def test_what_is_pinned_is_not_true_again_when_what_replaced_it_has_faded(
    journal, upkeep, clock
):
    old = fact(HOME, ZHANG, entity("吃素"), "张三吃素", pinned=True)
    new = fact(
        HOME, ZHANG, entity("吃肉"), "张三不吃素了", supersedes=(old.id,),
        status="archived", archived_at=T0,
    )  # fmt: skip
    await put(journal, HOME, old, new)
    clock.now = T0 + GRACE + 60
    assert (await upkeep.run()).deleted == 0
    await put(journal, replace(old, pinned=False, status="archived", archived_at=T0))
    assert (await upkeep.run()).deleted == 2


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


async def test_preview_tells_beforehand_what_would_fade_when(journal, upkeep, clock):
    soon = fact(HOME, ZHANG, entity("雨"), "昨天下雨了", importance=0.0)
    later = fact(HOME, ZHANG, entity("猫"), "张三喜欢猫", importance=0.5)
    await put(journal, HOME, soon, later)
    clock.now = fades_at(soon, 0.25) - 10 * DAY
    forecasts = await upkeep.preview((0, 30, 3650))
    assert [(f.days, f.total) for f in forecasts] == [(0, 0), (30, 1), (3650, 2)]
    assert [line.fact for line in forecasts[2].lines] == [soon, later], "weakest first"
    assert await last_change(journal) == 1, "looking changes nothing"


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


async def test_a_clock_that_was_ahead_holds_nothing_up(journal, upkeep, clock):
    clock.now += 900 * DAY
    await upkeep._step()
    clock.now = T0
    await upkeep._step()
    assert await upkeep.last_run() == T0
    clock.now += DAY
    await upkeep._step()
    assert await upkeep.last_run() == T0 + DAY


async def test_what_was_to_come_replaces_what_was_so_on_its_day(journal, upkeep, clock):
    old = fact(HOME, ZHANG, entity("老厂"), "张三在老厂上班", predicate="works_at")
    new = fact(
        *(HOME, ZHANG, entity("新厂"), "张三去新厂上班"),
        predicate="works_at",
        valid_from=T0 + 3 * DAY,
        awaits=(old.id,),
    )
    await put(journal, HOME, old, new)
    for day, replaced in ((2, ()), (4, (old.id,)), (5, (old.id,))):
        clock.now = T0 + day * DAY
        assert await upkeep.begin() == (day == 4)
        stored = await journal.read(lambda rows: rows.get(Fact, new.id))
        assert stored.supersedes == replaced
    assert stored.awaits == ()


async def test_what_was_corrected_meanwhile_is_over_on_that_day_as_well(journal, upkeep, clock):
    old = fact(HOME, ZHANG, entity("北京"), "张三住在北京", predicate="lives_in")
    right = replace(old, id="f:right", statement="张三住在杭州", supersedes=(old.id,))
    about = {"predicate": "lives_in", "valid_from": T0 + DAY, "awaits": (old.id,)}
    new = fact(HOME, ZHANG, entity("上海"), "张三搬去上海", **about)
    later = replace(right, id="f:later", valid_from=T0 + 1.5 * DAY)
    await put(journal, HOME, old, right, new, later)
    clock.now = T0 + 2 * DAY
    await upkeep.begin()
    begun = await journal.read(lambda rows: rows.get(Fact, new.id))
    assert {*begun.supersedes} == {old.id, right.id}


async def test_what_was_pinned_goes_on_the_day_that_somebody_names(journal, upkeep, clock):
    kept = fact(HOME, ZHANG, entity("感冒"), "张三感冒了", pinned=True)
    await put(journal, HOME, kept)
    library = Library(context(journal, now=clock))
    for _ in range(2):  # saying it again is no error
        await library.expire(kept.id, T0 + DAY, None, "owner")
    clock.now = T0 + 2 * DAY
    await upkeep._step()
    assert await scan(journal, Fact) == []


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
