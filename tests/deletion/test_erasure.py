"""Erasing a user from random histories: all of theirs goes, nothing of others'."""

import asyncio
import json
import sqlite3
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from graph_memory.companion import InnerState, Mood
from graph_memory.deletion import forget_me
from graph_memory.deletion.message_retention import LOG_KEPT, trim_log
from graph_memory.embedding import text_hash
from graph_memory.model import (
    BOT,
    Addressee,
    Entity,
    Episode,
    Fact,
    Message,
    Name,
    Presence,
    Quote,
    Session,
    User,
    stable_id,
)
from graph_memory.store import Draft, Journal, Rows
from graph_memory.store.pauses import Pauses
from graph_memory.text import normalise

from ..cases import examples
from ..makers import (
    T0,
    all_changes,
    broken_off,
    entity,
    fact,
    group,
    message,
    name,
    private,
    put,
    scan,
    user,
)

pytestmark = pytest.mark.slow

PEOPLE = ["甲", "乙", "丙", "丁"]
IDS = {who: user(f"7000{number}") for number, who in enumerate(PEOPLE)}
MARKS = {who: f"印记{who}X" for who in PEOPLE}
GONE = "甲"
ROOMS = [group("一群"), group("二群"), group("三群"), *(private(f"7000{n}") for n in range(4))]
MEMBERS = {ROOMS[0].id: "甲乙丙", ROOMS[1].id: "甲乙", ROOMS[2].id: "乙丙丁"}
WORDS = ["今天", "你好", "小明", "记住", "Al", "Also", "Li", "an", "AI", "mei", "甲乙"]
"""What people call themselves, and what the bot says."""


def members(room: Session) -> list[str]:
    return [who for who in PEOPLE if who in MEMBERS.get(room.id, "") or IDS[who] == room.owner]


@st.composite
def story(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """Lines, facts about anybody, and undoing or forgetting of what was learned."""
    told = []
    for number in range(draw(st.integers(3, 14))):
        room = draw(st.sampled_from(ROOMS))
        speaker = draw(st.sampled_from(members(room)))
        about = draw(st.sampled_from(PEOPLE))
        what = draw(st.sampled_from(["say", "say", "answer", "learn", "learn", "drop", "remark"]))
        told.append((what, room, speaker, about, number, draw(st.sampled_from(["", *WORDS]))))
    return told


async def play(journal: Journal, told: list[tuple[Any, ...]]) -> None:
    lines: dict[str, list[Message]] = {}
    facts: list[Fact] = []
    for what, room, speaker, about, number, nick in told:
        mark = MARKS[speaker]
        if what == "remark":
            await journal.append(message(room, BOT, f"{nick}来了，ALSO 小明 Li", T0 + number), room)
            continue
        if what == "answer":
            line = message(room, BOT, f"{MARKS[speaker]}你好", T0 + number, name="")
            if lines.get(room.id) and lines[room.id][-1].sender == IDS[speaker]:
                lines[room.id].append(await journal.append(line, room))
            continue
        if what == "drop" and facts:
            fact_ = facts.pop()
            await journal.commit(
                lambda _, f=fact_: Draft("owner", "forget", drop=[(Fact.kind, f.id)])  # type: ignore[misc]
            )
            continue
        called = nick or f"{mark}名"
        line = message(room, IDS[speaker], f"{mark}第{number}句", T0 + number, name=called)
        said = await journal.append(line, room)
        lines.setdefault(room.id, []).append(said)
        if what != "learn":
            continue
        about_mark = MARKS[about] if about != speaker else mark
        thing = entity(f"{mark}东西{number}")
        made = replace(
            fact(room, IDS[about], thing, f"{about_mark}{mark}喜欢", speaker=IDS[speaker]),
            id=stable_id("f", str(number)),
            evidence=tuple(m.id for m in lines[room.id][-2:] if m.is_human),
            keywords=mark * (number % 2),
        )
        facts.append(made)
        people = tuple({m.sender for m in lines[room.id] if m.is_human})
        run = Episode(
            f"ep:{room.id}", room.id, T0, T0 + number, lines[room.id][0].id, said.id,
            len(lines[room.id]), "".join(MARKS[w] for w in PEOPLE if IDS[w] in people), people,
        )  # fmt: skip
        rows = [User(IDS[speaker]), Entity(thing), made, run]
        names = [name(room, thing, f"{mark}东西{number}"), name(room, IDS[speaker], called)]
        rows += [Mood(f"mo:{room.id}", room.id, 0.1 * number, 0.0, T0)]
        rows += [InnerState(f"in:{room.id}", room.id, f"想着{nick}", "", "", number, T0)]
        await journal.commit(lambda _, put=[*rows, *names]: Draft("learn", "learned", put=put))  # type: ignore[misc]
        await journal.put_vectors("模型", {text_hash(made.searched): [1.0]})  # type: ignore[dict-item]


def untouched(db: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """What is stored of the chats in which who is to go never was, but for facts of them."""
    gone = IDS[GONE]
    rows = "SELECT * FROM row WHERE session = ? AND kind != 'mention' ORDER BY kind, id"
    found: dict[str, list[tuple[Any, ...]]] = {}
    for room in ROOMS:
        if GONE in members(room):
            continue
        found[room.id] = [
            *db.execute("SELECT * FROM message WHERE session = ? ORDER BY id", (room.id,)),
            *db.execute("SELECT * FROM presence WHERE circle = ?", (room.circle,)),
            *db.execute("SELECT * FROM batch WHERE session = ?", (room.id,)),
            *(row for row in db.execute(rows, (room.id,)) if gone not in json.dumps(row)),
        ]
    return found


def standing(rows: Rows) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for cls in (Fact, Name, Episode, Session, User, Entity):
        found |= {f"{cls.kind} {row.id}": row for row in rows.scan(cls)}
    return found


@settings(max_examples=examples(40), phases=[Phase.explicit, Phase.generate])
@given(story(), st.integers(0, 40))
async def test_all_of_theirs_goes_and_nothing_of_others(told, steps):
    """However often it was broken off."""
    with tempfile.TemporaryDirectory() as folder:
        journal = await Journal.open(Path(folder) / "journal.sqlite3", lambda: T0 + 100)
        await play(journal, told)
        before = await journal.read(standing)
        messages = await journal.newest_messages(1000)
        gone = IDS[GONE]
        strangers = await journal.look(untouched)
        with broken_off(journal, steps), pytest.MonkeyPatch.context() as patch:
            patch.setattr(forget_me, "STEP", 1)
            await journal.in_slices(lambda db, tell: forget_me.erase(db, gone, T0 + 101, tell))
        await journal.in_slices(lambda db, tell: forget_me.erase(db, gone, T0 + 101, tell))
        await journal.tidy(forget_me.compact)
        assert await journal.tidy(forget_me.empty_log)

        assert await journal.look(untouched) == strangers
        after = await journal.read(standing)
        left = await journal.newest_messages(1000)
        for part in Path(folder).iterdir():
            content = part.read_bytes()
            assert MARKS[GONE].encode() not in content
            assert normalise(MARKS[GONE]).encode() not in content
            assert gone.encode() not in content
        kept = {m.id for m in messages if m.is_human and m.sender != gone}
        assert {m.id for m in left if m.is_human} == kept
        # A thing that only a fact about the user told of goes with that fact.
        named = {row.object for row in after.values() if isinstance(row, Fact)}
        named |= {id for id in IDS.values() if id != gone}
        for key, row in before.items():
            if isinstance(row, Fact) and gone not in (row.subject, row.speaker):
                evidence = tuple(id for id in row.evidence if id in kept)
                assert after[key] == replace(row, evidence=evidence)
            elif isinstance(row, Name) and row.node in named:
                assert after[key] == row, "a name that others gave"
            elif isinstance(row, Session | User) and gone not in (
                row.id,
                getattr(row, "owner", ""),
            ):
                assert after[key] == row
        hashes = [text_hash(r.searched) for r in before.values() if isinstance(r, Fact)]
        cached = await journal.vectors("模型", hashes)
        stay = {text_hash(r.searched) for r in after.values() if isinstance(r, Fact)}
        assert set(cached) <= stay
        await journal.in_slices(lambda db, _tell: forget_me.erase(db, gone, T0 + 102))
        assert await journal.read(standing) == after, "nothing is left to do"
        await journal.close()


async def test_nobody_is_said_to_have_been_mentioned(journal: Journal):
    club, gone, other = group("一群"), IDS["甲"], IDS["乙"]
    line = message(
        club, other, "@甲 @丙 嗯", to=(Addressee(gone, "甲"), Addressee(IDS["丙"], "丙"))
    )
    kept = await journal.append(line, club, Quote(gone, "甲", "1"))
    assert kept.mentions == (gone, IDS["丙"])
    assert gone in await journal.look(forget_me.users)
    await journal.in_slices(lambda db, tell: forget_me.erase(db, gone, T0, tell))
    (left,) = await journal.messages([kept.id])
    assert left.to == (Addressee(IDS["丙"], "丙"),)
    assert left.text == "@甲 @丙 嗯", "others' own words stay"
    assert gone not in await journal.look(forget_me.users)


async def test_a_name_of_which_the_log_says_only_that_it_went_goes_from_there(journal: Journal):
    club, gone = group("一群"), IDS["甲"]
    said = await journal.append(message(club, gone, "我喜欢豆豆"), club)
    called = name(club, entity("豆豆"), "豆豆")
    await put(journal, club, Entity(entity("豆豆")), called)
    await journal.in_slices(partial(trim_log, now=time.time() + LOG_KEPT + 1))
    await put(journal, drop=[called])
    assert said.sender == gone
    assert "豆豆" in str(await all_changes(journal))
    await journal.in_slices(lambda db, tell: forget_me.erase(db, gone, T0, tell))
    assert "豆豆" not in str(await all_changes(journal))


async def test_who_is_known_by_a_pause_that_is_over_alone_is_known(journal: Journal):
    pauses = Pauses(journal, lambda: T0)
    await pauses.pause("user", IDS["甲"])
    await pauses.resume("user", IDS["甲"])
    assert IDS["甲"] in await journal.look(forget_me.users), "to be erased from a backup"
    await journal.in_slices(lambda db, tell: forget_me.erase(db, IDS["甲"], T0, tell))
    assert not await journal.look(forget_me.users)


async def test_what_they_say_meanwhile_is_said_anew(journal: Journal, monkeypatch: Any) -> None:
    """In a chat that is there, by somebody who is there."""
    monkeypatch.setattr(forget_me, "STEP", 1)
    monkeypatch.setattr("graph_memory.store.journal.SLICE", 0.0)
    club, home, gone = group("一群"), private("80001"), user("80001")
    for number in range(30):
        for place in (club, home):
            await journal.append(message(place, gone, f"第{number}句", T0 + number), place)
    erasing = asyncio.create_task(
        journal.in_slices(lambda db, tell: forget_me.erase(db, gone, T0, tell))
    )
    while await journal.presences():
        await asyncio.sleep(0)
    for place in (club, home):
        await journal.append(message(place, gone, "我又来了", T0 + 99), place)
    assert not erasing.done()
    await erasing
    assert [m.text for m in await journal.newest_messages(9)] == ["我又来了"] * 2
    assert await journal.presences() == [Presence(club.circle, gone, T0 + 99)]
    assert {s.id for s in await scan(journal, Session)} == {club.id, home.id}
