"""Presence that an import tells of stands beside the memory's own and goes without a trace."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from hypothesis import assume, example, given
from hypothesis import strategies as st

from graph_memory.model import Presence
from graph_memory.store import Draft, presence
from graph_memory.store import messages as mail
from graph_memory.store.rows import write
from graph_memory.store.schema import migrate

from ..makers import CLUB, ZHANG, message

OURS, OTHERS = "ours", "others"
Act = tuple[str, str, int, int]
"""What happens, in which import, from when to when (-1: unknown)."""


class World:
    """A group, and when Zhang is thought to have been there."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.clock = 100.0
        self.heard: set[float] = set()
        self.brought: dict[str, set[float]] = {OURS: set(), OTHERS: set()}
        migrate(db, Path("unused"))
        write(db, Draft("chat", "session", [CLUB]), 0.0)

    def do(self, acts: Iterable[Act], but: str = "") -> None:
        for what, by, since, until in acts:
            self.clock += 1
            if by != but or what in ("say", "leave", "set_back"):
                getattr(self, what)(by, float(since), None if until < 0 else float(until))

    def say(self, *_: object) -> None:
        mail.add(self.db, message(CLUB, ZHANG, "在", self.clock), CLUB, lambda _: None)
        self.heard.add(self.clock)

    def set_back(self, *_: object) -> None:
        """The clock was wrong, or another bot delivers what it heard earlier."""
        self.clock -= 10

    def leave(self, *_: object) -> None:
        at = max(self.clock, *self.heard, 0.0)  # whoever leaves has said what was heard
        presence.leave(self.db, CLUB.circle, ZHANG, at)

    def bring(self, by: str, at: float, _: float | None) -> None:
        presence.cover(self.db, by, CLUB.circle, ZHANG, at, lambda _: None)
        self.brought[by].add(at)

    def attest(self, by: str, since: float, until: float | None) -> None:
        if until is None or until >= since:
            presence.adopt(self.db, by, Presence(CLUB.circle, ZHANG, since, until), lambda _: None)

    def take_back(self, by: str) -> None:
        presence.withdraw(self.db, by, lambda _: None)
        self.brought[by].clear()

    def was_there(self, at: float) -> bool:
        spans = presence.presences(self.db)
        return any(p.since <= at and (p.until is None or at <= p.until) for p in spans)


TIME = st.integers(0, 15)  # what is brought was said before now, however wrong the clock is
LIVE = st.sampled_from([(what, "", 0, 0) for what in ("say", "leave", "set_back")])
BROUGHT = st.tuples(st.just("bring"), st.sampled_from([OURS, OTHERS]), TIME, st.just(0))
ATTESTED = st.tuples(st.just("attest"), st.just(OURS), TIME, st.integers(-1, 15))
ACTS = st.lists(LIVE | BROUGHT | ATTESTED, max_size=9)


@given(ACTS)
@example([("say", "", 0, 0), ("bring", OURS, 50, 0), ("bring", OTHERS, 40, 0)])
@example([("bring", OURS, 50, 0), ("say", "", 0, 0), ("leave", "", 0, 0), ("say", "", 0, 0)])
@example([("attest", OURS, 10, -1), ("say", "", 0, 0), ("leave", "", 0, 0)])
@example([("say", "", 0, 0), ("set_back", "", 0, 0), ("say", "", 0, 0)])
def test_an_import_that_is_taken_back_has_told_of_nothing(acts: list[Act]) -> None:
    # What begins at the same instant in two files is the first one's.
    begun = [(by, since) for what, by, since, _ in acts if what in ("bring", "attest")]
    assume(not {since for by, since in begun if by == OURS} & {s for by, s in begun if by != OURS})
    with closing(sqlite3.connect(":memory:")) as one, closing(sqlite3.connect(":memory:")) as two:
        taken_back, without = World(one), World(two)
        taken_back.do(acts)
        for by in (OURS, OTHERS):
            assert all(taken_back.was_there(at) for at in taken_back.brought[by])
        taken_back.take_back(OURS)
        without.do(acts, but=OURS)
        assert presence.presences(one) == presence.presences(two)
        assert all(map(taken_back.was_there, taken_back.heard | taken_back.brought[OTHERS]))


def test_an_old_file_lets_nobody_back_in() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        world = World(db)
        world.do([("say", "", 0, 0), ("leave", "", 0, 0), ("attest", OURS, 50, -1)])
        assert not world.was_there(world.clock)
        assert world.was_there(60.0)
