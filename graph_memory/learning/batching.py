"""Batching of buffered messages: when a batch is due and what its claim writes.

:class:`Buffers` is a picture of the unclaimed messages, kept up to date by the journal's
events. What a claim writes (people, names, the episode) needs no model. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import Any, TypeVar

from ..model import (
    Batch,
    EntityType,
    Episode,
    Mention,
    Message,
    Name,
    Participation,
    Row,
    Session,
    User,
    continues,
    episode_id,
    stable_id,
)
from ..remember_requests import request
from ..settings import Settings
from ..store import Draft, Rows
from ..text import normalise, says_something, terms, tokens

MAX_TOKENS = 6_000
"""How much text one batch holds, so that one call can hold the batch."""
FEW, FEW_IN_GROUP, PATIENCE = 8, 24, 36
"""Fewer messages wait so many times as long (three hours by default), and are learned with what
follows: a call costs as much for one message as for twenty, and what was said is recalled word
for word meanwhile. The first of a Session do not: who tries the memory wants to see it learn."""
_WORTH_A_CALL = (FEW, FEW_IN_GROUP)
"""How many messages are, by whether they are of a group."""
_ANNOUNCES = re.compile(r"记(?:一下|下来?)\s*$")
"""What makes a single word after it a heading: 帮我记一下客户."""
R = TypeVar("R", bound=Row)
S = TypeVar("S", Name, Mention, Participation)


def requests(batch: Batch) -> list[Message]:
    """The messages of a batch that ask to remember something and say what."""
    return [each for each in batch.messages if each.is_human and _says_what(each.text)]


def _says_what(text: str) -> bool:
    """Whether a message asks to remember what it says, and announces no more to come."""
    asking, asked = request(text) or ("", "")
    what = terms(asked)
    return says_something(what) and (len(what) > 1 or not _ANNOUNCES.search(asking))


@dataclass(slots=True)
class _Buffer:
    """The buffered messages of one Session.

    Attributes:
        seen: By id and in order of id: when it was noticed (monotonic seconds), and when
            it was said, but not later than it was noticed (epoch seconds).
        urgent: Everything up to this message is to be learned now.
    """

    seen: dict[int, tuple[float, float]] = field(default_factory=dict)
    urgent: int = 0


class Buffers:
    """Which Sessions have something to be learned, and when.

    Args:
        grace: Seconds for which a new message is left alone: until the request hook has
            run, it may still be moved to the Session of another persona.
    """

    def __init__(self, settings: Settings, grace: float) -> None:
        self._settings = settings
        self._grace = grace
        self._sessions: dict[str, Session] = {}
        self._begun: set[str] = set()
        self._buffers: dict[str, _Buffer] = {}
        self._where: dict[int, str] = {}

    def __len__(self) -> int:
        """How many messages are buffered."""
        return len(self._where)

    def places(self, circle: str | None) -> list[str]:
        """The Sessions of one chat window, or all."""
        return [id for id, one in self._sessions.items() if circle in (None, one.circle)]

    def know(self, session: Session) -> None:
        """Note what a Session is; before its first message."""
        self._sessions[session.id] = session

    def begin(self, session: str) -> None:
        """Note that messages of a Session were claimed before."""
        self._begun.add(session)

    def waiting(self, circle: str | None = None) -> list[str]:
        """The Sessions, of one chat window or all, that have buffered messages."""
        return [id for id in self._buffers if circle in (None, self._sessions[id].circle)]

    def put(self, message: Message, now: float, clock: float) -> None:
        """Note a message that was stored or moved here, at a time of both clocks."""
        if message.id in self._where:
            self.drop([message.id])
        if message.batch is not None or message.session not in self._sessions:
            return
        buffer = self._buffers.setdefault(message.session, _Buffer())
        buffer.seen[message.id] = clock, min(message.at, now)
        if message.id != max(buffer.seen):
            buffer.seen = dict(sorted(buffer.seen.items()))
        self._where[message.id] = message.session
        if not message.is_human:
            return
        if request(message.text):
            buffer.urgent = max(buffer.urgent, message.id)
        self.turn_to(self._sessions[message.session])

    def turn_to(self, session: Session) -> None:
        """Note that a persona is spoken to: what was said there to the others is complete."""
        for id, buffer in self._buffers.items():
            if id != session.id and self._sessions[id].circle == session.circle:
                buffer.urgent = max(buffer.seen)

    def drop(self, messages: Iterable[int]) -> None:
        """Forget messages that were claimed, moved or removed."""
        for id in messages:
            session = self._where.pop(id, None)
            if session is None:
                continue
            buffer = self._buffers[session]
            del buffer.seen[id]
            if not buffer.seen:
                del self._buffers[session]

    def held(self, session: str, clock: float = math.inf) -> list[int]:
        """Ids of a Session's buffered messages, in order, that have been left alone."""
        buffer = self._buffers.get(session)
        seen = buffer.seen.items() if buffer else ()
        newest = max((id for id, (when, _) in seen if when + self._grace <= clock), default=0)
        return [id for id, _ in seen if id <= newest]

    def waits(self, now: float, clock: float) -> dict[str, float]:
        """Seconds until each Session that has messages is due; 0 or less if it is."""
        settings, found = self._settings, dict[str, float]()
        for session, buffer in self._buffers.items():
            is_group = self._sessions[session].is_group
            size = settings.buffer_size_group if is_group else settings.buffer_size_private
            seen = list(buffer.seen.items())
            noticed, at = seen[-1][1]
            # The second says how long at most, should the clock be set back meanwhile.
            is_small = session in self._begun and len(seen) < min(_WORTH_A_CALL[is_group], size)
            silence = settings.buffer_timeout * (PATIENCE if is_small else 1)
            idle = silence + min(at - now, noticed - clock)
            waits = [max(idle, noticed + self._grace - clock)]
            if len(seen) >= size:
                waits.append(seen[size - 1][1][0] + self._grace - clock)
            asked = [when for id, (when, _) in seen if id <= buffer.urgent]
            if asked:
                waits.append(asked[-1] + self._grace - clock)
            found[session] = min(waits)
        return found


@dataclass(eq=False, slots=True)
class ChangeBuilder:
    """Rows of one change over the rows that stand; each is written once."""

    _rows: Rows
    _put: dict[tuple[str, str], Row] = field(default_factory=dict)

    def get(self, cls: type[R], id: str) -> R | None:
        """A row as it will stand."""
        found = self._put.get((cls.kind, id))
        return found if isinstance(found, cls) else self._rows.get(cls, id)

    def put(self, row: Row) -> None:
        """Write a row."""
        self._put[row.kind, row.id] = row

    def all(self, cls: type[R]) -> list[R]:
        """The rows of ``cls`` of this change, in the order in which they came."""
        return [row for row in self._put.values() if isinstance(row, cls)]

    def name(
        self,
        session: str,
        node: str,
        text: str,
        at: float,
        *,
        given: bool = False,
        confidential: bool = False,
    ) -> None:
        """Write that a node was called ``text`` in a Session; nothing if that is empty."""
        norm = normalise(text)
        if not norm:
            return
        id = Name.key(session, node, norm)
        new = Name(id, session, node, text, norm, at, at, given, confidential)
        known = self.get(Name, id) or new
        is_own = known.given and not given
        text = text if is_own or at >= known.last_at else known.text
        is_kept = known.confidential and confidential
        self.put(_seen(known, at, text=text, given=known.given and given, confidential=is_kept))

    def mention(
        self, session: str, entity: str, type: EntityType, at: float, *, confidential: bool = False
    ) -> None:
        """Write that an entity came up in a batch; a type replaces only the default one."""
        id = Mention.key(session, entity)
        new = Mention(id, session, entity, type.value, at, at, 0, confidential)
        known = self.get(Mention, id) or new
        is_what = type.value if known.type == EntityType.TOPIC else known.type
        is_kept = known.confidential and confidential
        count = known.count + 1
        self.put(_seen(known, at, type=is_what, count=count, confidential=is_kept))

    def draft(self, actor: str, reason: str, *, batch: int | None = None) -> Draft:
        """The change as the journal writes it."""
        return Draft(actor, reason, list(self._put.values()), batch=batch)


def _seen(row: S, at: float, **more: Any) -> S:
    """A row with other values that was seen, or seen again, at a time."""
    return replace(row, first_at=min(row.first_at, at), last_at=max(row.last_at, at), **more)


def claimer(
    zone: tzinfo, newest: int | None = None
) -> Callable[[Rows, Session, list[Message]], tuple[int, Draft]]:
    """What a claim takes of a Session's buffered messages, and what it writes.

    Args:
        newest: Id of the newest message that may be taken; ``None`` takes all.
    """

    def claim(rows: Rows, session: Session, waiting: list[Message]) -> tuple[int, Draft]:
        last = rows.episode(session.id)
        free = [m for m in waiting if newest is None or m.id <= newest]
        taken = free[: batch_size(session, last, free, zone)]
        return len(taken), _claimed(rows, session, last, taken, zone)

    return claim


def batch_size(
    session: Session, last: Episode | None, waiting: Iterable[Message], zone: tzinfo
) -> int:
    """How many of some buffered messages make the next batch.

    It is of one episode, or of several of few messages.

    Args:
        last: The Session's latest episode, which the messages may continue.
    """
    taken = spent = 0
    for _, run in _runs(last, waiting, zone):
        if taken >= _WORTH_A_CALL[session.is_group]:
            break
        for message in run:
            spent += tokens(message.text)
            if taken and spent > MAX_TOKENS:
                return taken
            taken += 1
    return taken


def _runs(
    last: Episode | None, waiting: Iterable[Message], zone: tzinfo
) -> Iterator[tuple[bool, list[Message]]]:
    """Buffered messages by their episode, and whether that is the latest one."""
    run: list[Message] = []
    began, ended, count, newest = 0.0, -math.inf, 0, 0
    if is_last := last is not None:
        began, ended = last.started_at, last.ended_at
        count, newest = last.messages, last.last_message
    for message in waiting:
        if message.id <= newest or not continues(began, ended, count, message.at, zone):
            if run:
                yield is_last, run
            is_last, run, began, ended, count = False, [], message.at, message.at, 0
        run.append(message)
        ended, count, newest = max(ended, message.at), count + 1, message.id
    if run:
        yield is_last, run


def upcoming(
    last: Episode | None, session: str, waiting: Iterable[Message], zone: tzinfo
) -> list[Episode]:
    """Episodes that claims will write of a Session's buffered messages, in order.

    The latest one, ``last``, comes first if they continue it.
    """
    found: list[Episode] = []
    for is_last, run in _runs(last, waiting, zone):
        first = run[0]
        if last is None or not is_last:
            id = episode_id(session, first.id)
            last = Episode(id, session, first.at, first.at, first.id, first.id, 0)
        people = [message.sender for message in run if message.is_human]
        last = replace(
            last,
            ended_at=max(last.ended_at, *(each.at for each in run)),
            last_message=run[-1].id,
            messages=last.messages + len(run),
            participants=tuple(dict.fromkeys([*last.participants, *people])),
        )
        found.append(last)
    return found


def _claimed(
    rows: Rows, session: Session, last: Episode | None, taken: list[Message], zone: tzinfo
) -> Draft:
    """The rows of people and of the episodes that a claim writes."""
    changes = ChangeBuilder(rows)
    for episode in upcoming(last, session.id, taken, zone):
        changes.put(episode)
    for message in taken:
        if message.is_human:
            sender, at = message.sender, message.at
            changes.put(User(sender))
            id = stable_id("p", session.id, sender)
            found = changes.get(Participation, id)
            found = found or Participation(id, session.id, sender, at, at, 0)
            changes.put(_seen(found, at, messages=found.messages + 1))
            changes.name(session.id, sender, message.name, at)
    return changes.draft("chat", "episode")
