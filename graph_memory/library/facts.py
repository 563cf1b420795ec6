"""Facts as people see them: lists, single facts, nodes, and acts on them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

from ..context import Context, Part
from ..deletion import forget_me, retraction
from ..errors import ConflictError, NotFoundError, StaleError
from ..model import (
    EPISODE_MESSAGES,
    Asker,
    Change,
    Entity,
    Episode,
    Fact,
    Forgotten,
    Link,
    Mention,
    Merge,
    Message,
    Name,
    Participation,
    Session,
    SessionRow,
    Settled,
    Status,
    Turn,
    User,
    continues,
    is_entity,
    session_id,
)
from ..privacy.redaction import disclosed
from ..privacy.scope import Rank
from ..retention import fades_at, strength
from ..store import Draft, Rows, contents, messages, queries
from ..store.postgres import away
from ..store.queries import FactFilter, Page
from ..store.rows import read_change
from ..text import clean, clean_name, skeleton
from ..visible_rows import VisibleRows
from .edits import (
    Action,
    Amendment,
    Effect,
    Meant,
    amending,
    correcting,
    effect,
    forgetting,
    handling,
    moved,
    telling,
    version,
    with_earlier,
)

T = TypeVar("T")
OFFERED = 60
"""People, and things, that are offered to filter by."""
MAX_FACTS = 300
"""Facts of an entity view; the newest, with whatever they replaced among these."""


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact with what people need to read it.

    Attributes:
        subject, object: What the nodes are called; there may be no object.
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
    """A node, what it was called last, and how many facts there are about it.

    Attributes:
        here: Whether it is known in the Session that was asked about.
        places, newest: Where it was, and what was said last about it, if it is to be told from
            its namesakes.
        type: The kind of an entity that it was taken for last; empty if that is not asked.
    """

    node: str
    name: str
    facts: int
    here: bool = False
    places: tuple[Whereabouts, ...] = ()
    newest: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who chats: what they were called last, and how much of them there is."""

    node: str
    name: str
    facts: int
    messages: int
    last_at: float


@dataclass(frozen=True, slots=True)
class PersonaSummary:
    """A persona, its Sessions, and the facts that were learned in them.

    Attributes:
        own: Those that are about no person who chats: other personas never see them.
    """

    persona: str
    sessions: int
    facts: int
    own: int


@dataclass(frozen=True, slots=True)
class FactDetail:
    """A fact, the messages it rests on, and its neighbours in time.

    Attributes:
        muted: Those of the messages that are not to be recalled.
    """

    line: FactLine
    sources: list[Message]
    muted: frozenset[int]
    replaces: list[FactLine]
    replaced_by: list[FactLine]

    @property
    def version(self) -> str:
        """What it states and what replaces it, to see whether that has changed since."""
        return version(self.line.fact, [line.fact.id for line in self.replaced_by])


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two facts that say two things of what has one value, or the same twice."""

    one: FactLine
    other: FactLine
    differs: bool


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """What one can filter by.

    Attributes:
        circles: Id and title, by title.
        people, things: The users and entities most is known about, most first.
        strengths: How many facts have how much left of them when these last changed.
    """

    personas: list[str]
    circles: list[tuple[str, str]]
    predicates: dict[str, int]
    people: list[Called]
    things: list[Called]
    strengths: list[int]


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where somebody spoke or something came up, and how often."""

    session: Session
    first_at: float
    last_at: float
    count: int


@dataclass(frozen=True, slots=True)
class Thread:
    """Facts of which each replaces those before, oldest first."""

    lines: tuple[FactLine, ...]

    @property
    def newest(self) -> FactLine:
        return self.lines[-1]


@dataclass(frozen=True, slots=True)
class EntityView:
    """Everything about one person or thing.

    Attributes:
        node: Of merged ones the survivor; ``members`` are the others.
        type: Of an entity, the kind it was taken for last; ``user`` of a person who chats.
        names: What it is called, last used first.
        accounts: Of a person, the other accounts.
        total: How many facts there are about it.
    """

    node: str
    name: str
    type: str
    names: list[tuple[Name, Session]]
    members: list[Called]
    accounts: list[Called]
    places: list[Whereabouts]
    threads: list[Thread]
    total: int


@dataclass(frozen=True, slots=True)
class NamedChange:
    """A change, and what it altered, in the words of that; maybe none.

    Attributes:
        reason: Why, or why what it undoes or does again was done.
        is_undo: Whether it takes something back, and does not do it again.
    """

    change: Change
    words: str
    reason: str
    is_undo: bool


class Library(Part):
    """Facts as people see them."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._seen: tuple[object, FilterOptions] | None = None
        context.journal.doings["retract"] = self._retract

    # ------------------------------------------------------------------ owner

    async def browse(self, wanted: FactFilter | None = None) -> Page[FactLine]:
        """One page of all facts, as the owner sees them."""
        now, rate = self._now(), self._context.settings.time_decay_rate

        def work(db: sqlite3.Connection) -> Page[FactLine]:
            found = queries.find_facts(db, wanted or FactFilter(), now, rate)
            return found.holding(self._lines(db, found.items))

        return await self._journal.look(work)

    async def fact(self, id: str) -> FactDetail:
        """Everything about one fact, or a ``NotFoundError``."""

        def work(db: sqlite3.Connection) -> FactDetail:
            rows = Rows(db)
            fact = rows.require(Fact, id)
            sources = list(map(disclosed, messages.by_ids(db, fact.evidence)))
            return FactDetail(
                self._lines(db, [fact])[0],
                sources,
                frozenset(each.id for each in sources if rows.is_forgotten(each)),
                self._lines(db, rows.some(Fact, fact.supersedes)),
                self._lines(db, rows.replacing(id)),
            )

        return await self._journal.look(work)

    async def overview(self) -> FilterOptions:
        """What one can filter by, and who and what most is known about."""

        def work(db: sqlite3.Connection) -> FilterOptions:
            now, rate = self._now(), self._context.settings.time_decay_rate
            state = queries.revision(db), now // 3600, rate  # by which they have faded
            if self._seen and self._seen[0] == state:
                return self._seen[1]
            found = titled(Rows(db), contents.sessions(db)).values()
            people, things = queries.most_known(db, OFFERED)
            seen = FilterOptions(
                sorted({s.persona for s in found}),
                sorted({s.circle: s.title for s in found}.items(), key=lambda each: each[1]),
                queries.predicates(db),
                _called(db, people, Called),
                _called(db, things, Called),
                queries.strengths(db, now, rate),
            )
            self._seen = state, seen
            return seen

        return await self._journal.look(work)

    async def people(self, limit: int = 300) -> list[Person]:
        """Who chats, those first who spoke last."""
        return await self._journal.look(lambda db: _called(db, queries.people(db, limit), Person))

    async def personas(self) -> list[PersonaSummary]:
        """The personas that have Sessions, those first who know most."""
        found = await self._journal.look(queries.personas)
        return [PersonaSummary(*each) for each in found]

    async def sessions(self, persona: str | None = None) -> list[Session]:
        """The Sessions, or those of a persona, by title and persona."""

        def work(rows: Rows) -> list[Session]:
            found = {s.id: s for s in rows.find(Session) if persona in (None, s.persona)}
            return list(titled(rows, found).values())

        found = await self._journal.read(work)
        return sorted(found, key=lambda each: (each.title, each.persona, each.id))

    async def lines(self, wanted: Iterable[Fact | str]) -> list[FactLine]:
        """Facts, or those with some ids that are there, as the owner sees them."""
        some = list(wanted)

        def work(db: sqlite3.Connection) -> list[FactLine]:
            rows = Rows(db)
            facts = (rows.get(Fact, each) if isinstance(each, str) else each for each in some)
            return self._lines(db, [fact for fact in facts if fact])

        return await self._journal.look(work)

    async def search(self, text: str, limit: int = 12, session: str = "") -> list[Called]:
        """People and things with a text in a name, those first that a Session knows."""
        return await self._journal.look(
            lambda db: _called(db, queries.search_names(db, text, limit, session), Called)
        )

    async def cards(self, nodes: Iterable[str]) -> list[Called]:
        """Some nodes with what tells them apart."""
        return await self._journal.look(lambda db: _cards(db, nodes))

    async def namesakes(self, limit: int = 20) -> list[tuple[Called, Called]]:
        """Pairs that may be one, as they bear one name: things, or accounts."""

        def work(db: sqlite3.Connection) -> list[tuple[Called, Called]]:
            pairs = queries.namesakes(db, limit)
            cards = {each.node: each for each in _cards(db, {n for pair in pairs for n in pair})}
            return [(cards[one], cards[other]) for one, other in pairs]

        return await self._journal.look(work)

    async def conflicts(self, limit: int = 20) -> list[Conflict]:
        """Pairs of facts that say two things of what is one, or the same twice."""

        def work(db: sqlite3.Connection) -> list[Conflict]:
            found, rows = queries.conflicts(db, self._now(), limit), Rows(db)
            facts = [rows.require(Fact, id) for one, other, _ in found for id in (one, other)]
            lines = iter(self._lines(db, facts))
            return [Conflict(next(lines), next(lines), bool(differs)) for *_, differs in found]

        return await self._journal.look(work)

    async def settle(self, one: str, other: str, actor: str) -> Change:
        """Let two nodes, two facts, or a doubtful one alone, stay as they are.

        Raises:
            NotFoundError: One of them is not there, or it is settled.
        """

        def resolve(rows: Rows) -> Draft:
            for id in filter(None, (one, other)):
                if not any(rows.get(kind, id) for kind in (Fact, Entity, User)):
                    raise NotFoundError(f"there is nothing {id}")
            return Draft(actor, "settle", put=[Settled.of(one, other)])

        return await self._enact(resolve, one)

    async def rivals(self, one: str, other: str) -> list[str]:
        """Titles of the groups in which two accounts spoke under one name."""

        def work(rows: Rows) -> list[str]:
            names = [rows.find(Name, a=account) for account in (one, other)]
            sessions = sessions_of(rows, {name.session for some in names for name in some})
            borne = [
                {
                    (there.circle, skeleton(name.text)): there.title
                    for name in some
                    if (there := sessions[name.session]).is_group and not name.given
                }
                for some in names
            ]
            return sorted({borne[0][place] for place in borne[0].keys() & borne[1].keys()})

        return await self._journal.read(work)

    async def node(self, node: str, limit: int = MAX_FACTS) -> EntityView:
        """A node and those merged into it, with so many facts, or a ``NotFoundError``."""
        return await self._journal.look(lambda db: self._node(db, node, limit))

    def _node(self, db: sqlite3.Connection, wanted: str, limit: int) -> EntityView:
        rows, is_thing = Rows(db), is_entity(wanted)
        rows.require(Entity if is_thing else User, wanted)
        identities = rows.identities()
        node = identities.canonical(wanted)
        nodes = sorted(identities.nodes(node))
        facts = queries.find_facts(db, FactFilter(node=node, limit=limit), 0.0)
        names = [name for each in nodes for name in rows.find(Name, a=each)]
        names.sort(key=lambda name: name.order, reverse=True)
        mentions = [each for one in nodes for each in rows.find(Mention, a=one)]
        accounts = set() if is_thing else identities.accounts(node) - {node}
        others = [each for each in nodes if each != node]
        about = {each: queries.known_of(db, [each])[0] for each in (*others, *accounts)}
        places = _places(rows, nodes, mentions)
        there = {place.session.id: place.session for place in places}
        there |= sessions_of(rows, {name.session for name in names} - there.keys())
        return EntityView(
            node,
            names[0].text if names else node,
            _type(mentions) if is_thing else "user",
            [(name, there[name.session]) for name in names],
            [Called(each, rows.called(each) or each, about[each]) for each in others],
            [Called(each, rows.called(each) or each, about[each]) for each in sorted(accounts)],
            places,
            _threads(self._lines(db, facts.items)),
            facts.total,
        )

    def _lines(self, db: sqlite3.Connection, facts: list[Fact]) -> list[FactLine]:
        names = queries.names(db, {n for f in facts for n in (f.subject, f.object)})
        replaced = queries.replaced(db, (f.id for f in facts))
        sessions = sessions_of(Rows(db), {f.session for f in facts})
        return [self._line(f, names, sessions[f.session], f.id in replaced) for f in facts]

    def _line(
        self, fact: Fact, names: dict[str, str], session: Session, superseded: bool
    ) -> FactLine:
        settings = self._context.settings
        return FactLine(
            fact,
            names.get(fact.subject, fact.subject),
            names.get(fact.object, fact.object) if fact.object != fact.subject else "",
            session,
            strength(fact, self._now(), settings.time_decay_rate),
            fades_at(fact, settings.floor, settings.time_decay_rate),
            superseded,
        )

    # ------------------------------------------------------------------ askers

    async def mine(self, asker: Asker) -> list[FactLine]:
        """What the asker may see of what is known about them, the important first."""

        def work(rows: Rows) -> list[FactLine]:
            visible = self._context.visible(rows, asker)
            about = {
                fact.id: fact
                for account in asker.accounts
                for fact in rows.about(account)
                if fact.status == Status.ACTIVE and visible.rank(fact) is Rank.OWN
            }
            gone = {old for fact in about.values() for old in fact.supersedes}
            current = [fact for fact in about.values() if fact.id not in gone]
            names = visible.names_of({n for f in current for n in (f.subject, f.object)})
            places = ((fact, visible.session(fact.session)) for fact in current)
            lines = [self._line(fact, names, place, False) for fact, place in places if place]
            return sorted(lines, key=_by_importance)

        return await self._journal.read(work)

    async def forget(
        self, ids: Sequence[str], asker: Asker | None, actor: str, said: Sequence[int] = ()
    ) -> Change:
        """Forget facts, their conversations' summaries, and the messages they rest on.

        Args:
            said: Messages no longer to recall, with the facts that rest on one of them alone.
            asker: May forget facts that they can see and that are about them or were said by
                them, and messages that they wrote and can see, or wrote here, else
                ``NotFoundError`` and nothing is forgotten; ``None`` is the owner, who may
                forget everything.
        """

        def resolve(rows: Rows) -> Draft:
            visible = self._context.visible(rows, asker) if asker else None
            facts = [_own(rows, id, visible) for id in ids]
            told = [_written(rows, number, visible) for number in said]
            for message in told:
                known = rows.resting(Fact, message)
                facts += [fact for fact in known if fact.evidence == (message.id,)]
            gone = with_earlier(rows, facts, visible)
            return forgetting(rows, gone, Draft(actor, "forget"), visible, told)

        return await self._enact(resolve, ", ".join([*ids, *map(str, said)]))

    async def last_told(
        self, asker: Asker, session: str, tells: Callable[[str], float]
    ) -> tuple[Message, list[Fact]] | None:
        """What an asker told last in a Session, not forgotten, and the facts it became.

        It has no words where it is not shown: said in a group, in confidence.
        """

        def work(rows: Rows) -> tuple[Message, list[Fact]] | None:
            visible = self._context.visible(rows, asker)
            gone = {row.message for row in rows.find(Forgotten, session=session)}
            lines = reversed(rows.messages_before(session, None, EPISODE_MESSAGES))
            own = (each for each in lines if each.sender in asker.accounts)
            said = next((each for each in own if each.id not in gone and tells(each.text)), None)
            if said is None:
                return None
            known = filter(visible.shows, rows.resting(Fact, said))
            facts = [f for f in known if asker.accounts & {f.subject, f.speaker}]
            return said if visible.shows(said) else replace(said, text=""), facts

        return await self._journal.read(work)

    async def expire(self, id: str, at: float, asker: Asker | None, actor: str) -> None:
        """Let a fact be forgotten of itself at a time; whose, see :meth:`forget`."""

        def resolve(rows: Rows) -> Draft:
            fact = _own(rows, id, self._context.visible(rows, asker) if asker else None)
            return Draft(actor, "date", put=[replace(fact, expires=at, pinned=False)])

        await self._journal.commit(resolve)

    async def correct(self, id: str, words: str, turn: Turn) -> Change:
        """Replace a fact by what the asker says instead; it stays as what used to be.

        Args:
            turn: If its message is not stored, as that of a command, the words are kept as
                evidence. ``NotFoundError`` if the fact is not the asker's to correct.
        """
        now = self._now()

        def draft(rows: Rows, evidence: Message) -> Draft:
            visible = self._context.visible(rows, turn.asker)
            return correcting(visible, id, words, turn, evidence, now, self._zone)

        number = turn.message.id if turn.message else 0
        name, text = clean_name(turn.name), clean(words)
        said = Message(number, turn.session.id, turn.user, name, text, now, turn.ref)
        change = await self._journal.alter(
            lambda db, tell: messages.testify(db, said, turn.session, draft, now, tell)
        )
        if change is None:
            raise NotFoundError(f"{id}: nothing changed")
        return change

    async def retract(self, circle: str, ref: str, said: str = "", account: str = "") -> bool:
        """Delete a message that its platform took back, and what rests on it alone.

        Args:
            ref: The platform's own id of it, the part before ``@``.
            said: What the bot had said, if it was the bot's: its lines have no id.
            account: Whose id it is; see :class:`Turn`.
        """
        return bool(await self._journal.surely("retract", circle, ref, said, account))

    async def _retract(self, circle: str, ref: str, said: str, account: str) -> bool:
        def look(db: sqlite3.Connection) -> retraction.Retraction | None:
            found = messages.by_platform_id(db, circle, ref, account)
            if found is None and said:
                found = messages.by_words(db, circle, said)
            return None if found is None else retraction.Retraction.of(db, [found])

        await self._journal.alter(lambda _db, _tell: None)  # it may wait for its turn to be stored
        known = await self._journal.survey(look)
        if known is None and self._journal.waiting_messages:
            raise away("the message may wait for it")
        return known is not None and await self._take_back(known)

    async def unsay(self, turn: Turn) -> bool:
        """Delete what somebody quotes of their own, or said right before a turn."""
        session, quote = turn.session, turn.quote
        request = Message(0, session.id, turn.user, turn.name, turn.text, self._now())

        def look(db: sqlite3.Connection) -> retraction.Retraction | None:
            meant = messages.said_before(db, request)
            if quote and quote.ref:
                quoted = messages.by_platform_id(db, session.circle, quote.ref, turn.account)
                meant = Rows(db).message(quoted) if quoted else None
            own = meant is not None and meant.sender == turn.user
            return retraction.Retraction.of(db, [meant.id]) if meant and own else None

        known = await self._journal.survey(look)
        return known is not None and await self._take_back(known)

    async def _take_back(self, known: retraction.Retraction) -> bool:
        now, ids = self._now(), [message.id for message in known.messages]
        await self._journal.in_slices(
            lambda db, tell: retraction.retract(db, tell, ids=ids, at=now, known=known)
        )
        await forget_me.drain(self._journal)
        return True

    async def weigh(self, action: Action, ids: Iterable[str]) -> Effect:
        """What :meth:`act` would do, without doing it."""
        wanted, now = list(ids), self._now()
        return await self._journal.read(lambda rows: effect(rows, action, wanted, now))

    async def act(
        self, action: Action, ids: Iterable[str], actor: str, relation: str = ""
    ) -> Change:
        """Do one thing with some facts, as one change; ``NotFoundError`` if with none.

        Args:
            relation: The predicate they are to have (``relate``).
        """
        wanted, now = list(ids), self._now()
        return await self._enact(
            lambda rows: handling(rows, action, wanted, actor, now, relation=relation),
            ", ".join(wanted[:3]),
        )

    async def amend(
        self, id: str, wanted: Amendment, actor: str, *, seen: str = "", mute: bool = False
    ) -> Change:
        """Replace what a fact states; ``NotFoundError`` if nothing would change.

        Args:
            seen: The version that was amended (:attr:`FactDetail.version`); any, if empty.
            mute: Whether the messages it rests on are not to be recalled any more.

        Raises:
            StaleError: It states something else by now, or was replaced.
            UnclearError: A name may mean several.
        """
        now = self._now()

        def resolve(rows: Rows) -> Draft:
            old = rows.require(Fact, id)
            if seen and version(old, (newer.id for newer in rows.replacing(id))) != seen:
                raise StaleError(f"fact {id} was changed meanwhile")
            told = replace(wanted, due=moved(old.due, old, wanted.statement, now, self._zone))
            return amending(rows, old, told, actor, now, is_muted=mute)

        return await self._enact(resolve, id)

    async def tell(self, session: str, subject: Meant, wanted: Amendment) -> Change:
        """Keep what the owner tells about somebody in a Session.

        Raises:
            NotFoundError: There is no such Session, or it is known already.
            UnclearError: A name may mean several.
        """
        return await self._enact(
            lambda rows: telling(rows, session, subject, wanted, self._now()), subject.name
        )

    async def hear_again(self, message: int, actor: str) -> Change:
        """Let a message be recalled that was not to be; ``NotFoundError`` if it may be."""

        def resolve(rows: Rows) -> Draft:
            said = rows.message(message)
            muted = Forgotten.of(said.session, said.id).id if said else ""
            if rows.get(Forgotten, muted) is None:
                raise NotFoundError(f"message {message} is recalled")
            return Draft(actor, "hear_again", drop=[(Forgotten.kind, muted)])

        return await self._enact(resolve, str(message))

    async def last_act(
        self, actor: str, besides: Collection[int], asker: Asker
    ) -> NamedChange | None:
        """The actor's newest change that can be undone, but for ``besides``.

        Args:
            asker: Who is to be told of it; what may not be shown to them is passed over.
        """

        def work(db: sqlite3.Connection) -> NamedChange | None:
            found = (id for id in queries.undoable(db, actor) if id not in besides)
            return next(self._telling(db, found, asker), None)

        return await self._journal.look(work)

    async def is_present(self, session: str, since: float) -> bool:
        """Whether a moment is of the conversation that a Session has now."""
        said = await self._journal.read(
            lambda rows: rows.messages_before(session, None, EPISODE_MESSAGES)
        )
        times = [since, *(message.at for message in said if message.at > since), self._now()]
        return all(
            continues(since, last, count, at, self._context.zone)
            for count, (last, at) in enumerate(pairwise(times))
        )

    async def last_undo(self, actor: str, asker: Asker) -> NamedChange | None:
        """The newest change, as :meth:`last_act`, if it is an undo and no redo."""

        def work(db: sqlite3.Connection) -> NamedChange | None:
            last = next(self._telling(db, queries.changes_of(db, actor), asker), None)
            return last if last and last.is_undo else None

        return await self._journal.look(work)

    def _telling(
        self, db: sqlite3.Connection, numbers: Iterable[int], asker: Asker
    ) -> Iterator[NamedChange]:
        """Changes with what they are about, but for what the asker may not be shown."""
        visible = self._context.visible(Rows(db), asker)
        for change in filter(None, (read_change(db, number) for number in numbers)):
            first, is_undo = change, False
            while first.undoes and (before := read_change(db, first.undoes)):
                first, is_undo = before, not is_undo
            done = "undo" if is_undo else first.reason
            if (words := _about(visible, change, done, first.reason)) is not None:
                yield NamedChange(change, words, first.reason, is_undo)

    async def undo(self, change: int, actor: str) -> Change:
        """Take a change back, or an undo.

        Raises:
            NotFoundError: Nothing to undo.
            ConflictError: A later change touched the same rows.
        """
        with self._journal.long_work():
            known = await self._journal.survey(lambda db: retraction.asked(db, change))
            undone = await self._journal.alter(
                lambda db, tell: retraction.undo(db, change, actor, self._now(), tell, known)
            )
        if undone is None:  # all that it did is gone already
            raise ConflictError(change, change)
        return undone


def _own(rows: Rows, id: str, visible: VisibleRows | None) -> Fact:
    """A fact of an asker's; any of the owner's."""
    return visible.own(id) if visible else rows.require(Fact, id)


def _written(rows: Rows, number: int, visible: VisibleRows | None) -> Message:
    """A message that an asker wrote, and can see or wrote here; any of the owner's."""
    said = rows.message(number)
    if said and visible and not (_is_here(visible, said) or visible.shows(said)):
        said = None
    if not said or (visible and said.sender not in visible.asker.accounts):
        raise NotFoundError(f"there is no message {number} of yours")
    return said


def _about(visible: VisibleRows, change: Change, done: str, reason: str) -> str | None:
    """What a change altered, in its words; ``None`` if none may be shown.

    Facts say it best; where there are none, other rows do, or the messages that are muted.

    Args:
        done: Why it was made, or why what it does again was; of an undo that it is one.
        reason: Why the first one was made. All that is forgotten is named, else one of it.
    """
    rows = visible.rows
    touched = [row for op in change.ops if (row := op.was or op.row)]
    for row in touched:
        if isinstance(row, Link | Merge) and not visible.asker.is_group:
            return " – ".join(rows.called(node) or node for node in row.index_keys[1:])
    told: list[Fact] | list[SessionRow] | list[Message]
    told = [row for row in touched if isinstance(row, Fact)]
    told = told or [
        row
        for row in touched
        if isinstance(row, SessionRow) and row.words and not isinstance(row, Name | Episode)
    ]
    muted = (rows.message(row.message) for row in touched if isinstance(row, Forgotten))
    told = told or [message for message in muted if message]
    shown = [each for each in told if visible.rank(each) is not Rank.HIDDEN]
    if not shown:  # what was said here in confidence has no words here
        if not all(_is_here(visible, each) for each in told):
            return None
        before = [_again(rows, done, each) for each in told]
        return next((_words(each) for each in before if visible.rank(each) is not Rank.HIDDEN), "")
    earlier = {old for each in shown if isinstance(each, Fact) for old in each.supersedes}
    named = [each for each in shown if each.id not in earlier] if reason == "forget" else shown[:1]
    return " / ".join(_words(_again(rows, done, each)) for each in named)


def _is_here(visible: VisibleRows, row: SessionRow | Message) -> bool:
    """Whether something is of the very chat and persona that is asked."""
    return row.session == session_id(visible.asker.circle, visible.asker.persona)


def _again(rows: Rows, done: str, row: SessionRow | Message) -> SessionRow | Message:
    """What an undo of a change makes of a row that it altered."""
    if done == "correct" and isinstance(row, Fact) and row.supersedes:
        return rows.get(Fact, row.supersedes[0]) or row
    return row


def _words(row: SessionRow | Message) -> str:
    return disclosed(row).text if isinstance(row, Message) else str(getattr(row, row.words[0]))


def sessions_of(rows: Rows, ids: Collection[str]) -> dict[str, Session]:
    """The Sessions of some rows, titled for the owner, even if only an id is known."""
    unknown = {id: Session(id, id, "") for id in ids}
    return titled(rows, unknown | {each.id: each for each in rows.some(Session, unknown)})


def titled(rows: Rows, sessions: dict[str, Session]) -> dict[str, Session]:
    """Sessions whose title is never empty: a private chat's may be whom it is with."""
    bare = {id: each for id, each in sessions.items() if not each.title}
    owners = rows.names({id: [each.owner] for id, each in bare.items() if each.owner})
    return sessions | {
        id: replace(each, title=owners.get(id) or each.called) for id, each in bare.items()
    }


def begun(line: FactLine) -> float:
    """Since when a fact is true, as far as is known."""
    return line.fact.said_at if line.fact.valid_from is None else line.fact.valid_from


def _called(
    db: sqlite3.Connection, found: Sequence[tuple[Any, ...]], made: Callable[..., T]
) -> list[T]:
    """What is made of nodes (first in each row), their names, and the rest of it."""
    names = queries.names(db, (node for node, *_ in found))
    return [made(node, names.get(node, node), *rest) for node, *rest in found]


def _cards(db: sqlite3.Connection, nodes: Iterable[str]) -> list[Called]:
    rows, found = Rows(db), list[Called]()
    identities = rows.identities()
    for node in nodes:
        # A merged one by itself; the survivor with all of them.
        one = sorted(identities.nodes(node)) if identities.canonical(node) == node else [node]
        facts, newest = queries.known_of(db, one)
        mentions = [each for every in one for each in rows.find(Mention, a=every)]
        name, places = rows.called(*one) or node, tuple(_places(rows, one, mentions))
        found.append(Called(node, name, facts, False, places, newest, _type(mentions)))
    return found


def _type(mentions: Iterable[Mention]) -> str:
    """The kind that an entity was taken for last; empty if it was never mentioned."""
    last = max(mentions, key=lambda mention: (mention.last_at, mention.id), default=None)
    return last.type if last else ""


def _places(rows: Rows, nodes: Iterable[str], mentions: Iterable[Mention]) -> list[Whereabouts]:
    """Where some nodes spoke or came up, once for each Session, most recent first."""
    sessions: dict[str, list[Mention | Participation]] = {}
    found: list[Mention | Participation] = list(mentions)
    found += (each for node in nodes for each in rows.find(Participation, a=node))
    for row in found:
        sessions.setdefault(row.session, []).append(row)
    known = sessions_of(rows, sessions)
    places = [
        Whereabouts(
            known[id],
            min(row.first_at for row in some),
            max(row.last_at for row in some),
            sum(row.messages if isinstance(row, Participation) else row.count for row in some),
        )
        for id, some in sessions.items()
    ]
    return sorted(places, key=lambda place: (-place.last_at, place.session.id))


def _threads(lines: list[FactLine]) -> list[Thread]:
    """Facts with those they replace, the thread with the newest fact first."""
    by_id = {line.fact.id: line for line in lines}
    head: dict[str, str] = {id: id for id in by_id}

    def top(id: str) -> str:
        while head[id] != id:
            id = head[id]
        return id

    for line in lines:
        for old in line.fact.supersedes:
            if old in by_id:
                head[top(old)] = top(line.fact.id)
    threads: dict[str, list[FactLine]] = {}
    # What stands comes after what was replaced, whenever either began.
    for line in sorted(lines, key=lambda line: (not line.superseded, begun(line), line.fact.id)):
        threads.setdefault(top(line.fact.id), []).append(line)
    made = [Thread(tuple(some)) for some in threads.values()]
    return sorted(made, key=lambda thread: (-begun(thread.newest), thread.newest.fact.id))


def _by_importance(line: FactLine) -> tuple[bool, float, float, str]:
    return not line.fact.pinned, -line.fact.importance, -line.fact.said_at, line.fact.id
