"""Out and in again: the same bytes, nothing twice, nothing from garbage."""

import asyncio
import json
import sqlite3
import tempfile
import typing
from dataclasses import MISSING, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_memory.companion import CoreFact, FollowUp, InnerState, Mood
from graph_memory.deletion import Tombstones, retraction
from graph_memory.deletion.message_retention import trim_log
from graph_memory.errors import FormatError, NotFoundError
from graph_memory.learning import Learning
from graph_memory.library import Library
from graph_memory.model import (
    Addressee,
    Change,
    Entity,
    Episode,
    Erased,
    Fact,
    Forgotten,
    Link,
    Merge,
    Message,
    Name,
    Presence,
    Row,
    Session,
    User,
    asker_of,
    episode_id,
    registered,
    stable_id,
)
from graph_memory.settings import Settings
from graph_memory.store import Journal
from graph_memory.store.pauses import Pauses
from graph_memory.supervisor import Progress
from graph_memory.transfer import TransferService
from graph_memory.transfer.deduplication import referred
from graph_memory.transfer.file_format import pack, unpack
from tests.makers import (
    T0,
    context,
    entity,
    fact,
    group,
    last_change,
    message,
    name,
    private,
    scan,
    user,
)
from tests.makers import put as write
from tests.recall.histories import History, histories

from ..cases import examples, tabled
from .support import attend, brought, everything, exported, hear, importer, opened, put, refused

GROUP, HER = group("9"), private("1")
PEANUT = entity("花生")


async def test_chosen_facts_are_read_again_with_what_they_rest_on(one, two, tmp_path):
    await filled(one)
    facts = await scan(one, Fact)
    chosen = next(each for each in facts if each.evidence)
    assert len(facts) > 1
    data = await exported(one, facts=[chosen.id, "f:gone"])
    await brought(two, put(tmp_path / "facts.jsonl", data))
    assert await scan(two, Fact) == [chosen]
    assert [each.id for each in await everything(two)] == list(chosen.evidence)
    names = await two.read(lambda rows: rows.find(Name, a=chosen.object))
    assert names or not chosen.object.startswith("e:")


async def filled(journal: Journal) -> None:
    """A memory with something of every kind."""
    lines = await hear(
        journal,
        GROUP,
        message(GROUP, user("1"), "我对花生过敏", T0, name="小红", ref="11@0"),
        message(GROUP, user("2"), "那我们不吃花生", T0 + 30, name="小明"),
        message(GROUP, "bot", "记住了，小红", T0 + 40, name=""),
    )
    await hear(journal, HER, message(HER, user("1"), "别告诉小明", T0 + 60, name="小红"))
    await hear(
        journal,
        GROUP,
        replace(lines[1], id=0, text="我也是", to=(Addressee(user("1"), "小红", lines[0].id),)),
    )
    taken = fact(GROUP, user("1"), PEANUT, "小红对花生过敏", evidence=(lines[0].id,))
    await write(
        journal, User(user("1")), User(user("2")), Entity(PEANUT), Entity(entity("落花生")),
        name(GROUP, PEANUT, "花生"), taken,
        replace(taken, id="f:older", statement="小红爱吃花生", pinned=True, due=2.18e11),
        fact(HER, user("1"), PEANUT, "小红不想让小明知道", evidence=(4,), supersedes=("f:older",)),
        Episode(episode_id(GROUP.id, 1), GROUP.id, T0, T0 + 40, 1, 3, 3, "花生", (user("1"),)),
        Episode(
            *("ep:day", GROUP.id, T0, T0 + 40, 1, 3, 3, "那天说花生"), level="day",
            parts=(episode_id(GROUP.id, 1),),
        ),
        Forgotten.of(GROUP.id, 2), Merge("g:1", entity("落花生"), PEANUT, T0),
        Link("k:1", user("1"), user("2")),
        CoreFact("c:1", HER.id, user("1"), 1, "feeling", "小红怕黑", T0, T0, True, (4,)),
        Mood("mo:1", HER.id, -0.5, 0.25, T0),
        InnerState("in:1", HER.id, "我想多听她说", "她怕黑", "更近了", 2, T0),
        FollowUp("fu:1", HER.id, user("1"), T0 + 900, "问问她睡着没有", 1, T0),
    )  # fmt: skip
    known = {Session, User, Entity, Merge, Link, Name, Episode, Fact, Forgotten}
    await write(journal, *(sample(cls) for cls in registered() if cls not in known))
    await attend(journal, Presence(GROUP.circle, user("3"), T0 - 900, T0 - 100))


def sample(cls: type[Any]) -> Row:
    """A row of any kind, those that come later included."""
    hints = typing.get_type_hints(cls)
    values: dict[Any, Any] = {str: "某事", float: T0, int: 1, bool: True, tuple[int, ...]: (1,)}
    named = {"id": f"{cls.kind}:1", "session": GROUP.id, "user": user("1")}
    made: Row = cls(
        **{
            field.name: named.get(field.name, values.get(hints[field.name], ()))
            for field in fields(cls)
            if field.default is MISSING or hints[field.name] in values
        }
    )
    return made


async def test_everything_of_every_kind_comes_back_as_the_same_bytes(one, two, tmp_path):
    await filled(one)
    before = await exported(one)
    kinds = {json.loads(line).get("type") for line in before.splitlines()}
    assert kinds - {None} == {cls.kind for cls in registered()}
    plan, run = await brought(two, put(tmp_path / "x.jsonl", before))
    assert await exported(two) == before
    assert (plan.messages, plan.new, run.count, run.keeps) == (5, 5, 5, True)
    assert await everything(two) == await everything(one)


def test_a_year_of_a_group_with_many_people_is_read_again() -> None:
    people = tuple(user(str(number)) for number in range(6_000))
    year = Episode("ep:y", GROUP.id, T0, T0, 1, 2, 2, "一年", people, "year")
    assert unpack(pack(year), 1) == year


@pytest.mark.slow
@given(histories())
@settings(max_examples=25)
def test_any_history_comes_back_as_the_same_bytes(history: History) -> None:
    asyncio.run(_comes_back(history))


async def _comes_back(history: History) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        async with opened(root / "a") as one, opened(root / "b") as two:
            await play(one, history)
            before = await exported(one)
            path = put(root / "x.jsonl", before)
            await brought(two, path)
            assert await exported(two) == before
            # Nothing twice, neither where it came from nor where it went.
            for journal in (one, two):
                last = await last_change(journal)
                await brought(journal, path)
                assert await exported(journal) == before
                assert await last_change(journal) == last


async def play(journal: Journal, history: History) -> None:
    numbers: dict[int, int] = {}
    sessions = {row.id: row for row in history.steps if isinstance(row, Session)}
    for step in history.steps:
        if isinstance(step, Message):
            (stored,) = await hear(journal, sessions[step.session], replace(step, id=0, batch=None))
            numbers[step.id] = stored.id
        elif isinstance(step, Fact):
            kept = tuple(numbers[id] for id in step.evidence if id in numbers)
            await write(journal, replace(step, evidence=kept))
        elif isinstance(step, Forgotten):
            await write(journal, Forgotten.of(step.session, numbers.get(step.message, 999)))
        elif isinstance(step, Episode):  # no number that another message may get one day
            first, last = (numbers.get(of, 999) for of in (step.first_message, step.last_message))
            await write(journal, replace(step, first_message=first, last_message=last))
        else:
            await write(journal, step)


async def test_an_own_file_brings_nothing_of_a_pause_or_of_groups_that_are_off(one, two, tmp_path):
    asked, told, other, _ = await hear(
        one,
        HER,
        message(HER, user("1"), "我给爸买了保险", T0),
        message(HER, "bot", "好的，买了保险", T0 + 1, name=""),
        message(HER, user("1"), "我住在长沙", T0 + 900),
        message(HER, "bot", "知道了", T0 + 901, name=""),
    )
    insured = fact(HER, user("1"), PEANUT, "小红给爸买了保险", evidence=(asked.id,))
    lives = fact(HER, user("1"), PEANUT, "小红住在长沙", evidence=(other.id,), at=T0 + 900)
    summed = Episode("ep:1", HER.id, T0, T0 + 901, asked.id, other.id + 1, 4, "买了保险")
    await write(one, insured, lives, replace(summed, participants=(user("1"),)))
    await hear(one, GROUP, message(GROUP, user("2"), "群里的话", T0))
    await write(one, fact(GROUP, user("2"), PEANUT, "群里的事"))
    clock = iter((T0 - 100, T0 + 100))
    pauses = Pauses(two, lambda: next(clock))
    await pauses.pause("user", user("1"))
    await pauses.resume("user", user("1"))
    path = put(tmp_path / "x.jsonl", await exported(one))
    plan = await importer(two, path).preview(Progress())
    assert (plan.skipped, plan.new) == ({"paused": 2}, 3)
    plan, _ = await brought(
        two, path, remembers=Settings(never_remember=("*:GroupMessage:*",)).remembers
    )
    assert (plan.skipped, plan.new) == ({"paused": 3}, 2)
    assert [m.text for m in await everything(two)] == ["我住在长沙", "知道了"]
    facts = await scan(two, Fact)
    assert [each.statement for each in facts] == ["小红住在长沙"]
    assert b"\xe4\xbf\x9d\xe9\x99\xa9" not in await exported(two), "保险"
    assert told.id


async def test_what_was_confided_since_the_last_import_is_kept_here_too(one, two, tmp_path):
    (said,) = await hear(one, HER, message(HER, user("1"), "我在找工作", T0))
    await write(one, fact(HER, user("1"), PEANUT, "小红在找工作", evidence=(said.id,)))
    await brought(two, put(tmp_path / "x.jsonl", await exported(one)))
    await hear(one, HER, message(HER, user("1"), "别告诉别人", T0 + 60))
    path = put(tmp_path / "y.jsonl", await exported(one))
    await brought(two, path)
    (kept,) = await scan(two, Fact)
    assert kept.confidential
    assert [m.confided for m in await everything(two)] == [True, False]
    last = await last_change(two)
    await brought(two, path)
    assert await last_change(two) == last


async def test_a_pause_that_a_clock_ended_before_it_began_can_be_read_again(one, two, tmp_path):
    await hear(one, HER, message(HER, user("1"), "我住在长沙", T0 - 900))
    clock = iter((T0, T0 - 100))
    pauses = Pauses(one, lambda: next(clock))
    await pauses.pause("user", user("1"))
    await pauses.resume("user", user("1"))
    await brought(two, put(tmp_path / "x.jsonl", await exported(one)))
    assert [m.text for m in await everything(two)] == ["我住在长沙"]


async def test_another_memory_is_joined_with_the_one_that_is_there(one, two, tmp_path):
    await filled(one)
    await hear(two, GROUP, message(GROUP, user("5"), "今天下雨", T0 - 5_000))
    path = put(tmp_path / "x.jsonl", await exported(one))
    plan, run = await brought(two, path)
    assert (plan.new, run.count, run.keeps) == (5, 5, False)
    lines = {m.id: m for m in await everything(two)}
    assert [m.text for m in lines.values()][:2] == ["今天下雨", "我对花生过敏"]
    facts = await two.read(lambda rows: rows.find(Fact, session=GROUP.id))
    assert {lines[id].text for f in facts for id in f.evidence} == {"我对花生过敏"}
    (quote,) = [m.to for m in lines.values() if m.to]
    assert quote[0].quoted is not None
    assert lines[quote[0].quoted].text == "我对花生过敏"
    day, episode = sorted(await scan(two, Episode), key=lambda row: row.level)
    assert day.parts == (episode.id,)
    assert episode.id == episode_id(GROUP.id, episode.first_message)
    assert (lines[episode.first_message].text, lines[episode.last_message].text) == (
        "我对花生过敏",
        "记住了，小红",
    )
    (muted,) = await scan(two, Forgotten)
    assert lines[muted.message].text == "那我们不吃花生"
    assert muted.id == stable_id("x", GROUP.id, str(muted.message))
    before = await exported(two)
    await brought(two, path)
    assert await exported(two) == before


async def test_a_message_that_was_heard_twice_is_one(one, two, tmp_path):
    same = message(GROUP, user("1"), "哈哈", T0)
    await hear(one, GROUP, same, same, message(GROUP, user("1"), "你好", T0, ref="7@1"))
    await hear(two, GROUP, message(GROUP, user("2"), "在吗", T0), same)
    await hear(two, GROUP, message(GROUP, user("1"), "你好", T0 + 3, ref="7@1"))
    _, run = await brought(two, put(tmp_path / "x.jsonl", await exported(one)))
    assert run.count == 1
    assert [m.text for m in await everything(two)] == ["在吗", "哈哈", "你好", "哈哈"]


async def test_an_open_presence_of_old_does_not_let_anybody_back_in(one, two, tmp_path):
    await hear(one, GROUP, message(GROUP, user("1"), "我来了", T0))
    await hear(two, GROUP, message(GROUP, user("1"), "你好", T0 - 100))
    await two.leave(GROUP.circle, user("1"), T0 + 500)
    await brought(two, put(tmp_path / "x.jsonl", await exported(one)))
    assert all(p.until == T0 + 500 for p in await two.presences())


async def test_who_was_forgotten_does_not_come_back(one, two, tmp_path):
    await filled(one)
    path = put(tmp_path / "x.jsonl", await exported(one))
    Tombstones.read(tmp_path / "b").add(user("1"), T0)
    plan, _ = await brought(two, path)
    assert plan.skipped["forgotten"] == 1
    left = (await exported(two)).decode()
    assert user("1") not in left
    assert "小红" not in left
    assert "那我们不吃花生" in left


async def test_who_was_forgotten_comes_back_as_no_participant(one, two, tmp_path):
    """In what is known of another person a third is nothing else."""
    lines = (message(GROUP, user(who), "你好", T0 + int(who)) for who in "12")
    first, last = await hear(one, GROUP, *lines)
    here = episode_id(GROUP.id, first.id), GROUP.id, T0, T0 + 2, first.id, last.id
    await write(one, Episode(*here, 2, "问好", (user("1"), user("2"))))
    path = put(tmp_path / "x.jsonl", await exported(one, user("2")))
    Tombstones.read(two.path.parent).add(user("1"), T0)
    await brought(two, path)
    assert [each.participants for each in await scan(two, Episode)] == [(user("2"),)]


async def test_what_was_retracted_does_not_come_back(journal: Journal, tmp_path: Path) -> None:
    lines = [message(GROUP, user("1"), text, T0, ref=f"{text}@0") for text in ("说错了", "好")]
    (wrong, _) = await hear(journal, GROUP, *lines)
    path = put(tmp_path / "x.jsonl", await exported(journal))

    def retract(db: sqlite3.Connection, _tell: object) -> None:
        retraction.put_marks(db, [retraction.mark_of(wrong.sender, wrong.ref, wrong.at)], repr(T0))
        db.execute("DELETE FROM message WHERE id = ?", (wrong.id,))

    await journal.alter(retract)
    plan, run = await brought(journal, path)
    assert (plan.new, run.count) == (0, 0)
    assert [each.text for each in await everything(journal)] == ["好"]


def _kind(place: str) -> str:
    return "group" if place == "9" else "private"


async def test_what_somebody_had_forgotten_does_not_come_back(one, tmp_path):
    (said,) = await hear(one, HER, message(HER, user("1"), "我对花生过敏", T0))
    about = {"evidence": (said.id,)}
    core = CoreFact("c:1", HER.id, user("1"), 1, "fact", "对花生过敏", T0, T0, **about)
    taken = fact(HER, user("1"), PEANUT, "小红对花生过敏", **about)
    told = Episode(episode_id(HER.id, 1), HER.id, T0, T0, 1, 1, 1, "小红对花生过敏", (user("1"),))
    await write(one, User(user("1")), Entity(PEANUT), core, taken, told)
    path = put(tmp_path / "x.jsonl", await exported(one))
    await Library(context(one, now=lambda: T0)).forget([taken.id], None, user("1"))
    await brought(one, path)
    assert not await scan(one, Fact)
    assert not await scan(one, CoreFact)
    assert [each.summary for each in await scan(one, Episode)] == [""]


async def test_a_fact_that_somebody_else_told_stays_forgotten(one, tmp_path):
    said = await hear(one, GROUP, message(GROUP, user("2"), "小红欠我三千块", T0))
    debt, told = (
        fact(GROUP, user("1"), PEANUT, "小红欠三千块", speaker=user("2"), evidence=(said[0].id,)),
        fact(GROUP, user("1"), PEANUT, "小红爱吃花生", speaker="owner"),
    )
    await write(one, User(user("1")), Entity(PEANUT), name(GROUP, PEANUT, "花生"), debt, told)
    path = put(tmp_path / "x.jsonl", await exported(one))
    library = Library(context(one, now=lambda: T0))
    await library.forget([debt.id], asker_of(GROUP, user("1")), user("1"))
    gone = await library.forget([told.id], None, "owner")
    await brought(one, path)
    assert not await scan(one, Fact)
    assert [each.text for each in await scan(one, Name)] == ["花生"], "others may know of it"
    await library.undo(gone.id, "owner")
    await brought(one, path)
    assert [each.statement for each in await scan(one, Fact)] == [told.statement]


async def test_a_pause_that_is_over_travels_and_no_later_import_fills_it(one, two, tmp_path):
    clock = iter((T0, T0 + 1_000, T0 + 5_000, T0 + 6_000))
    for kind, id in (("user", user("1")), ("circle", GROUP.circle)):
        pauses = Pauses(one, lambda: next(clock))
        await pauses.pause(kind, id)
        await pauses.resume(kind, id)
    before = await exported(one)
    await brought(two, put(tmp_path / "x.jsonl", before))
    assert await exported(two) == before
    said = [(500, "1", "1"), (5_500, "2", "9"), (2_000, "1", "1"), (500, "2", "9")]
    text = "".join(
        json.dumps({"time": T0 + at, "sender": who, "text": f"{at}", _kind(place): place}) + "\n"
        for at, who, place in said
    )
    plan = await importer(two, put(tmp_path / "chat.jsonl", text.encode())).preview(Progress())
    assert (plan.skipped, plan.new) == ({"paused": 2}, 2)


async def test_a_pause_that_comes_in_holds_at_once_unless_it_was_ended_here(one, two, tmp_path):
    for who in ("1", "2"):
        await Pauses(one, lambda: T0).pause("user", user(who))
    path = put(tmp_path / "x.jsonl", await exported(one))
    await Pauses(two, lambda: T0).pause("user", user("1"))
    await Pauses(two, lambda: T0 + 9).resume("user", user("1"))
    shared = context(two, now=lambda: T0)
    learning = Learning(shared, None)
    await TransferService(tmp_path / "b", shared, learning).bring(importer(two, path))
    assert [learning.pauses.holds("user", user(who)) for who in ("1", "2")] == [False, True]


async def test_one_person(one: Journal, two: Journal, tmp_path: Path) -> None:
    await filled(one)
    hers = await exported(one, user("1"))
    text = hers.decode()
    assert "我对花生过敏" in text
    assert "别告诉小明" in text
    assert "那我们不吃花生" not in text
    assert user("3") not in text
    await brought(two, put(tmp_path / "x.jsonl", hers))
    assert {m.sender for m in await everything(two)} == {user("1"), "bot"}
    assert await exported(two, user("1")) == hers


def changed(data: bytes, kind: str, **values: Any) -> bytes:
    """A file of which the first line of a kind says something else."""
    lines = [json.loads(line) for line in data.splitlines()]
    found = next(each for each in lines if kind in (each["kind"], each.get("type")))
    (found["data"] if found["kind"] == "row" else found).update(values)
    return "".join(json.dumps(each) + "\n" for each in lines).encode()


@tabled
async def test_garbage_changes_nothing_and_says_where(journal, tmp_path, kind, values, field):
    await filled(journal)
    data = changed(await exported(journal), kind, **values)
    path = put(tmp_path / "x.jsonl", data)
    assert (await refused(journal, path, format="memory")).field == field


@given(data=st.data())
@settings(max_examples=examples(40))
def test_no_damage_gets_in(data: st.DataObject) -> None:
    asyncio.run(_damaged(data))


async def _damaged(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        async with opened(root / "a") as one, opened(root / "b") as two:
            await filled(one)
            whole = await exported(one)
            at = data.draw(st.integers(0, len(whole) - 1))
            how = data.draw(st.sampled_from(["cut", "drop", "noise", "double"]))
            lines = whole.splitlines(keepends=True)
            number = whole[:at].count(b"\n")
            broken = {
                "cut": whole[:at],
                "drop": b"".join(lines[:number] + lines[number + 1 :]),
                "noise": whole[:at] + data.draw(st.binary(min_size=1, max_size=9)) + whole[at:],
                "double": b"".join([*lines[: number + 1], *lines[number:]]),
            }[how]
            empty = await exported(two)
            try:
                await brought(two, put(root / "x.jsonl", broken), format="memory")
            except FormatError:
                assert await exported(two) == empty
            else:  # noise inside of a text is a text; the last line needs no end
                assert how == "noise" or (how == "cut" and at == len(whole) - 1)


async def test_a_file_of_rows_only_in_halves_is_cut_off(journal: Journal, tmp_path: Path) -> None:
    long = b'{"kind":"header","x":"' + b"a" * (1 << 20) + b'"}\n'
    for data, reason in ((b"", "cut off"), (long, "longer")):
        path = put(tmp_path / "x.jsonl", data)
        assert reason in (await refused(journal, path, format="memory")).reason


async def test_an_import_is_undone_in_one_go(one: Journal, two: Journal, tmp_path: Path) -> None:
    await filled(one)
    await hear(two, GROUP, message(GROUP, user("5"), "今天下雨", T0 - 5_000))
    before = await exported(two)
    told: list[Any] = []
    two.listen(told.append)
    mover = moverof(two)
    await mover.bring(importer(two, put(tmp_path / "x.jsonl", await exported(one))))
    assert await exported(two) != before
    undone = await mover.undo()
    assert (undone.messages, undone.kept) == (5, 0)
    assert await exported(two) == before
    assert any(isinstance(each, Erased) and len(each.messages) == 5 for each in told)
    assert any(isinstance(each, Change) and each.reason == "undo import" for each in told)


async def test_an_undo_that_is_asked_twice_takes_back_one_import(one, two, tmp_path):
    await hear(one, GROUP, message(GROUP, user("1"), "今天下雨", T0))
    mover = moverof(two)
    for number, text in enumerate(("今天下雨", "明天天晴")):
        await hear(one, GROUP, message(GROUP, user("1"), text, T0 + number))
        path = put(tmp_path / f"{number}.jsonl", await exported(one))
        await mover.bring(importer(two, path))
    newest = (await mover.runs())[-1].id
    asked = asyncio.create_task(mover.undo(newest))
    with pytest.raises(NotFoundError):
        await asyncio.gather(asked, mover.undo(newest))
    await asked
    assert len([run for run in await mover.runs() if run.is_there]) == 1


async def test_what_was_altered_since_stays(one: Journal, two: Journal, tmp_path: Path) -> None:
    await filled(one)
    mover = moverof(two)
    await mover.bring(importer(two, put(tmp_path / "x.jsonl", await exported(one))))
    older = await two.read(lambda rows: rows.get(Fact, "f:older"))
    await write(two, replace(older, evidence=(), pinned=False))
    assert (await mover.undo()).kept == 1
    assert await two.read(lambda rows: [f.id for f in rows.find(Fact)]) == ["f:older"]
    assert await everything(two) == []


async def test_what_stays_is_counted_by_what_the_last_import_did(one, two, tmp_path):
    """And by what is there in the end: what an earlier one of the same file did was undone."""
    await write(one, GROUP, name(GROUP, PEANUT, "花生", T0 + 900))
    await write(two, GROUP, name(GROUP, PEANUT, "花生", T0))
    mover = moverof(two)
    for _ in range(2):
        await mover.bring(importer(two, put(tmp_path / "x.jsonl", await exported(one))))
        (known,) = await scan(two, Name)
        assert known.last_at == T0 + 900
        assert (await mover.undo()).kept == 0
        (known,) = await scan(two, Name)
        assert known.last_at == T0


async def test_an_old_import_is_undone_though_the_log_has_only_counts(one, two, tmp_path):
    """What it brought goes; what it widened stays as it is."""
    await filled(one)
    await write(two, GROUP, name(GROUP, PEANUT, "花生", T0 + 900))
    service = moverof(two)
    await service.bring(importer(two, put(tmp_path / "x.jsonl", await exported(one))))
    await two.in_slices(partial(trim_log, now=T0 + 365 * 86_400))
    assert (await service.undo()).kept == 0
    (known,) = await scan(two, Name)
    assert (known.first_at, known.last_at) == (T0, T0 + 900)
    assert await everything(two) == []
    assert await two.read(lambda rows: [*rows.find(Fact), *rows.find(Episode)]) == []


async def test_nobody_was_there_longer_for_an_import_that_is_undone(one, two, tmp_path):
    """What the file says of who was there goes, though no message of it began an interval."""
    await hear(one, GROUP, message(GROUP, user("1"), "今天下雨", T0 - 9_000))
    await attend(one, *[Presence(GROUP.circle, user(of), T0 - 8_000) for of in ("2", "3")])
    await hear(two, GROUP, message(GROUP, user("2"), "私房话", T0 - 5_000))
    before = await two.presences()
    mover = moverof(two)
    await mover.bring(importer(two, put(tmp_path / "x.jsonl", await exported(one))))
    assert {each.user for each in await two.presences()} == {user("1"), user("2"), user("3")}
    await hear(two, GROUP, message(GROUP, user("3"), "我也在", T0))
    await mover.undo()
    assert await two.presences() == [*before, Presence(GROUP.circle, user("3"), T0)]
    await mover.bring(importer(two, put(tmp_path / "x.jsonl", await exported(one))))
    await mover.undo()
    assert await two.presences() == [*before, Presence(GROUP.circle, user("3"), T0)]


def moverof(journal: Journal) -> TransferService:
    shared = context(journal, now=lambda: T0)
    return TransferService(journal.path.parent, shared, Learning(shared, None))


def test_every_field_that_names_messages_is_renumbered() -> None:
    """A row kind that cites messages in a new field must say so (``Row.cited``)."""
    citing = {
        (cls.kind, field.name)
        for cls in registered()
        for field in fields(cls)
        if field.name in ("evidence", "message") or field.name.endswith("_message")
    }
    assert citing == {
        ("fact", "evidence"), ("core_fact", "evidence"), ("core_fact", "evidence"),
        ("forgotten", "message"), ("episode", "first_message"), ("episode", "last_message"),
    }  # fmt: skip
    assert referred(Forgotten("x:1", "s", 7)) == (7,)


async def test_names_and_texts_come_in_without_what_nobody_sees(one, two, tmp_path):
    await filled(one)
    await write(one, name(GROUP, user("1"), "小红", T0 + 9))
    data = await exported(one)
    for kind, values in (
        ("message", {"text": "a\u202eb", "name": "\u202e张三：我"}),
        ("fact", {"statement": "\u202e张三\U000e0041爱爬山"}),
        ("name", {"text": "张\u200d三（真）", "norm": "张\u200d三(真)", "node": user("1")}),
    ):
        data = changed(data, kind, **values)
    await brought(two, put(tmp_path / "x.jsonl", data))
    said = await everything(two)
    assert ("张三 我", "ab") in {(each.name, each.text) for each in said}
    facts = await scan(two, Fact)
    assert "张三爱爬山" in {each.statement for each in facts}
    names = await scan(two, Name)
    assert ("张三", "张三") in {(each.text, each.norm) for each in names}


async def test_a_message_of_nothing_that_is_seen_does_not_stop_an_import(one, two, tmp_path):
    await filled(one)
    data = changed(await exported(one), "message", text="\u2060")
    await brought(two, put(tmp_path / "x.jsonl", data))
    assert "…" in {each.text for each in await everything(two)}
