"""Facts as people see them: browsing, a person's own, forgetting, undoing.

The owner (the web UI) sees everything; everybody else sees what ``scope.py`` shows
them, decided per row by the same function as recall.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from .errors import NotFoundError
from .journal import Draft, Journal, Rows, catalogue, retraction
from .journal.catalogue import FactFilter
from .model import (
    Asker,
    Change,
    Episode,
    Fact,
    Forgotten,
    Message,
    Name,
    Session,
    Status,
    stable_id,
)
from .retention import fades_at, strength
from .scope import Attendance, Rank, span, view
from .settings import Settings

OWNER = "owner"
"""Actor of changes made with the web UI's key."""


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact with what people need to read it.

    Attributes:
        subject, object: What the nodes are called.
        strength: Retention now, 0…1.
        fades_at: When it will be archived; ``inf`` for never.
        superseded: Whether a newer visible fact replaces it.
    """

    fact: Fact
    subject: str
    object: str
    session: Session
    strength: float
    fades_at: float
    superseded: bool


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the facts that were asked for, and how many there are in all."""

    items: list[FactLine]
    total: int


@dataclass(frozen=True, slots=True)
class FactDetail:
    """A fact, the messages it rests on, and its neighbours in time."""

    line: FactLine
    sources: list[Message]
    replaces: list[FactLine]
    replaced_by: list[FactLine]


@dataclass(frozen=True, slots=True)
class Overview:
    """What one can filter by. ``circles`` are (id, title), most recent last."""

    personas: list[str]
    circles: list[tuple[str, str]]
    predicates: dict[str, int]


class Library:
    """Facts as people see them."""

    def __init__(
        self,
        journal: Journal,
        settings: Settings,
        attendance: Attendance,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._journal = journal
        self._settings = settings
        self._attendance = attendance
        self._now = now

    # ------------------------------------------------------------------ owner

    async def browse(self, wanted: FactFilter | None = None) -> Page:
        """One page of all facts, as the owner sees them."""
        now = self._now()

        def work(db: sqlite3.Connection) -> Page:
            facts, total = catalogue.find(db, wanted or FactFilter(), now)
            return Page(self._lines(db, facts), total)

        return await self._journal.look(work)

    async def fact(self, id: str) -> FactDetail:
        """Everything about one fact, as the owner sees it.

        Raises:
            NotFoundError: No such fact.
        """

        def work(db: sqlite3.Connection) -> tuple[FactLine, list[FactLine], list[FactLine]]:
            rows = Rows(db)
            fact = _existing(rows, id)
            older = [old for old in (rows.get(Fact, key) for key in fact.supersedes) if old]
            newer = catalogue.superseded(db, [id]).get(id, [])
            (line,) = self._lines(db, [fact])
            return line, self._lines(db, older), self._lines(db, newer)

        line, replaces, replaced_by = await self._journal.look(work)
        sources = await self._journal.messages(line.fact.evidence)
        return FactDetail(line, sources, replaces, replaced_by)

    async def overview(self) -> Overview:
        """Personas, circles and predicates there are."""

        def work(db: sqlite3.Connection) -> Overview:
            found = catalogue.sessions(db)
            owners = catalogue.names(db, (s.owner for s in found if s.owner))
            circles = {s.circle: s.title or owners.get(s.owner, s.circle) for s in found}
            return Overview(
                sorted({s.persona for s in found}),
                sorted(circles.items(), key=lambda circle: circle[1]),
                catalogue.predicates(db),
            )

        return await self._journal.look(work)

    async def lines(self, facts: Iterable[Fact]) -> list[FactLine]:
        """Facts as lines, as the owner sees them."""
        wanted = list(facts)
        return await self._journal.look(lambda db: self._lines(db, wanted))

    def _lines(self, db: sqlite3.Connection, facts: list[Fact]) -> list[FactLine]:
        names = catalogue.names(db, {n for f in facts for n in (f.subject, f.object)})
        replaced = catalogue.superseded(db, (f.id for f in facts))
        rows = Rows(db)
        return [self._line(f, names, rows.get(Session, f.session), f.id in replaced) for f in facts]

    def _line(
        self, fact: Fact, names: dict[str, str], session: Session | None, superseded: bool
    ) -> FactLine:
        rate = self._settings.time_decay_rate
        return FactLine(
            fact,
            names.get(fact.subject, fact.subject),
            names.get(fact.object, fact.object),
            session or Session(fact.session, fact.session, ""),
            strength(fact, self._now(), rate),
            fades_at(fact, self._settings.min_importance_threshold, rate),
            superseded,
        )

    # ------------------------------------------------------------------ askers

    async def mine(self, asker: Asker, limit: int = 20) -> list[FactLine]:
        """What the asker may see of what is known about the asker, strongest first."""

        def work(rows: Rows) -> list[FactLine]:
            sight = _Sight(rows, asker, self._settings, self._attendance)
            about = {
                fact.id: fact
                for account in asker.accounts
                for fact in rows.about(account)
                if fact.status == Status.ACTIVE and sight.rank(fact) is Rank.OWN
            }
            gone = {old for fact in about.values() for old in fact.supersedes}
            current = [fact for fact in about.values() if fact.id not in gone]
            names = sight.names({n for f in current for n in (f.subject, f.object)})
            lines = [self._line(f, names, sight.session(f.session), False) for f in current]
            return sorted(lines, key=lambda line: (-line.strength, line.fact.id))[:limit]

        return await self._journal.read(work)

    async def forget(self, id: str, asker: Asker | None, actor: str) -> Change:
        """Forget one fact, and no longer recall the messages it rests on.

        The summaries of the conversations it is from go with it.

        Args:
            asker: Who asks; may forget what they can see and is about them or was said
                by them. ``None`` is the owner, who may forget everything.
            actor: Written into the change.

        Raises:
            NotFoundError: No such fact, or not the asker's to forget.
        """

        def resolve(rows: Rows) -> Draft:
            fact = _existing(rows, id)
            if asker is not None:
                sight = _Sight(rows, asker, self._settings, self._attendance)
                own = asker.accounts & {fact.subject, fact.object, fact.speaker}
                if not own or sight.rank(fact) is Rank.HIDDEN:
                    raise NotFoundError(f"there is no fact {id} that you could forget")
            # Other facts that rest on the same messages speak for themselves.
            forgotten = [
                Forgotten(stable_id("x", fact.session, str(m)), fact.session, m)
                for m in fact.evidence
            ]
            # A summary tells what it sums up; what else it tells is in the other rows.
            untold = [
                replace(episode, summary="")
                for episode in rows.find(Episode, session=fact.session)
                if any(episode.first_message <= m <= episode.last_message for m in fact.evidence)
            ]
            return Draft(actor, "forget", put=[*forgotten, *untold], drop=[(Fact.kind, fact.id)])

        return _done(await self._journal.commit(resolve), id)

    async def retract(self, circle: str, ref: str, said: str = "") -> bool:
        """Delete a message that its platform took back, and what rests on it alone.

        Args:
            ref: The platform's own id of it, the part before ``@``.
            said: What the bot had said, if it was the bot's: its lines have no id.

        Returns:
            Whether it was there.
        """

        def work(db: sqlite3.Connection, tell: retraction.Tell) -> bool:
            found = retraction.by_reference(db, circle, ref)
            if found is None and said:
                found = retraction.by_words(db, circle, said)
            if found is not None:
                retraction.retract(db, found, self._now(), tell)
            return found is not None

        return await self._journal.alter(work)

    async def archive(self, id: str, actor: str) -> Change:
        """Put a fact away; it can be restored.

        Raises:
            NotFoundError: No such fact in use.
        """
        return await self._set_status(id, actor, Status.ARCHIVED, "archive")

    async def restore(self, id: str, actor: str) -> Change:
        """Bring an archived fact back, as fresh as if it had just been used.

        Raises:
            NotFoundError: No such archived fact.
        """
        return await self._set_status(id, actor, Status.ACTIVE, "restore")

    async def _set_status(self, id: str, actor: str, status: Status, reason: str) -> Change:
        now = self._now()

        def resolve(rows: Rows) -> Draft:
            fact = _existing(rows, id)
            if fact.status == status:
                raise NotFoundError(f"fact {id} is {status} already")
            active = status is Status.ACTIVE
            changed = replace(
                fact,
                status=status.value,
                archived_at=None if active else now,
                last_used=now if active else fact.last_used,
            )
            return Draft(actor, reason, put=[changed])

        return _done(await self._journal.commit(resolve), id)

    async def undo(self, change: int | None, actor: str) -> Change:
        """Take a change back; without a number the actor's newest.

        Raises:
            NotFoundError: Nothing to undo.
            ConflictError: A later change touched the same rows.
        """
        if change is None:
            last = await self._journal.look(lambda db: catalogue.last_undoable(db, actor))
            if last is None:
                raise NotFoundError("there is nothing to undo")
            change = last.id
        return _done(await self._journal.undo(change, actor), str(change))


class _Sight:
    """What one asker may see, on the thread of one read."""

    def __init__(
        self, rows: Rows, asker: Asker, settings: Settings, attendance: Attendance
    ) -> None:
        self._rows = rows
        self._asker = asker
        self._policy = settings.policy
        self._attendance = attendance

    def session(self, id: str) -> Session | None:
        return self._rows.get(Session, id)

    def rank(self, row: Fact | Name) -> Rank:
        session = self._rows.get(Session, row.session)
        if session is None:
            return Rank.HIDDEN
        seen = view(session, self._asker, self._policy, self._attendance)
        return seen.rank(*span(row)) if seen else Rank.HIDDEN

    def names(self, nodes: Iterable[str]) -> dict[str, str]:
        """What nodes are called where the asker can see it; else their account."""
        found: dict[str, str] = {}
        for node in nodes:
            visible = [n for n in self._rows.find(Name, a=node) if self.rank(n) is not Rank.HIDDEN]
            newest = max(visible, key=lambda name: (name.last_at, name.id), default=None)
            found[node] = newest.text if newest else node.rsplit(":", 1)[-1]
        return found


def _existing(rows: Rows, id: str) -> Fact:
    fact = rows.get(Fact, id)
    if fact is None:
        raise NotFoundError(f"there is no fact {id}")
    return fact


def _done(change: Change | None, what: str) -> Change:
    if change is None:
        raise NotFoundError(f"{what}: nothing changed")
    return change
