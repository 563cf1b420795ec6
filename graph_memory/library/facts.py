"""Facts as people see them: lists, single facts, and what people do with them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from ..deletion import erasure, retraction
from ..errors import ConflictError, NotFoundError
from ..model import Asker, Change, Fact, Message, Session, Status
from ..retention import fades_at, strength
from ..scope import Attendance, Rank
from ..settings import Settings
from ..store import Draft, Journal, Rows, messages, queries
from ..store.queries import FactFilter, Page
from ..store.rows import Tell, unsaid
from ..text import clean, clean_name
from ..visible_rows import VisibleRows, view_for
from .edits import Action, Correction, Effect, amending, correcting, effect, handling

OWNER = "owner"
"""Actor of changes made with the web UI's key."""
OFFERED = 60
"""People, and things, that are offered to filter by."""


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

    @property
    def state(self) -> str:
        """``archived``, ``superseded`` or ``active``."""
        if self.fact.status == Status.ARCHIVED:
            return "archived"
        return "superseded" if self.superseded else "active"


@dataclass(frozen=True, slots=True)
class Called:
    """A node, what it was called last, and how many facts there are about it."""

    node: str
    name: str
    facts: int


@dataclass(frozen=True, slots=True)
class FactDetail:
    """A fact, the messages it rests on, and its neighbours in time."""

    line: FactLine
    sources: list[Message]
    replaces: list[FactLine]
    replaced_by: list[FactLine]


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """What one can filter by. ``circles`` are (id, title), most recent last.

    Attributes:
        people, things: The users and entities most is known about, most first.
    """

    personas: list[str]
    circles: list[tuple[str, str]]
    predicates: dict[str, int]
    people: list[Called]
    things: list[Called]


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
        self._seen: tuple[object, FilterOptions] | None = None

    def retune(self, settings: Settings) -> None:
        """Go by other settings from now on."""
        self._settings = settings

    # ------------------------------------------------------------------ owner

    async def browse(self, wanted: FactFilter | None = None) -> Page[FactLine]:
        """One page of all facts, as the owner sees them."""
        now, rate = self._now(), self._settings.time_decay_rate

        def work(db: sqlite3.Connection) -> Page[FactLine]:
            found = queries.find_facts(db, wanted or FactFilter(), now, rate)
            return found.holding(self._lines(db, found.items))

        return await self._journal.look(work)

    async def found(self, wanted: FactFilter) -> list[str]:
        """The ids of one page of all facts."""
        now, rate = self._now(), self._settings.time_decay_rate
        page = await self._journal.look(lambda db: queries.find_facts(db, wanted, now, rate))
        return [fact.id for fact in page.items]

    async def fact(self, id: str) -> FactDetail:
        """Everything about one fact, as the owner sees it.

        Raises:
            NotFoundError: No such fact.
        """

        def work(db: sqlite3.Connection) -> tuple[FactLine, list[FactLine], list[FactLine]]:
            rows = Rows(db)
            fact = _existing(rows, id)
            older = [old for old in (rows.get(Fact, key) for key in fact.supersedes) if old]
            newer = queries.replacing(db, id)
            (line,) = self._lines(db, [fact])
            return line, self._lines(db, older), self._lines(db, newer)

        line, replaces, replaced_by = await self._journal.look(work)
        sources = await self._journal.messages(line.fact.evidence)
        return FactDetail(line, sources, replaces, replaced_by)

    async def overview(self) -> FilterOptions:
        """What one can filter by, and who and what most is known about."""

        def work(db: sqlite3.Connection) -> FilterOptions:
            state = queries.revision(db)
            if self._seen and self._seen[0] == state:
                return self._seen[1]
            found = queries.sessions(db)
            owners = queries.names(db, (s.owner for s in found if s.owner))
            circles = {s.circle: s.title or owners.get(s.owner, s.circle) for s in found}
            people, things = queries.most_known(db, OFFERED)
            called = queries.names(db, [*people, *things])
            seen = FilterOptions(
                sorted({s.persona for s in found}),
                sorted(circles.items(), key=lambda circle: circle[1]),
                queries.predicates(db),
                [Called(node, called.get(node, node), n) for node, n in people.items()],
                [Called(node, called.get(node, node), n) for node, n in things.items()],
            )
            self._seen = state, seen
            return seen

        return await self._journal.look(work)

    async def lines(self, facts: Iterable[Fact]) -> list[FactLine]:
        """Facts as lines, as the owner sees them."""
        wanted = list(facts)
        return await self._journal.look(lambda db: self._lines(db, wanted))

    async def some(self, ids: Iterable[str]) -> list[FactLine]:
        """Those of some facts that are there, as lines, as the owner sees them."""
        wanted = list(ids)

        def work(db: sqlite3.Connection) -> list[FactLine]:
            rows = Rows(db)
            return self._lines(db, [fact for id in wanted if (fact := rows.get(Fact, id))])

        return await self._journal.look(work)

    def _lines(self, db: sqlite3.Connection, facts: list[Fact]) -> list[FactLine]:
        names = queries.names(db, {n for f in facts for n in (f.subject, f.object)})
        replaced = queries.replaced(db, (f.id for f in facts))
        rows = Rows(db)
        sessions = {id: rows.get(Session, id) for id in {f.session for f in facts}}
        return [self._line(f, names, sessions[f.session], f.id in replaced) for f in facts]

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

    def _visible(self, rows: Rows, asker: Asker) -> VisibleRows:
        return VisibleRows(rows, asker, view_for(asker, self._settings.policy, self._attendance))

    async def mine(self, asker: Asker, limit: int = 20) -> list[FactLine]:
        """What the asker may see of what is known about the asker, strongest first."""

        def work(rows: Rows) -> list[FactLine]:
            visible = self._visible(rows, asker)
            about = {
                fact.id: fact
                for account in asker.accounts
                for fact in rows.about(account)
                if fact.status == Status.ACTIVE and visible.rank(fact) is Rank.OWN
            }
            gone = {old for fact in about.values() for old in fact.supersedes}
            current = [fact for fact in about.values() if fact.id not in gone]
            names = visible.names_of({n for f in current for n in (f.subject, f.object)})
            lines = [self._line(f, names, visible.session(f.session), False) for f in current]
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
            fact = _existing(rows, id) if asker is None else self._visible(rows, asker).own(id)
            return handling(rows, "forget", [fact.id], actor, self._now())

        return _done(await self._journal.commit(resolve), id)

    async def unsay(self, message: int, asker: Asker | None, actor: str) -> Change:
        """No longer recall a message.

        Args:
            asker: Who asks; may forget what they can see and wrote. ``None`` is the owner.
            actor: Written into the change.

        Raises:
            NotFoundError: No such message, or not the asker's to forget.
        """
        found = await self._journal.messages([message])

        def resolve(rows: Rows) -> Draft:
            for said in found:
                is_own = asker is None or said.sender in asker.accounts
                if is_own and (asker is None or self._visible(rows, asker).shows(said)):
                    return Draft(actor, "forget", put=unsaid(rows, said.session, [said.id]))
            raise NotFoundError(f"there is no message {message} of yours")

        return _done(await self._journal.commit(resolve), str(message))

    async def correct(self, wanted: Correction) -> Change:
        """Replace a fact by what the asker says instead; it stays as what used to be.

        Raises:
            NotFoundError: No such fact, or not the asker's to correct.
        """
        now, turn = self._now(), wanted.turn

        def draft(rows: Rows, evidence: Message) -> Draft:
            return correcting(rows, self._visible(rows, turn.asker), wanted, evidence, now)

        def work(db: sqlite3.Connection, tell: Tell) -> Change | None:
            said = Message(
                turn.message.id if turn.message else 0,
                turn.session.id,
                turn.user,
                clean_name(turn.name),
                clean(wanted.words),
                now,
                turn.ref,
            )
            return messages.testify(db, said, turn.session, draft, now, tell)

        return _done(await self._journal.alter(work), wanted.fact)

    async def retract(self, circle: str, ref: str, said: str = "") -> bool:
        """Delete a message that its platform took back, and what rests on it alone.

        Args:
            ref: The platform's own id of it, the part before ``@``.
            said: What the bot had said, if it was the bot's: its lines have no id.

        Returns:
            Whether it was there.
        """

        def work(db: sqlite3.Connection, tell: retraction.Tell) -> bool:
            found = messages.by_platform_id(db, circle, ref)
            if found is None and said:
                found = messages.by_words(db, circle, said)
            if found is not None:
                retraction.retract(db, found, self._now(), tell)
            return found is not None

        found = await self._journal.alter(work)
        if found:
            # The file need not be rewritten for one message.
            await erasure.drain(self._journal)
        return found

    async def weigh(self, action: Action, ids: Iterable[str]) -> Effect:
        """What :meth:`act` would do, without doing it."""
        wanted, now = list(ids), self._now()
        return await self._journal.read(lambda rows: effect(rows, action, wanted, now))

    async def act(self, action: Action, ids: Iterable[str], actor: str) -> Change:
        """Do one thing with some facts, as one change; the owner's right.

        Raises:
            NotFoundError: There is none of them that this would change.
        """
        wanted, now = list(ids), self._now()
        change = await self._journal.commit(lambda rows: handling(rows, action, wanted, actor, now))
        return _done(change, ", ".join(wanted[:3]))

    async def amend(self, id: str, words: str, actor: str, *, mute: bool = True) -> Change:
        """Replace what a fact states by how it really is; the owner's right.

        Whoever could see it sees the new one: it stays in its Session, and of its time.

        Args:
            words: The new statement.
            mute: Whether the messages it rests on told it wrong, and are not to be
                recalled any more.

        Raises:
            NotFoundError: No such fact, or nothing would change.
        """
        now = self._now()

        def resolve(rows: Rows) -> Draft:
            return amending(rows, _existing(rows, id), clean(words), actor, now, mute=mute)

        return _done(await self._journal.commit(resolve), id)

    async def undo(self, change: int | None, actor: str, besides: Collection[int] = ()) -> Change:
        """Take a change back; without a number the actor's newest.

        Args:
            besides: Changes that are passed over when the newest is looked for.

        Raises:
            NotFoundError: Nothing to undo.
            ConflictError: A later change touched the same rows.
        """
        if change is None:
            change = await self._journal.look(
                lambda db: next(
                    (id for id in queries.undoable(db, actor) if id not in besides), None
                )
            )
            if change is None:
                raise NotFoundError("there is nothing to undo")
        number = change
        undone = await self._journal.alter(
            lambda db, tell: retraction.undo(db, number, actor, self._now(), tell)
        )
        if undone is None:  # all that it did is gone already
            raise ConflictError(change, change)
        return undone


def _existing(rows: Rows, id: str) -> Fact:
    fact = rows.get(Fact, id)
    if fact is None:
        raise NotFoundError(f"there is no fact {id}")
    return fact


def _done(change: Change | None, what: str) -> Change:
    if change is None:
        raise NotFoundError(f"{what}: nothing changed")
    return change
