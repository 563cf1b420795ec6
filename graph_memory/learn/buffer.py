"""When what was said is to be learned.

The buffer itself is in the journal (messages that no batch has claimed); this is a
picture of it in memory, kept up to date by the journal's events, so that deciding what
is due costs no query. It holds two numbers for each buffered message and grows no further
than one batch a Session, since what is due is claimed at once, whether or not a model is
there. Pure: time is always an argument.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..model import Message, Session
from ..settings import Settings
from .words import asks_to_remember


@dataclass(slots=True)
class _Buffer:
    """The buffered messages of one Session.

    Attributes:
        seen: When each was noticed, by id and in order of id (monotonic seconds).
        at: When each was said, but not later than it was noticed (epoch seconds).
        urgent: Everything up to this message is to be learned now.
    """

    seen: dict[int, float] = field(default_factory=dict)
    at: dict[int, float] = field(default_factory=dict)
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
        self._buffers: dict[str, _Buffer] = {}
        self._where: dict[int, str] = {}

    def __len__(self) -> int:
        """How many messages are buffered."""
        return len(self._where)

    def know(self, session: Session) -> None:
        """Note what a Session is; before its first message."""
        self._sessions[session.id] = session

    def session(self, id: str) -> Session | None:
        """A Session by id."""
        return self._sessions.get(id)

    def waiting(self, circle: str | None = None) -> list[str]:
        """The Sessions, of one chat window or all, that have buffered messages."""
        return [id for id in self._buffers if circle in (None, self._sessions[id].circle)]

    def put(self, message: Message, now: float, clock: float) -> None:
        """Note a message that was stored or moved here from another Session.

        Args:
            now: Seconds since the epoch.
            clock: Monotonic seconds.
        """
        self.drop([message.id])
        if message.batch is not None or message.session not in self._sessions:
            return
        buffer = self._buffers.setdefault(message.session, _Buffer())
        buffer.seen[message.id] = clock
        buffer.at[message.id] = min(message.at, now)
        if message.id != max(buffer.seen):
            buffer.seen = dict(sorted(buffer.seen.items()))
        self._where[message.id] = message.session
        if not message.is_human:
            return
        if asks_to_remember(message.text):
            buffer.urgent = max(buffer.urgent, message.id)
        circle = self._sessions[message.session].circle
        for other in self.waiting(circle):
            if other != message.session:
                # The persona was switched: what was said to the other one is complete.
                self._buffers[other].urgent = max(self._buffers[other].seen)

    def drop(self, messages: Iterable[int]) -> None:
        """Forget messages that were claimed, moved or removed."""
        for id in messages:
            session = self._where.pop(id, None)
            if session is None:
                continue
            buffer = self._buffers[session]
            del buffer.seen[id], buffer.at[id]
            if not buffer.seen:
                del self._buffers[session]

    def held(self, session: str) -> list[int]:
        """Ids of the buffered messages of a Session, in order."""
        buffer = self._buffers.get(session)
        return list(buffer.seen) if buffer else []

    def wait(self, session: str, now: float, clock: float) -> float:
        """Seconds until a Session is due; 0 or less if it is, ``inf`` if it is empty."""
        buffer = self._buffers.get(session)
        if buffer is None:
            return math.inf
        is_group = self._sessions[session].is_group
        settings = self._settings
        size = settings.buffer_size_group if is_group else settings.buffer_size_private
        seen = list(buffer.seen.items())
        last, noticed = seen[-1]
        # The second says how long at most, should the clock be set back meanwhile.
        idle = settings.buffer_timeout + min(buffer.at[last] - now, noticed - clock)
        idle = max(idle, noticed + self._grace - clock)
        waits = [idle]
        if len(seen) >= size:
            waits.append(seen[size - 1][1] + self._grace - clock)
        asked = [when for id, when in seen if id <= buffer.urgent]
        if asked:
            waits.append(asked[-1] + self._grace - clock)
        return min(waits)

    def settled(self, session: str, clock: float) -> int:
        """Id of the newest message that will not be moved any more; 0 if there is none."""
        buffer = self._buffers.get(session)
        ids = (
            [i for i, when in buffer.seen.items() if when + self._grace <= clock] if buffer else []
        )
        return max(ids, default=0)

    def due(self, now: float, clock: float) -> list[str]:
        """The Sessions that are due."""
        return [id for id in self._buffers if self.wait(id, now, clock) <= 0]

    def next(self, now: float, clock: float) -> float:
        """Seconds until the next Session is due; ``inf`` if nothing is buffered."""
        return min((self.wait(id, now, clock) for id in self._buffers), default=math.inf)
