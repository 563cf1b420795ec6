"""What an import or a move said of who was where is taken back without a trace."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from hypothesis import assume, example, given
from hypothesis import strategies as st

from graph_memory.journal import Draft, arrivals, attendance
from graph_memory.journal import messages as mail
from graph_memory.journal.migration import migrate
from graph_memory.journal.rows import write
from graph_memory.model import Presence

from ..makers import group, message, user

CLUB, ZHANG = group("读书会"), user("zhang")
OURS, OTHERS = "ours", "others"
Act = tuple[str, str, int, int]
"""What happens, in which import, from when to when (-1: unknown)."""


class World:
    """A group, and when Zhang is thought to have been there."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.clock = 100.0
        self.brought: dict[str, list[tuple[int, int]]] = {OURS: [], OTHERS: []}
        migrate(db, Path("unused"), 0.0)
        write(db, Draft("chat", "session", [CLUB]), 0.0)

    def do(self, acts: Iterable[Act], but: str = "") -> None:
        for what, by, since, until in acts:
            self.clock += 1
            if by != but or what in ("say", "leave"):
                getattr(self, what)(by, float(since), None if until < 0 else float(until))

    def say(self, *_: object) -> None:
        mail.add(self.db, message(CLUB, ZHANG, "在", self.clock), CLUB)

    def leave(self, *_: object) -> None:
        mail.close_presence(self.db, CLUB.circle, ZHANG, self.clock)

    def bring(self, by: str, at: float, _: float | None) -> None:
        said = message(CLUB, ZHANG, "以前", at)
        stored = arrivals.arrive(self.db, said, CLUB, by, lambda _: None)
        self.brought[by].append((stored.id, stored.id))

    def attest(self, by: str, since: float, until: float | None) -> None:
        if until is None or until >= since:
            told = Presence(CLUB.circle, ZHANG, since, until)
            attendance.attend(self.db, by, told, lambda _: None)

    def take_back(self, by: str) -> None:
        arrivals.depart(self.db, self.brought[by], [], set(), "owner", 0.0, lambda _: None, by)

    def was_there(self, at: float) -> bool:
        spans = mail.presences(self.db)
        return any(p.since <= at and (p.until is None or at <= p.until) for p in spans)

    def times(self) -> set[float]:
        """All moments at which anything may differ."""
        ends = {at for p in mail.presences(self.db) for at in (p.since, p.until) if at}
        return {at + by for at in ends for by in (-0.5, 0.0, 0.5)} | {1e9}

    def notes(self) -> list[str]:
        """Acts of which there are notes."""
        found = self.db.execute("SELECT value FROM meta WHERE key LIKE 'attended:%'")
        return sorted(json.loads(value)[0] for (value,) in found)


TIME = st.integers(0, 100)
LIVE = st.sampled_from([("say", "", 0, 0), ("leave", "", 0, 0)])
BROUGHT = st.tuples(st.just("bring"), st.sampled_from([OURS, OTHERS]), TIME, st.just(0))
ATTESTED = st.tuples(st.just("attest"), st.just(OURS), TIME, st.integers(-1, 100))
LATER = st.lists(LIVE | st.tuples(st.just("bring"), st.just(OTHERS), TIME, st.just(0)), max_size=4)


@given(st.lists(LIVE | BROUGHT | ATTESTED, max_size=9), LATER)
@example([("say", "", 0, 0), ("bring", OURS, 50, 0), ("bring", OTHERS, 40, 0)], [])
@example([("bring", OTHERS, 2, 0), ("bring", OURS, 1, 0), ("bring", OTHERS, 0, 0)], [])
@example(
    [("say", "", 0, 0), ("bring", OTHERS, 2, 0), ("bring", OURS, 1, 0), ("attest", OURS, 0, 2)], []
)
@example([("bring", OURS, 2, 0), ("bring", OTHERS, 1, 0), ("bring", OURS, 0, 0)], [])
@example([("bring", OURS, 0, 0), ("bring", OTHERS, 1, 0)], [("bring", OTHERS, 0, 0)])
@example([("attest", OURS, 10, -1), ("say", "", 0, 0), ("leave", "", 0, 0)], [])
def test_nobody_was_there_longer_than_without_it(acts: list[Act], later: list[Act]) -> None:
    # Who was attested up to a time and leaves later has left nothing that the journal knows of.
    whole = [*acts, *later]
    left = any(what == "leave" for what, *_ in whole)
    assume(not left or all(until < 0 for what, _, _, until in whole if what == "attest"))
    with closing(sqlite3.connect(":memory:")) as one, closing(sqlite3.connect(":memory:")) as two:
        taken_back, without = World(one), World(two)
        taken_back.do(acts)
        taken_back.take_back(OURS)
        without.do(acts, but=OURS)
        _compare(taken_back, without)
        for world in (taken_back, without):
            world.do(later)
        _compare(taken_back, without)
        for world in (taken_back, without):
            world.take_back(OTHERS)
        _compare(taken_back, without)
        assert not {OURS, OTHERS} & set(taken_back.notes())


def _compare(less: World, more: World) -> None:
    for at in less.times() | more.times():
        assert less.was_there(at) <= more.was_there(at), at
    heard = [at for (at,) in more.db.execute("SELECT at FROM message")]
    for at in heard:
        assert less.was_there(at) == more.was_there(at), at


def test_what_was_there_before_is_there_again_even_if_its_words_are_gone() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        world = World(db)
        world.do([("say", "", 0, 0)])
        before = mail.presences(db)
        db.execute("DELETE FROM message")  # old ones may go
        world.do([("bring", OURS, 50, 0), ("bring", OURS, 40, 0), ("attest", OURS, 10, 20)])
        assert len(mail.presences(db)) == 2
        world.take_back(OURS)
        assert mail.presences(db) == before


def test_no_note_is_left_of_somebody_who_is_forgotten() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        world = World(db)
        world.do([("say", "", 0, 0), ("bring", OURS, 50, 0), ("bring", OTHERS, 40, 0)])
        told = Presence(CLUB.circle, user("li"), 5.0)
        attendance.attend(db, OURS, told, lambda _: None)
        assert world.notes() == [OTHERS, OURS, OURS]
        attendance.forget(db, ZHANG)
        assert mail.presences(db) == [told]
        assert world.notes() == [OURS]
