"""A chat that goes on under another number keeps its memories."""

import math
from pathlib import Path

import pytest

from graph_memory.errors import FormatError
from graph_memory.model import Link, Presence, PresenceReset, Session, asker_of
from graph_memory.privacy.scope import Attendance, Policy, view
from graph_memory.store import Journal
from graph_memory.store.pauses import Pauses
from graph_memory.transfer import preview_renaming, rename_chat
from tests.makers import QQ, T0, group, message, private, scan, undo, user

from ..cases import tabled
from .support import brought, exported, hear, put

OLD, NEW = group("9"), group("10")
LEAVING = message(OLD, user("1"), "我们换群吧", T0 - 100)


async def test_a_group_that_moved(journal: Journal, two: Journal, tmp_path: Path) -> None:
    await hear(journal, OLD, LEAVING)
    assert await preview_renaming(journal, OLD.circle, NEW.circle) == [(OLD.circle, NEW.circle)]
    change = await rename_chat(journal, OLD.circle, NEW.circle, T0)
    (session,) = await scan(journal, Session)
    assert (session.id, session.circle, session.umo) == (OLD.id, NEW.circle, "")
    attendance = Attendance(await journal.presences())
    assert view(session, asker_of(NEW, user("1")), Policy(), attendance)
    assert view(session, asker_of(OLD, user("1")), Policy(), attendance) is None
    sight = view(session, asker_of(private("1"), user("1")), Policy(), attendance)
    # Up to now: whether they have come along nobody knows.
    assert sight.windows == ((T0 - 100, T0),)
    # What moved can be taken out and brought in.
    before = await exported(journal)
    await brought(two, put(tmp_path / "x.jsonl", before))
    assert await exported(two) == before
    await undo(journal, change.id, "owner")
    (session,) = await scan(journal, Session)
    assert session.circle == OLD.circle


async def test_a_pause_goes_along(journal: Journal) -> None:
    asked = Pauses(journal, lambda: T0)
    await asked.pause("circle", OLD.circle)
    await asked.pause("user", user("1"))
    await hear(journal, OLD, LEAVING)
    await rename_chat(journal, OLD.circle, NEW.circle, T0)
    await rename_chat(journal, user("1"), user("11"), T0)
    await asked.load()
    assert asked.covers(NEW, user("2"))
    assert asked.covers(private("11"), user("11"))
    assert not asked.covers(private("2"), user("2"))


async def presences(journal: Journal) -> list[Presence]:
    return sorted(await journal.presences(), key=lambda each: (each.circle, each.user))


async def test_a_move_that_is_undone_leaves_nobody_where_they_never_were(journal: Journal) -> None:
    await hear(journal, OLD, LEAVING, message(OLD, user("2"), "好", T0 - 90))
    secret = message(NEW, user("3"), "这里只有我们", T0 - 50)
    await hear(journal, NEW, secret, message(NEW, user("2"), "来了", T0 - 40))
    before = await presences(journal)
    attendance = Attendance(before)

    def follow(event: object) -> None:
        if isinstance(event, Presence):
            attendance.add(event)
        elif isinstance(event, PresenceReset):
            attendance.forget(event.user)

    journal.listen(follow)
    change = await rename_chat(journal, OLD.circle, NEW.circle, T0)
    moved = await presences(journal)
    assert moved != before
    undone = await undo(journal, change.id, "owner")
    assert await presences(journal) == before
    assert view(NEW, asker_of(private("1"), user("1")), Policy(), attendance) is None
    assert attendance.windows(NEW.circle, [user("2")]) == ((T0 - 40, math.inf),)
    assert attendance.windows(OLD.circle, [user("1")]) == ((T0 - 100, math.inf),)
    # The undoing may be undone, and that as well.
    again = await undo(journal, undone.id, "owner")
    assert await presences(journal) == moved
    await undo(journal, again.id, "owner")
    assert await presences(journal) == before


async def test_a_chat_that_is_spoken_in_again_is_its_own_again(journal: Journal) -> None:
    other = group("9", "lan")
    for session in (OLD, other):
        await hear(journal, session, message(session, user("1"), "我们换群吧", T0 - 100))
    await hear(journal, NEW, message(NEW, user("3"), "这里只有我们", T0 - 50))
    before = await presences(journal)
    await rename_chat(journal, OLD.circle, NEW.circle, T0)
    moved = await presences(journal)
    await hear(journal, OLD, message(OLD, user("1"), "还是这里好", T0 + 9))
    assert await presences(journal) == moved, "another persona's Session is there still"
    await hear(journal, other, message(other, user("1"), "是啊", T0 + 10))
    assert await presences(journal) == before


async def test_who_spoke_where_a_chat_was_moved_to_has_been_there(journal: Journal) -> None:
    await hear(journal, OLD, LEAVING)
    change = await rename_chat(journal, OLD.circle, NEW.circle, T0)
    await hear(journal, NEW, message(NEW, user("1"), "我来了", T0 + 50))
    await journal.leave(NEW.circle, user("1"), T0 + 60)
    await undo(journal, change.id, "owner")
    assert await presences(journal) == [
        Presence(NEW.circle, user("1"), T0 + 50, T0 + 60),
        Presence(OLD.circle, user("1"), T0 - 100),
    ]


async def test_an_account_that_changed_is_the_same_person(journal: Journal) -> None:
    for persona in ("mei", "lan"):
        hers = private("1", persona)
        await hear(journal, hers, message(hers, user("1"), "我换号了", T0))
    await hear(journal, private("2"), message(private("2"), user("2"), "我没有", T0))
    await rename_chat(journal, user("1"), "qq:ABC", T0)
    sessions = await scan(journal, Session)
    assert sorted((s.owner, s.circle) for s in sessions) == [
        (user("2"), private("2").circle),
        ("qq:ABC", "qq:private:ABC"),
        ("qq:ABC", "qq:private:ABC"),
    ]
    links = await journal.read(lambda rows: [(k.a, k.b) for k in rows.scan(Link)])
    assert links == [(user("1"), "qq:ABC")]


async def test_an_account_keeps_its_chats_with_each_bot_apart(journal: Journal) -> None:
    for bot in ("", "998"):
        hers = private("1", bot=bot)
        await hear(journal, hers, message(hers, user("1"), "我换号了", T0))
    await rename_chat(journal, user("1"), "qq:ABC", T0)
    circles = {s.circle for s in await scan(journal, Session)}
    assert circles == {"qq:private:ABC", "qq:private@998:ABC"}
    await rename_chat(journal, "qq:private:ABC", "qq:private@998:ABC", T0)
    (circle,) = {s.circle for s in await scan(journal, Session)}
    assert circle == "qq:private@998:ABC"


async def test_a_whole_platform(journal: Journal) -> None:
    for place in (OLD, private("1")):
        await hear(journal, place, message(place, user("1"), "你好", T0))
    plan = await preview_renaming(journal, QQ, "onebot")
    assert {new for _, new in plan} == {"onebot:group:9", "onebot:private:1"}
    await rename_chat(journal, QQ, "onebot", T0)
    assert not await preview_renaming(journal, QQ, "onebot")


@tabled
async def test_what_cannot_be_moved(journal: Journal, old: str, new: str) -> None:
    with pytest.raises(FormatError):
        await rename_chat(journal, old, new, T0)
